// Push made worse in four ways that the histories must notice.

import { type Client, isAccountingError, newIdempotencyKey } from 'accounting-data-sdk';
import type { Mutation } from './history.ts';

type Products = Client['products'];

/** What push needs beside the public methods. */
function writeFactsOf(products: Products): object {
  return (products as unknown as { writeFacts: object }).writeFacts;
}

/** A collection with some methods in the place of its own. */
export function withMethods(products: Products, methods: object): object {
  return {
    baseUrl: products.baseUrl,
    list: (...args: Parameters<Products['list']>) => products.list(...args),
    find: (...args: Parameters<Products['find']>) => products.find(...args),
    create: (...args: Parameters<Products['create']>) => products.create(...args),
    update: (...args: Parameters<Products['update']>) => products.update(...args),
    delete: (...args: Parameters<Products['delete']>) => products.delete(...args),
    writeFacts: writeFactsOf(products),
    ...methods,
  };
}

export const mutants: Readonly<Record<string, Mutation>> = {
  'uses a new idempotency key when it repeats a create': (products) =>
    withMethods(products, {
      create: (draft: object, options: object) =>
        products.create(draft, { ...options, idempotencyKey: newIdempotencyKey() }),
    }),
  'compares money as text': (products) =>
    withMethods(products, { writeFacts: { ...writeFactsOf(products), fields: {} } }),
  'stops at the first row that fails': (products) =>
    withMethods(products, {
      create: (...args: Parameters<Products['create']>) => products.create(...args).catch(stop),
      update: (...args: Parameters<Products['update']>) => products.update(...args).catch(stop),
    }),
  'ignores what changed after asOf': (products) =>
    withMethods(products, {
      list: (query: object, options: object) =>
        products.list('updatedSince' in query ? { id: { gt: '1000000' } } : query, options),
    }),
};

function stop(error: unknown): never {
  throw isAccountingError(error, 'validation_failed') ? new Error('A row failed.') : error;
}
