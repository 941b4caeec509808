import type { ProductRow } from './case.ts';
import { copiedValue, differingField } from './same-value.ts';
import type { Fields } from './timeline.ts';

/** What a connector was to write, and what the service holds then. */
export interface WrittenEvidence {
  readonly rows: readonly ProductRow[];
  readonly products: readonly (Fields & { readonly id: string })[];
  /** Whether each row has its product: not after a run that failed. */
  readonly isComplete: boolean;
  /** The natural keys of products that reject changes. */
  readonly locked: ReadonlySet<string>;
}

/**
 * What is wrong with the products of a service, as sentences. Keys are compared without white space around them and
 * without case: some services store them in a form of their own.
 */
export function judgeProducts({ rows, products, isComplete, locked }: WrittenEvidence): string[] {
  const problems: string[] = [];
  const byKey = new Map<string, Fields[]>();
  for (const product of products) {
    const key = formOf(product.productNumber);
    byKey.set(key, [...(byKey.get(key) ?? []), product]);
  }
  // The last row of a key counts.
  for (const row of new Map(rows.map((each) => [formOf(each.productNumber), each])).values()) {
    const found = byKey.get(formOf(row.productNumber)) ?? [];
    const named = JSON.stringify(row.productNumber);
    if (found.length > 1)
      problems.push(
        `There are ${found.length} products ${named} (ids ${found.map(({ id }) => id).join(', ')}).`,
      );
    const [product] = found;
    if (!isComplete || found.length > 1) continue;
    if (product === undefined) problems.push(`There is no product ${named}.`);
    else if (!locked.has(row.productNumber)) problems.push(...differences(row, product));
  }
  const known = new Set(rows.map(({ productNumber }) => formOf(productNumber)));
  const strange = [...byKey.keys()].filter((key) => !known.has(key));
  if (strange.length > 0) problems.push(`No row has the products ${strange.join(', ')}.`);
  return problems;
}

function formOf(key: unknown): string {
  return String(key).trim().toLowerCase();
}

function differences(row: ProductRow, product: Fields): string[] {
  const { productNumber: key, ...values } = row;
  const field = differingField(values, product);
  if (field === undefined) return [];
  const [wanted, stored] = [values, product].map((record) => JSON.stringify(copiedValue(record, field)));
  return [`${field} of product ${JSON.stringify(key)} is ${stored} in the service and ${wanted} in the row.`];
}
