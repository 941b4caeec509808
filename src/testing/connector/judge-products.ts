import type { ProductRow } from './case.ts';
import { columnOf, copyOf, differingField } from './same-value.ts';
import type { Fields } from './timeline.ts';

/** What a connector was to write, and what the service held before and holds then. */
export interface WrittenEvidence {
  readonly rows: readonly ProductRow[];
  readonly before?: readonly Fields[];
  readonly products: readonly (Fields & { readonly id: string })[];
  /** Whether each row has its product: not after a run that failed. */
  readonly isComplete: boolean;
  /** Whether a product rejects changes. */
  readonly isLocked?: (product: Fields & { readonly id: string }) => boolean;
}

/** What the service sets itself. */
const FREE_FIELDS = ['productNumber', 'createdAt', 'updatedAt'];

/**
 * What is wrong with the products of a service, as sentences. Each row must have one product, and what no row says must
 * be as before: other fields, and other products. Keys are compared without white space around them and without case,
 * because some services store them in a form of their own. A row without a name is one that the service rejects.
 */
export function judgeProducts({
  rows,
  before = [],
  products,
  isComplete,
  isLocked = () => false,
}: WrittenEvidence): string[] {
  const held = new Map(before.map((product) => [formOf(product.productNumber), product]));
  const stored = copyOf(products, ({ productnumber }) => formOf(productnumber));
  const locked = new Set(products.filter(isLocked).map(({ productNumber }) => formOf(productNumber)));
  // The last row of a key counts.
  const wanted = new Map(
    rows.filter(({ name }) => name !== '').map((row) => [formOf(row.productNumber), row]),
  );
  return [...new Set([...wanted.keys(), ...held.keys(), ...stored.keys()])].flatMap((key) => {
    const [row, earlier, found = []] = [wanted.get(key), held.get(key), stored.get(key)];
    const name = JSON.stringify(row?.productNumber ?? key);
    if (found.length > 1)
      return `There are ${found.length} products ${name} (ids ${found.map(({ id }) => id).join(', ')}).`;
    const [product] = found;
    if (product === undefined) return isComplete || earlier ? `There is no product ${name}.` : [];
    if (row === undefined && earlier === undefined) return `No row has the product ${name}.`;

    const given: Fields = { ...row };
    const mayDiffer = !isComplete || locked.has(key);
    // A field that was empty may have a value now: a connector may know more than its rows.
    const kept = Object.entries(earlier ?? {}).filter(([, value]) => value !== null);
    const expected = { ...Object.fromEntries(kept), ...given };
    const free = [...FREE_FIELDS, ...(mayDiffer ? Object.keys(given) : [])];
    const field = differingField(expected, product, free);
    if (field === undefined) return [];
    const [now, value] = [product[columnOf(field)], expected[field]].map((each) => JSON.stringify(each));
    return field in given
      ? `${field} of product ${name} is ${now} in the service and ${value} in the row.`
      : `${field} of product ${name} is ${now} in the service. It was ${value}, and the row does not have the field.`;
  });
}

/** A natural key as it is compared. */
export function formOf(key: unknown): string {
  return String(key).trim().toLowerCase();
}
