import { type Product, type ProductFields, type ProductPatch, toDecimal } from 'accounting-data-sdk';
import { columns, type Kind, type Value } from './columns.ts';
import type { Change } from './results.ts';

/** What of a product is compared: its id and the fields that have a column. */
export type Known = Pick<Product, 'id'> & ProductFields;

/** The fields in which a product is not what a row wants it to be. */
export function changesBetween(product: Known, wanted: ProductFields): Change[] {
  return columns.flatMap(({ header, field, kind }) => {
    const to = wanted[field] as Value | undefined;
    if (to === undefined) return [];

    const from = product[field] as Value | undefined;
    return same(from, to, kind) ? [] : [{ column: header, from, to }];
  });
}

/** The body of an update: the changed fields and no others. */
export function patchOf(changes: readonly Change[]): ProductPatch {
  const fields = changes.map(({ column, to }) => {
    const field = columns.find(({ header }) => header === column)?.field ?? column;
    return [field, to] as const;
  });
  return Object.fromEntries(fields) as ProductPatch;
}

/** Amounts are the same when they are worth the same: `129` and `129.0000`. No value and an empty one are the same. */
function same(from: Value | undefined, to: Value, kind: Kind): boolean {
  const none = (value: Value | undefined) => value === undefined || value === null || value === '';
  if (none(from) || none(to)) return none(from) && none(to);
  if (kind === 'money') return toDecimal(String(from)).equals(toDecimal(String(to)));
  return from === to;
}
