import {
  type AnyAccountingError,
  createClient,
  type Product,
  type ProductDraft,
  type PushResult,
  push,
} from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const client = createClient();
const rows: ProductDraft[] = [{ productNumber: 'A', salePrice: '5.00' }];
const key = (row: ProductDraft | Product) => row.productNumber;
const store = new Map<string, string>();
const run = { tenant: 'shop', rows, key, store };

describe('push', () => {
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
    void push(own.products, { ...asked, rows: [{ ean: '1', colourCode: 7 }, { ean: '2' }] });
    async function* read() {
      yield { ean: '1', colourCode: 7 };
    }
    void push(own.products, { ...asked, rows: read() });
    void push(own.products, {
      ...asked,
      rows: [],
      key: (row) => String(row.colourCode),
    });
    // @ts-expect-error: the colour is a number
    void push(own.products, { ...asked, rows: [{ ean: '1', colourCode: 'blue' }] });
    // @ts-expect-error: neither the schema nor the service has this field
    void push(own.products, { ...asked, rows: [{ ean: '1', colorCode: 7 }] });
    // @ts-expect-error: the service has no field of this name, and this client no schema with one
    void push(client.products, { ...asked, rows: [{ ean: '1', colourCode: 7 }] });
  });

  test('needs a collection that can be written', () => {
    // @ts-expect-error: accounts are read-only
    void push(client.accounts, run);
    // @ts-expect-error: the client is not a collection
    void push(client, run);
  });

  test('needs tenant, rows and a key that is a string', () => {
    // @ts-expect-error: no tenant
    void push(client.products, { rows, key });
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

  test('types the product and the patch of `missing`', () => {
    void push(client.products, {
      ...run,
      missing: (product) => {
        expectTypeOf(product).toEqualTypeOf<Product>();
        return product.isInactive === true ? undefined : { isInactive: true };
      },
    });
    // @ts-expect-error: a boolean
    void push(client.products, { ...run, missing: () => ({ isInactive: 'yes' }) });
    // @ts-expect-error: 'keep' and 'delete' are all there is
    void push(client.products, { ...run, missing: 'remove' });
  });

  test('types each result', () => {
    void push(client.products, {
      ...run,
      onResult: (result) => {
        expectTypeOf(result).toEqualTypeOf<PushResult<ProductDraft>>();
        if (result.action === 'failed') expectTypeOf(result.error).toEqualTypeOf<AnyAccountingError>();
        if (result.action === 'conflict') expectTypeOf(result.reason).toEqualTypeOf<string>();
        if (result.action === 'deleted') expectTypeOf(result.id).toEqualTypeOf<string>();
        if (result.action === 'created') expectTypeOf(result.row).toEqualTypeOf<ProductDraft>();
        expectTypeOf(result.action).toEqualTypeOf<
          'created' | 'updated' | 'unchanged' | 'failed' | 'conflict' | 'duplicate' | 'deleted'
        >();
      },
    });
  });
});
