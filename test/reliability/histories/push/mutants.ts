// Push made worse in four ways that the histories must notice.

import { type Client, isAccountingError, newIdempotencyKey } from 'accounting-data-sdk';
import type { Mutation } from './history.ts';

type Products = Client['products'];

/** What push needs beside the public methods, under a symbol that every copy of the package knows. */
const RUN_SOURCE = Symbol.for('accounting-data-sdk.collection');

interface RunSource {
  readonly fields: object;
  readonly writes: { outlasting(maxOutageMs: number): Products };
}

function sourceOf(products: Products): RunSource {
  return (products as unknown as { [RUN_SOURCE]: RunSource })[RUN_SOURCE];
}

/** A collection with some methods in the place of its own, and the same while it outlasts an outage. */
function withMethods(products: Products, methodsOf: (products: Products) => object): object {
  const source = sourceOf(products);
  const outlasting = (maxOutageMs: number) => withMethods(source.writes.outlasting(maxOutageMs), methodsOf);
  const writes = { ...source.writes, outlasting };
  return { ...products, [RUN_SOURCE]: { ...source, writes }, ...methodsOf(products) };
}

/** Wrapped like the mutants, and correct: shows that the histories do not find the wrapper itself. */
export const unchanged: Mutation = (products) => withMethods(products, () => ({}));

export const mutants: Readonly<Record<string, Mutation>> = {
  'repeats a create whose outcome is unknown with another idempotency key': (original) =>
    withMethods(original, (products) => ({
      create: (draft: object, options: object) =>
        products.create(draft, options).catch((error: unknown) => {
          if (!isAccountingError(error) || error.outcome !== 'unknown') throw error;
          return products.create(draft, { ...options, idempotencyKey: newIdempotencyKey() });
        }),
    })),
  'compares money as text': (original) =>
    withMethods(original, (products) => ({ [RUN_SOURCE]: { ...sourceOf(products), fields: {} } })),
  'stops at the first row that fails': (original) =>
    withMethods(original, (products) => ({
      create: (...args: Parameters<Products['create']>) => products.create(...args).catch(stop),
      update: (...args: Parameters<Products['update']>) => products.update(...args).catch(stop),
    })),
  'ignores what changed after asOf': (original) =>
    withMethods(original, (products) => ({
      list: (query: object, options: object) =>
        products.list('updatedSince' in query ? { id: { gt: '1000000' } } : query, options),
    })),
};

function stop(error: unknown): never {
  throw isAccountingError(error, 'validation_failed') ? new Error('A row failed.') : error;
}
