// Push made worse in ways that the histories must notice.

import { type Client, isAccountingError, newIdempotencyKey, type Store } from 'accounting-data-sdk';
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

/** A store that writes down the open creates in another form: those of each key name. */
function withOpen(store: Store, change: (open: Readonly<Record<string, Open>>) => object): Store {
  return {
    get: (key) => store.get(key),
    set: (key, value) => {
      const content = JSON.parse(value) as { open?: Readonly<Record<string, Open>> };
      return store.set?.(
        key,
        content.open === undefined ? value : JSON.stringify({ ...content, open: change(content.open) }),
      );
    },
  };
}

interface Open {
  readonly sent: object;
  readonly made: object;
}

/** Wrapped like the mutants, and correct: shows that the histories do not find the wrapper itself. */
export const unchanged: Mutation = {
  products: (products) => withMethods(products, () => ({})),
  store: (store) => withOpen(store, (open) => open),
  skipsWait: () => false,
};

/** Of those that are rarely found, the `first` seed that finds them. */
export const mutants: Readonly<Record<string, Mutation & { readonly first?: number }>> = {
  'repeats a create whose outcome is unknown with another idempotency key': {
    first: 7,
    products: (products) =>
      withMethods(products, (lenient) => ({
        create: (draft: object, options: object) =>
          lenient.create(draft, options).catch((error: unknown) => {
            if (!isAccountingError(error) || error.outcome !== 'unknown') throw error;
            return lenient.create(draft, { ...options, idempotencyKey: newIdempotencyKey() });
          }),
      })),
  },
  'compares money as text': { products: (products) => withMethods(products, () => ({}), { fields: {} }) },
  'stops at the first row that fails': {
    products: (products) =>
      withMethods(products, (lenient) => ({ create: (...args) => lenient.create(...args).catch(stop) })),
  },
  'ignores what changed after asOf': {
    first: 6,
    products: (products) =>
      withMethods(products, (lenient) => ({
        list: (query: object, options: object) =>
          lenient.list('updatedSince' in query ? { id: { gt: '1000000' } } : query, options),
      })),
  },
  'drops a create that was sent before the id of its product is stored': {
    first: 71,
    store: (store) =>
      withOpen(store, (open) =>
        Object.fromEntries(Object.entries(open).map(([name, { sent }]) => [name, { sent, made: {} }])),
      ),
  },
  'forgets the open creates of another key name': {
    first: 12,
    store: (store, keyName) =>
      withOpen(store, ({ [keyName]: own }) => (own === undefined ? {} : { [keyName]: own })),
  },
  'does not wait at the start': { first: 12, skipsWait: (requests) => requests === 0 },
  'does not wait between rounds': { skipsWait: (requests) => requests > 0 },
  'creates a second product when it does not find the first one once': {
    looks: (state) => (state.is === 'made' ? { ...state, misses: 1 } : state),
  },
  'sends a create under a new key in each round': {
    first: 7,
    keeps: (state) =>
      state.is === 'sent' && (state.isEarlier || state.sendings > 1)
        ? { ...state, idempotencyKey: newIdempotencyKey() }
        : state,
  },
  'takes the rejection of a repeat for that of the create': {
    first: 55,
    keeps: (state) =>
      state.is === 'sent' ? { ...state, isEarlier: false, sendings: Math.min(state.sendings, 1) } : state,
  },
  'counts the product of an earlier create as created': {
    first: 5,
    keeps: (state) => (state.is === 'sent' ? { ...state, isEarlier: false } : state),
  },
};

function stop(error: unknown): never {
  throw isAccountingError(error, 'validation_failed') ? new Error('A row failed.') : error;
}
