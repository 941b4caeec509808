/** The row that each record of a schema was made from. */
const rows = new WeakMap<object, object>();

/** Remembers the row that a record was made from. */
export function keepSent(record: object, row: object): void {
  if (record !== row) rows.set(record, row);
}

/** A record as the service sent it: a schema may have changed its values. */
export function sentOf(record: object): Readonly<Record<string, unknown>> {
  return (rows.get(record) ?? record) as Readonly<Record<string, unknown>>;
}
