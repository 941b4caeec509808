/** A record as a copy keeps it. */
export interface CopyRow {
  readonly id: string;
  readonly body: object;
  readonly invalid: boolean;
}

/**
 * An id as a database has it that cannot store U+0000 and halves of surrogate pairs: each is written out behind U+FFFD, so
 * that two ids never become one.
 */
export function storedId(id: string): string {
  return id.replaceAll(/\0|\p{Cs}/gu, (unit) => `\ufffd${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
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
