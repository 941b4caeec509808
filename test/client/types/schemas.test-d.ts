import {
  type AccountingRecord,
  createClient,
  type Page,
  type Paginator,
  type Product,
  type RecordOf,
  type StandardSchema,
} from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const account = z.looseObject({ id: z.string(), name: z.string().transform((name) => name.length) });
const product = z.object({ id: z.string(), colourCode: z.number() });
const withoutId = z.object({ name: z.string() });
const numericId = z.object({ id: z.number() });

type Named = z.output<typeof account>;

test('the output of a schema flows into every method, transforms included', async () => {
  const client = createClient({ schemas: { accounts: account } });
  expectTypeOf(client.accounts.get('1')).resolves.toEqualTypeOf<Named>();
  expectTypeOf(client.accounts.find('1')).resolves.toEqualTypeOf<Named | undefined>();
  expectTypeOf(client.accounts.list()).toEqualTypeOf<Paginator<Named>>();
  expectTypeOf(client.accounts.list().pages()).toEqualTypeOf<AsyncIterableIterator<Page<Named>>>();
  expectTypeOf(client.accounts.list().toArray({ limit: 1 })).resolves.toEqualTypeOf<Named[]>();
  for await (const record of client.accounts.list()) expectTypeOf(record.name).toEqualTypeOf<number>();
  for await (const page of client.accounts.list().pages()) {
    expectTypeOf(page.records).toEqualTypeOf<readonly Named[]>();
    expectTypeOf(page.resumeToken).toEqualTypeOf<string | undefined>();
  }
  expectTypeOf(client.boms.get('1')).resolves.toExtend<AccountingRecord>();
  expectTypeOf(client.withOptions({}).accounts.get('1')).resolves.toEqualTypeOf<Named>();
});

test('a product is the output of its schema, and takes every documented field', async () => {
  const client = createClient({ schemas: { products: product } });
  expectTypeOf(client.products.get('1')).resolves.toEqualTypeOf<z.output<typeof product>>();
  expectTypeOf(client.products.create({ name: 'Desk', colourCode: 7 })).resolves.toEqualTypeOf<
    z.output<typeof product>
  >();
  expectTypeOf(client.products.update('1', { salePrice: '5' })).resolves.not.toHaveProperty('salePrice');
  expectTypeOf<RecordOf<'products', { products: typeof product }>>().toEqualTypeOf<
    z.output<typeof product>
  >();

  const extended = createClient({ schemas: { products: productSchema.extend({ colourCode: z.number() }) } });
  const one = await extended.products.get('1');
  expectTypeOf(one).toExtend<Product>();
  expectTypeOf(one.colourCode).toEqualTypeOf<number>();
});

test('a product is closed: an unknown field does not compile', async () => {
  const one = await createClient().products.get('1');
  // @ts-expect-error salesPrice is not a field
  one.salesPrice;
  const typed = await createClient({ schemas: { products: product } }).products.get('1');
  // @ts-expect-error the schema does not have this field
  typed.salePrice;
  expectTypeOf(typed.colourCode).toEqualTypeOf<number>();
  // @ts-expect-error salesPrice is not a field
  typed.salesPrice;
});

test('fields that a schema for products adds can be written, and no others', () => {
  const schema = productSchema.extend({ colourCode: z.number(), salePrice: z.number().transform(String) });
  const client = createClient({ schemas: { products: schema } });
  void client.products.create({ name: 'Desk', colourCode: 7 });
  void client.products.create({ name: 'Desk' });
  void client.products.update('1', { colourCode: null, name: undefined });
  // @ts-expect-error the schema takes a number
  void client.products.create({ colourCode: 'red' });
  // @ts-expect-error only an update clears a field that the schema does not let be null
  void client.products.create({ colourCode: null });
  // @ts-expect-error a misspelt field
  void client.products.create({ colorCode: 7 });
  // @ts-expect-error documented fields keep their types
  void client.products.create({ salePrice: 129 });
  // @ts-expect-error the service fills id
  void client.products.create({ id: '1' });
});

test('a misspelt collection in schemas does not compile, inline or from a variable', () => {
  // @ts-expect-error acounts is not a collection
  createClient({ schemas: { accounts: account, acounts: account } });
  const schemas = { acounts: account };
  // @ts-expect-error acounts is not a collection
  createClient({ schemas });
});

test('a schema without an id, or with one that is not a string, does not compile, inline or from a variable', () => {
  // @ts-expect-error no id
  createClient({ schemas: { accounts: withoutId } });
  // @ts-expect-error id is a number
  createClient({ schemas: { accounts: numericId } });
  const schemas = { accounts: withoutId };
  // @ts-expect-error no id
  createClient({ schemas });
  // @ts-expect-error no id
  createClient().collection('invoices', { schema: withoutId });
  // @ts-expect-error no schema at all
  createClient({ schemas: { accounts: {} } });
});

test('an unknown collection and a request are typed by their schema, which may be any Standard Schema', () => {
  const handMade = {} as StandardSchema<{ id: string; total: bigint }>;
  const client = createClient({ schemas: { budgets: handMade } });
  expectTypeOf(client.budgets.get('1')).resolves.toEqualTypeOf<{ id: string; total: bigint }>();
  expectTypeOf(client.collection('invoices').get('1')).resolves.toEqualTypeOf<AccountingRecord>();
  expectTypeOf(client.collection('invoices', { schema: account }).get('1')).resolves.toEqualTypeOf<Named>();
  expectTypeOf(client.request({ path: '/invoices' })).resolves.toEqualTypeOf<unknown>();
  expectTypeOf(client.request({ path: '/invoices', schema: z.array(account) })).resolves.toEqualTypeOf<
    Named[]
  >();
});
