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

  test('types the product and the patch of `missing`, and each result', () => {
    void push(client.products, {
      ...run,
      missing: (product) => {
        expectTypeOf(product).toEqualTypeOf<Product>();
        return product.isInactive === true ? undefined : { isInactive: true };
      },
      onResult: (result) => {
        expectTypeOf(result).toEqualTypeOf<PushResult<ProductDraft>>();
        if (result.action === 'failed') expectTypeOf(result.error).toEqualTypeOf<AnyAccountingError>();
        if (result.action === 'conflict') expectTypeOf(result.reason).toEqualTypeOf<string>();
        if (result.action === 'created') expectTypeOf(result.row).toEqualTypeOf<ProductDraft>();
        type Action = 'created' | 'updated' | 'unchanged' | 'failed' | 'conflict' | 'duplicate' | 'deleted';
        expectTypeOf(result.action).toEqualTypeOf<Action>();
      },
    });
    // @ts-expect-error: a boolean
    void push(client.products, { ...run, missing: () => ({ isInactive: 'yes' }) });
    // @ts-expect-error: 'keep' and 'delete' are all there is
    void push(client.products, { ...run, missing: 'remove' });
  });
});
