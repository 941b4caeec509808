import {
  type Account,
  type AnyAccountingError,
  type Batch,
  changes,
  createClient,
  type Product,
  type ProductDraft,
  type PushResult,
  push,
  type SyncTarget,
  sync,
} from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { assertType, describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const client = createClient({
  schemas: { accounts: z.looseObject({ id: z.string(), name: z.string() }) },
});
const store = new Map<string, string>();

describe('sync', () => {
  const run = { store, tenant: 'acme' };

  test('types the records of a batch by its collection', () => {
    void sync(client, {
      ...run,
      onBatch: (batch) => {
        if (batch.collection === 'accounts')
          expectTypeOf(batch.records[0]?.name).toEqualTypeOf<string | undefined>();
        if (batch.collection === 'products') assertType<readonly Product[]>(batch.records);
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

  test('requires tenant, store and onBatch, or a target in place of both', () => {
    // @ts-expect-error: no onBatch
    void sync(client, run);
    // @ts-expect-error: no tenant
    void sync(client, { store, onBatch: () => undefined });
    // @ts-expect-error: no store
    void sync(client, { tenant: 'acme', onBatch: () => undefined });
    const target: SyncTarget = {
      open: () => ({
        store,
        onBatch: ({ rows }) => expectTypeOf(rows).toEqualTypeOf<readonly unknown[]>(),
        localIds: () => [],
        onDelete: () => undefined,
      }),
    };
    void sync(client, { tenant: 'acme', target, collections: ['accounts'], mode: 'full' });
    // @ts-expect-error: the target has a store of its own
    void sync(client, { tenant: 'acme', target, store });
  });

  test('has changes as its counterpart, whose records are typed by the collection', async () => {
    expectTypeOf(changes(client.products, run).next()).resolves.toExtend<
      { value: Batch<Product> } | { done?: boolean; value: unknown }
    >();
    const plain = createClient();
    for (const name of ['accounts', 'products'] as const)
      for await (const { records } of changes(plain[name], run))
        expectTypeOf(records).toEqualTypeOf<readonly (Account | Product)[]>();
  });
});

describe('push', () => {
  const rows: ProductDraft[] = [{ productNumber: 'A', salePrice: '5.00' }];
  const run = { tenant: 'shop', rows, key: (row: ProductDraft | Product) => row.productNumber, store };

  test('checks each row against the draft of a product', () => {
    void push(client.products, { ...run, rows: [{ productNumber: 'A', name: null, isWebShop: undefined }] });
    // @ts-expect-error: a product has no such field
    void push(client.products, { ...run, rows: [{ productNumber: 'A', salesPrice: '5.00' }] });
    // @ts-expect-error: money is a string
    void push(client.products, { ...run, rows: [{ productNumber: 'A', salePrice: 5 }] });
    // @ts-expect-error: the service assigns ids
    void push(client.products, { ...run, rows: [{ id: '1', productNumber: 'A' }] });
    // @ts-expect-error: one row is not an Iterable of rows
    void push(client.products, { ...run, rows: { productNumber: 'A' } });
  });

  test('checks the fields of the own schema in each row', () => {
    const own = createClient({ schemas: { products: productSchema.extend({ colourCode: z.number() }) } });
    const asked = { tenant: 'shop', key: 'ean', store } as const;
    async function* read() {
      yield { ean: '1', colourCode: 7 };
    }
    void push(own.products, { ...asked, rows: read(), key: (row) => String(row.colourCode) });
    // @ts-expect-error: the colour is a number
    void push(own.products, { ...asked, rows: [{ ean: '1', colourCode: 'blue' }] });
    // @ts-expect-error: neither the schema nor the service has this field
    void push(own.products, { ...asked, rows: [{ ean: '1', colorCode: 7 }] });
  });

  test('needs a collection that can be written, a tenant, and a key that is a string', () => {
    // @ts-expect-error: accounts are read-only
    void push(client.accounts, run);
    // @ts-expect-error: no tenant
    void push(client.products, { rows, key: 'ean' });
    // @ts-expect-error: no key
    void push(client.products, { tenant: 'shop', rows });
    // @ts-expect-error: a number of items is not a key
    void push(client.products, { ...run, key: (row) => row.stockQuantity });
    void push(client.products, { ...run, key: 'productNumber' });
    // @ts-expect-error: a number of items is not a key
    void push(client.products, { ...run, key: 'stockQuantity' });
    // @ts-expect-error: the service assigns ids
    void push(client.products, { ...run, key: 'id' });
  });

  test('rejects a row whose type has more members than the draft, from a variable too', () => {
    const more = [{ productNumber: 'A', colour: 'red' }];
    // @ts-expect-error: a product has no colour
    void push(client.products, { ...run, rows: more });
    // @ts-expect-error: a product has no colour
    void push(client.products, { ...run, rows: new Set(more) });
    const some: { productNumber: string; colour?: string }[] = [];
    // @ts-expect-error: a product has no colour
    void push(client.products, { ...run, rows: some });
    const mixed: ({ ean: string } | { ean: string; colour: string })[] = [];
    // @ts-expect-error: a product has no colour
    void push(client.products, { ...run, rows: mixed });
    async function* read() {
      yield* more;
    }
    // @ts-expect-error: a product has no colour
    void push(client.products, { ...run, rows: read() });
    // What the compiler cannot see is checked by unknownFields.
    const unseen: readonly never[] | { [Symbol.iterator](): Iterator<never> } = [];
    void push(client.products, { ...run, rows: unseen, unknownFields: 'reject' });
  });

  test('types the record of `key` as a row or a product as the service sent it', () => {
    const renamed = productSchema.transform(({ productNumber: number, ...rest }) => ({ ...rest, number }));
    const own = createClient({ schemas: { products: renamed } });
    const rows = [{ productNumber: 'A' }];
    const asked = { tenant: 'shop', rows, store };
    void push(own.products, { ...asked, key: (record) => record.productNumber });
    // @ts-expect-error: a schema named it so, but neither a row nor the service does
    void push(own.products, { ...asked, key: (record) => record.number });
    // @ts-expect-error: neither has a row
    void push(own.products, { ...asked, key: 'number' });
  });

  test('types each result', () => {
    void push(client.products, {
      ...run,
      onResult: (result) => {
        expectTypeOf(result).toEqualTypeOf<PushResult<ProductDraft>>();
        if (result.action === 'failed') expectTypeOf(result.error).toEqualTypeOf<AnyAccountingError>();
        if (result.action === 'conflict') expectTypeOf(result.reason).toEqualTypeOf<string>();
        expectTypeOf(result.row).toEqualTypeOf<ProductDraft>();
        expectTypeOf(result.index).toEqualTypeOf<number>();
        type Action = 'created' | 'updated' | 'unchanged' | 'failed' | 'conflict' | 'duplicate';
        expectTypeOf(result.action).toEqualTypeOf<Action>();
      },
    });
    void push(client.products, {
      ...run,
      rows: [{ productNumber: 'A', ean: '1' }],
      onResult: ({ row }) => expectTypeOf(row).toEqualTypeOf<{ productNumber: string; ean: string }>(),
    });
    // @ts-expect-error: a push deletes nothing
    void push(client.products, { ...run, missing: 'delete' });
  });
});
