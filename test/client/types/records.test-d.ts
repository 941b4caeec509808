import {
  type Account,
  type AccountingRecord,
  type Client,
  type CollectionName,
  type CollectionOf,
  createClient,
  type Decimal,
  type Money,
  type Page,
  type Paginator,
  type Product,
  type ProductDraft,
  type ProductFields,
  type ProductPatch,
  type RecordOf,
  type StandardSchema,
  toDecimal,
  toMoney,
} from 'accounting-data-sdk';
import {
  type moneySchema,
  type problemSchema,
  productDraftSchema,
  productPatchSchema,
  productSchema,
  type recordSchema,
} from 'accounting-data-sdk/schemas';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

const client = createClient();
const product = {} as Product;

describe('a product', () => {
  /** The value of each kind of field. */
  interface ByKind {
    name: string;
    salePrice: Money;
    isInactive: boolean;
    salePriceDecimals: number;
    stockQuantity: number;
    tags: unknown[];
  }
  type Filled = 'id' | 'createdAt' | 'updatedAt';

  test('has fields of their kinds that can be missing or null, and an id; an input can also be undefined', () => {
    type Read = { [Name in keyof ByKind]?: ByKind[Name] | null };
    expectTypeOf<Pick<Product, keyof ByKind>>().toEqualTypeOf<Read>();
    expectTypeOf<Pick<Product, 'id'>>().toEqualTypeOf<{ id: string }>();
    expectTypeOf<Product['updatedAt']>().toEqualTypeOf<string | null | undefined>();
    type Written = { [Name in keyof ByKind]?: ByKind[Name] | null | undefined };
    expectTypeOf<Pick<ProductDraft, keyof ByKind>>().toEqualTypeOf<Written>();
    expectTypeOf<Pick<ProductPatch, keyof ByKind>>().toEqualTypeOf<Written>();
    expectTypeOf<keyof Product>().toEqualTypeOf<keyof ProductFields | Filled>();
  });

  test('is closed: a misspelt field does not compile, nor a number for money', async () => {
    // @ts-expect-error salesPrice is not a field
    product.salesPrice;
    // @ts-expect-error salesPrice is not a field
    client.products.create({ salesPrice: '1.0000' });
    // @ts-expect-error money is a decimal string
    client.products.create({ salePrice: 129 });
    client.products.create({ salePrice: '129.0000', salePriceDecimals: 4, stockQuantity: 0.5 });
  });

  test('that is spread into a draft or passed as a patch does not compile', () => {
    // @ts-expect-error id comes along
    client.products.create({ ...product, name: 'Copy' });
    // @ts-expect-error a product is not a patch
    client.products.update('1', product);
    const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = product;
    client.products.create(fields);
    type Server = Pick<ProductDraft, Filled>;
    expectTypeOf<{ createdAt: string | null }>().not.toExtend<Server>();
    expectTypeOf<{ updatedAt: string }>().not.toExtend<Server>();
  });
});

test('toDecimal passes null and undefined through, and toMoney returns a string', () => {
  expectTypeOf(toDecimal('1')).toEqualTypeOf<Decimal>();
  expectTypeOf(toDecimal(product.salePrice)).toEqualTypeOf<Decimal | null | undefined>();
  expectTypeOf(toMoney(toDecimal('1'))).toEqualTypeOf<string>();
  // @ts-expect-error money is a decimal string
  toDecimal(129);
  // @ts-expect-error an unknown rounding
  toMoney(toDecimal('1'), { rounding: 'bankers' });
});

test('a write on a read-only collection does not compile', () => {
  // @ts-expect-error accounts are read-only
  client.accounts.create({});
  // @ts-expect-error a collection that is not known is read-only
  client.collection('journals').create({});
  type Writable = {
    [Name in CollectionName]: 'create' extends keyof CollectionOf<Name> ? Name : never;
  }[CollectionName];
  expectTypeOf<Writable>().toEqualTypeOf<'products'>();
});

describe('the schemas entry', () => {
  /** A type without its index signature: a schema that keeps unknown fields infers one. */
  type Known<T> = { [K in keyof T as string extends K ? never : K]: T[K] };

  test('has schemas that infer the types of the package, with no other fields', () => {
    expectTypeOf<z.infer<typeof productSchema>>().toExtend<Product>();
    expectTypeOf<Known<z.infer<typeof productSchema>>>().toEqualTypeOf<Known<Product>>();
    expectTypeOf<z.infer<typeof productDraftSchema>>().toExtend<ProductDraft>();
    expectTypeOf<keyof Known<z.infer<typeof productDraftSchema>>>().toEqualTypeOf<keyof ProductDraft>();
    expectTypeOf<z.infer<typeof productPatchSchema>>().toExtend<ProductPatch>();
    expectTypeOf<z.infer<typeof recordSchema>>().toExtend<AccountingRecord>();
    expectTypeOf<z.infer<typeof moneySchema>>().toEqualTypeOf<Money>();
    type Members = 'type' | 'title' | 'status' | 'detail' | 'instance' | 'violations';
    expectTypeOf<keyof Known<z.infer<typeof problemSchema>>>().toEqualTypeOf<Members>();
  });

  test('validates what can be written', () => {
    client.products.create(productDraftSchema.parse({}));
    client.products.update('1', productPatchSchema.parse({}));
    // @ts-expect-error a product is not a draft
    client.products.create(productSchema.parse({}));
  });
});

