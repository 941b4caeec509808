import type { Client, Product } from 'accounting-data-sdk';
import type { Known } from './changes.ts';
import { columns, type Value } from './columns.ts';

/** The part of a client that a push needs. */
export type ProductClient = Pick<Client, 'products'>;

/** Products by their number; more than one where the books are not clean. */
export type Catalogue = ReadonlyMap<string, readonly Known[]>;

/**
 * Reads which of the numbers are there. The certified walk does it: with the walk by pages, a product that somebody
 * deletes meanwhile can hide another one, and that other one would be taken for missing and be made a second time.
 */
export async function readCatalogue(
  { products }: ProductClient,
  numbers: ReadonlySet<string>,
  signal: AbortSignal | undefined,
): Promise<Catalogue> {
  const found = new Map<string, Known[]>();
  for await (const product of products.list({}, { pagination: 'keyset', signal })) {
    const number = product.productNumber?.trim() ?? '';
    if (numbers.has(number)) found.set(number, [...(found.get(number) ?? []), known(product)]);
  }
  return found;
}

/** Of a product that has more than sixty fields, those that are compared. */
export function known(product: Product): Known {
  const fields = columns.map(({ field }) => [field, product[field] as Value | undefined]);
  return { id: product.id, ...Object.fromEntries(fields) };
}
