import {
  type Account,
  type Batch,
  changes,
  createClient,
  type Product,
  type SyncTarget,
  sync,
} from 'accounting-data-sdk';
import { assertType, describe, expectTypeOf, test } from 'vitest';
import * as z from 'zod';

const client = createClient({
  schemas: { accounts: z.looseObject({ id: z.string(), name: z.string() }) },
});
const run = { store: new Map<string, string>(), tenant: 'acme' };

describe('sync', () => {
  test('types the records of a batch by its collection', () => {
    void sync(client, {
      ...run,
      onBatch: (batch) => {
        if (batch.collection === 'accounts')
          expectTypeOf(batch.records[0]?.name).toEqualTypeOf<string | undefined>();
        if (batch.collection === 'products') assertType<readonly Product[]>(batch.records);
        expectTypeOf(batch.collection).toExtend<keyof typeof client>();
        expectTypeOf(batch.collection).not.toBeAny();
      },
    });
  });

  test('knows only the collections that it reads', () => {
    void sync(client, {
      ...run,
      collections: ['accounts', 'products'],
      onBatch: ({ collection }) => expectTypeOf(collection).toEqualTypeOf<'accounts' | 'products'>(),
    });
    // @ts-expect-error: there is no such collection
    void sync(client, { ...run, collections: ['unknown'], onBatch: () => undefined });
    // @ts-expect-error: a method of the client, no collection
    void sync(client, { ...run, collections: ['request'], onBatch: () => undefined });
  });

  test('requires store, tenant and onBatch', () => {
    // @ts-expect-error: no onBatch
    void sync(client, run);
    // @ts-expect-error: no tenant
    void sync(client, { store: run.store, onBatch: () => undefined });
    // @ts-expect-error: no store
    void sync(client, { tenant: 'acme', onBatch: () => undefined });
  });

  test('takes a target in place of a store and functions', () => {
    const target: SyncTarget = {
      open: () => ({
        store: run.store,
        onBatch: ({ rows }) => expectTypeOf(rows).toEqualTypeOf<readonly unknown[]>(),
        localIds: () => [],
        onDelete: () => undefined,
      }),
    };
    void sync(client, { tenant: 'acme', target, collections: ['accounts'], mode: 'full' });
    // @ts-expect-error: the target has a store of its own
    void sync(client, { tenant: 'acme', target, store: run.store });
    // @ts-expect-error: there is no such collection
    void sync(client, { tenant: 'acme', target, collections: ['unknown'] });
  });
});

describe('changes', () => {
  test('type their records by the collection', () => {
    expectTypeOf(changes(client.products, run).next()).resolves.toExtend<
      { value: Batch<Product> } | { done?: boolean; value: unknown }
    >();
  });

  test('take any of several collections', async () => {
    const plain = createClient();
    for (const name of ['accounts', 'products'] as const) {
      for await (const { records } of changes(plain[name], run)) {
        expectTypeOf(records).toEqualTypeOf<readonly (Account | Product)[]>();
      }
    }
  });
});
