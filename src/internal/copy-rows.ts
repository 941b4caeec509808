/** A record as a copy keeps it. */
export interface CopyRow {
  readonly id: string;
  readonly body: object;
  readonly invalid: boolean;
}

/** Levels of a field that both databases can store and read: SQLite reads JSON of 1,000, PostgreSQL of some thousands. */
const MOST_LEVELS = 990;

/** What a copy keeps of valid records and of invalid rows. A record with a field that is too deep is invalid, the field null. */
export function copyRows(
  records: readonly { readonly id: string }[],
  invalid: readonly { readonly id?: string | undefined; readonly storable?: object | undefined }[],
): readonly CopyRow[] {
  return [
    ...records.map((record) => rowOf(record.id, record, false)),
    ...invalid.flatMap(({ id, storable }) =>
      id === undefined || storable === undefined ? [] : [rowOf(id, storable, true)],
    ),
  ];
}

function rowOf(id: string, body: object, invalid: boolean): CopyRow {
  const fields = Object.values(body);
  if (!fields.some((value) => isDeeper(value, MOST_LEVELS))) return { id, body, invalid };
  const members = Object.entries(body).map(([name, value]: [string, unknown]) => {
    return [name, isDeeper(value, MOST_LEVELS) ? null : value] as const;
  });
  return { id, body: Object.fromEntries(members), invalid: true };
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
