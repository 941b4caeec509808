// Push made worse in four ways that the histories must notice.

import { type Client, isAccountingError, newIdempotencyKey } from 'accounting-data-sdk';
import type { Mutation } from './history.ts';

type Products = Client['products'];

/** What push needs beside the public methods, under a symbol that every copy of the package knows. */
const RUN_SOURCE = Symbol.for('accounting-data-sdk.collection');

interface Lenient {
  create(draft: object, options: object): Promise<unknown>;
  list(query: object, options: object): AsyncIterableIterator<unknown>;
}

interface RunSource {
  readonly fields: object;
  readonly writes: { readonly lenient: Lenient };
}

function sourceOf(products: Products): RunSource {
  return (products as unknown as { [RUN_SOURCE]: RunSource })[RUN_SOURCE];
}

/** A collection with some methods in the place of its own. */
function withMethods(
  products: Products,
  lenientOf: (lenient: Lenient) => Partial<Lenient>,
  more = {},
): object {
  const source = sourceOf(products);
  const { lenient } = source.writes;
  const writes = { ...source.writes, lenient: { ...lenient, ...lenientOf(lenient) } };
  return { ...products, [RUN_SOURCE]: { ...source, writes, ...more } };
}

/** Wrapped like the mutants, and correct: shows that the histories do not find the wrapper itself. */
export const unchanged: Mutation = (products) => withMethods(products, () => ({}));

export const mutants: Readonly<Record<string, Mutation>> = {
  'repeats a create whose outcome is unknown with another idempotency key': (original) =>
    withMethods(original, (lenient) => ({
      create: (draft: object, options: object) =>
        lenient.create(draft, options).catch((error: unknown) => {
          if (!isAccountingError(error) || error.outcome !== 'unknown') throw error;
          return lenient.create(draft, { ...options, idempotencyKey: newIdempotencyKey() });
        }),
    })),
  'compares money as text': (original) => withMethods(original, () => ({}), { fields: {} }),
  'stops at the first row that fails': (original) =>
    withMethods(original, (lenient) => ({ create: (...args) => lenient.create(...args).catch(stop) })),
  'ignores what changed after asOf': (original) =>
    withMethods(original, (lenient) => ({
      list: (query: object, options: object) =>
        lenient.list('updatedSince' in query ? { id: { gt: '1000000' } } : query, options),
    })),
};

function stop(error: unknown): never {
  throw isAccountingError(error, 'validation_failed') ? new Error('A row failed.') : error;
}
