/** The row of each record that a schema made of it. */
const rows = new WeakMap<object, object>();

/** Remembers what a record was made of. */
export function keepSent(record: object, row: object): void {
  if (record !== row) rows.set(record, row);
}

/** A record as the service sent it: a schema may have changed its values. */
export function sentOf(record: object): Readonly<Record<string, unknown>> {
  return (rows.get(record) ?? record) as Readonly<Record<string, unknown>>;
}
