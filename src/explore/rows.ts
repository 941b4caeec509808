import type { ListBody } from '../schemas/service-forms.ts';

/** A row of a list, as the service sent it. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of a list response; undefined if the body is not a list in a form that the client understands. */
export function readListBody(body: unknown): { readonly form: ListBody; readonly rows: Row[] } | undefined {
  if (Array.isArray(body)) return { form: 'array', rows: body.filter(isRow) };
  if (!isRow(body)) return undefined;

  for (const form of ['member', 'hydra:member'] as const) {
    const rows = body[form];
    if (Array.isArray(rows)) return { form, rows: rows.filter(isRow) };
  }
  return undefined;
}

/** The ids of rows, in the order sent. Numbers become strings, so that `probe` and `discover` can examine such a list too. */
export function idsOf(rows: readonly Row[]): string[] {
  return rows.flatMap(({ id }) => {
    if (typeof id === 'string' && id !== '') return [id];
    return typeof id === 'number' ? [String(id)] : [];
  });
}

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
