/** A record as a copy keeps it. */
export interface CopyRow {
  readonly id: string;
  readonly body: object;
  readonly invalid: boolean;
}

/** What a copy keeps of valid records and of invalid rows. */
export function copyRows(
  records: readonly { readonly id: string }[],
  invalid: readonly { readonly id?: string | undefined; readonly storable?: object | undefined }[],
): readonly CopyRow[] {
  return [
    ...records.map((record) => ({ id: record.id, body: record, invalid: false })),
    ...invalid.flatMap(({ id, storable }) =>
      id === undefined || storable === undefined ? [] : [{ id, body: storable, invalid: true }],
    ),
  ];
}