describe('the schemas of a client', () => {
  const account = z.looseObject({ id: z.string(), name: z.string().transform((name) => name.length) });
  type Named = z.output<typeof account>;

  test('type every method of their collection, transforms included', async () => {
    const { accounts, boms } = createClient({ schemas: { accounts: account } });
    expectTypeOf(accounts.get('1')).resolves.toEqualTypeOf<Named>();
    expectTypeOf(accounts.find('1')).resolves.toEqualTypeOf<Named | undefined>();
    expectTypeOf(accounts.list()).toEqualTypeOf<Paginator<Named>>();
    expectTypeOf(accounts.list().pages()).toEqualTypeOf<AsyncIterableIterator<Page<Named>>>();
    expectTypeOf(accounts.list().toArray({ limit: 1 })).resolves.toEqualTypeOf<Named[]>();
    for await (const record of accounts.list()) expectTypeOf(record.name).toEqualTypeOf<number>();
    expectTypeOf(boms.get('1')).resolves.toExtend<AccountingRecord>();
    const again = createClient({ schemas: { accounts: account } }).withOptions({});
    expectTypeOf(again.accounts.get('1')).resolves.toEqualTypeOf<Named>();
    expectTypeOf(again.collection('accounts').get('1')).resolves.toEqualTypeOf<Named>();
  });

  test('replace the type of a product, of which every documented field can be written', async () => {
    const schema = z.object({ id: z.string(), colourCode: z.number() });
    const { products } = createClient({ schemas: { products: schema } });
    type Own = z.output<typeof schema>;
    expectTypeOf(products.get('1')).resolves.toEqualTypeOf<Own>();
    expectTypeOf(products.create({ name: 'Desk', colourCode: 7 })).resolves.toEqualTypeOf<Own>();
    expectTypeOf<RecordOf<'products', { products: typeof schema }>>().toEqualTypeOf<Own>();
    // @ts-expect-error the schema does not have this field
    (await products.get('1')).salePrice;
  });

  test('add fields that can be written, and no others', () => {
    const schema = productSchema.extend({ colourCode: z.number(), salePrice: z.number().transform(String) });
    const { products } = createClient({ schemas: { products: schema } });
    expectTypeOf(products.get('1')).resolves.toExtend<Product & { colourCode: number }>();
    void products.create({ name: 'Desk' });
    void products.update('1', { colourCode: null, name: undefined });
    // @ts-expect-error the schema takes a number
    void products.create({ colourCode: 'red' });
    // @ts-expect-error only an update clears a field that the schema does not let be null
    void products.create({ colourCode: null });
    // @ts-expect-error a misspelt field
    void products.create({ colorCode: 7 });
    // @ts-expect-error documented fields keep their types
    void products.create({ salePrice: 129 });
    // @ts-expect-error the service fills id
    void products.create({ id: '1' });
  });

  test('name collections and have an id that is a string, inline or from a variable', () => {
    const withoutId = z.object({ name: z.string() });
    // @ts-expect-error acounts is not a collection
    createClient({ schemas: { accounts: account, acounts: account } });
    const misspelt = { acounts: account };
    // @ts-expect-error acounts is not a collection
    createClient({ schemas: misspelt });
    // @ts-expect-error id is a number
    createClient({ schemas: { accounts: z.object({ id: z.number() }) } });
    const schemas = { accounts: withoutId };
    // @ts-expect-error no id
    createClient({ schemas });
    // @ts-expect-error no id
    client.collection('journals', { schema: withoutId });
    // @ts-expect-error no schema at all
    createClient({ schemas: { accounts: {} } });
  });

  test('can be any Standard Schema, also of an unknown collection and of a request', () => {
    const handMade = {} as StandardSchema<{ id: string; total: bigint }>;
    const own = createClient({ schemas: { budgets: handMade } });
    expectTypeOf(own.budgets.get('1')).resolves.toEqualTypeOf<{ id: string; total: bigint }>();
    expectTypeOf(own.collection('journals').get('1')).resolves.toEqualTypeOf<AccountingRecord>();
    expectTypeOf(own.collection('journals', { schema: account }).get('1')).resolves.toEqualTypeOf<Named>();
    expectTypeOf(own.request({ path: '/journals' })).resolves.toEqualTypeOf<unknown>();
    const request = own.request({ path: '/journals', schema: z.array(account) });
    expectTypeOf(request).resolves.toEqualTypeOf<Named[]>();
  });
});

/** As a user writes it. */
async function all<N extends CollectionName>(from: Client, name: N): Promise<RecordOf<N>[]> {
  return from.collection(name).list().toArray({ limit: 5 });
}

type Handlers = { readonly [N in CollectionName]?: (record: RecordOf<N>) => string };

async function handle<N extends CollectionName>(name: N, handlers: Handlers): Promise<string[]> {
  const handler = handlers[name];
  const lines: string[] = [];
  for await (const record of client.collection(name).list()) lines.push(handler?.(record) ?? record.id);
  return lines;
}

test('a function that is generic over collections keeps the type of their records', () => {
  expectTypeOf(all(client, 'products')).resolves.toEqualTypeOf<Product[]>();
  expectTypeOf(all(client, 'accounts')).resolves.toEqualTypeOf<Account[]>();
  handle('products', { products: ({ salePrice }) => salePrice ?? '', boms: ({ id }) => id });
  // @ts-expect-error: a product has no such field
  handle('products', { products: ({ salesPrice }) => salesPrice });
  // @ts-expect-error: there is no such collection
  all(client, 'journals');
});
