import type { ListBody } from '../schemas/service-forms.ts';

/** A row of a list, as the service sent it. */
export type Row = Readonly<Record<string, unknown>>;

/** The rows of a list answer; undefined where the body is no list in a form that the client understands. */
export function readListBody(body: unknown): { readonly form: ListBody; readonly rows: Row[] } | undefined {
  if (Array.isArray(body)) return { form: 'array', rows: body.filter(isRow) };
  if (!isRow(body)) return undefined;

  for (const form of ['member', 'hydra:member'] as const) {
    const rows = body[form];
    if (Array.isArray(rows)) return { form, rows: rows.filter(isRow) };
  }
  return undefined;
}

/** The ids of rows, in the order sent. A number is taken by its digits, so that a list of such rows can be looked at. */
export function idsOf(rows: readonly Row[]): string[] {
  return rows.flatMap(({ id }) => {
    if (typeof id === 'string' && id !== '') return [id];
    return typeof id === 'number' ? [String(id)] : [];
  });
}

export function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
