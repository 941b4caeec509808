import {
  type Account,
  type Batch,
  changes,
  createClient,
  type DeletionCounts,
  type DeletionsAbortReason,
  isAccountingError,
  type Product,
  type SyncReport,
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

  test('resolves to its report, which its error carries too', () => {
    expectTypeOf(sync(client, { ...run, onBatch: () => undefined })).resolves.toEqualTypeOf<SyncReport>();
    const error: unknown = undefined;
    if (isAccountingError(error, 'sync_failed')) {
      expectTypeOf(error.report).toEqualTypeOf<SyncReport>();
      expectTypeOf(error.report.collections[0]?.status).toEqualTypeOf<
        'done' | 'failed' | 'forbidden' | 'stopped' | 'paused' | 'not_begun' | undefined
      >();
      expectTypeOf(error.errors[0]?.collection).toEqualTypeOf<string | undefined>();
      // @ts-expect-error deletions have an error of their own
      void error.aborted;
    }
    if (isAccountingError(error, 'deletions_aborted')) {
      expectTypeOf(error.report).toEqualTypeOf<DeletionCounts>();
      expectTypeOf(error.reason).toEqualTypeOf<DeletionsAbortReason>();
    }
    // @ts-expect-error ignore is not a value of onForbidden
    void sync(client, { ...run, onBatch: () => undefined, onForbidden: 'ignore' });
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
