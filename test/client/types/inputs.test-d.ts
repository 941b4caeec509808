import {
  type AppInfo,
  type Client,
  type ClientOptions,
  type CollectionName,
  type CollectionOf,
  type CreateOptions,
  createClient,
  type Decimal,
  type IdBounds,
  type Listeners,
  type ListOptions,
  type ListQuery,
  type MoneyOptions,
  type Product,
  type ProductDraft,
  type RawRequest,
  type RequestOptions,
  type RetryOptions,
  type RunOptions,
  toDecimal,
  toMoney,
} from 'accounting-data-sdk';
import { connectorTests, createSandbox, type Fault, faultyFetch } from 'accounting-data-sdk/testing';
import { expectTypeOf, test } from 'vitest';

const client = {} as Client;
const maybe = undefined as string | undefined;

/** The keys that may be left out but do not take `undefined`. */
type RefusesUndefined<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? { [P in K]: undefined } extends Pick<T, K>
      ? never
      : K
    : never;
}[keyof T];

test('every optional input takes undefined, under exactOptionalPropertyTypes', () => {
  expectTypeOf<RefusesUndefined<{ a?: string; b?: string | undefined; c: string }>>().toEqualTypeOf<'a'>();
  expectTypeOf<RefusesUndefined<ClientOptions & RetryOptions & Listeners & AppInfo>>().toBeNever();
  expectTypeOf<RefusesUndefined<ListOptions & ListQuery & IdBounds & RawRequest>>().toBeNever();
  expectTypeOf<RefusesUndefined<RequestOptions & CreateOptions & MoneyOptions & RunOptions>>().toBeNever();
  expectTypeOf<RefusesUndefined<Omit<ProductDraft, 'id' | 'createdAt' | 'updatedAt'>>>().toBeNever();
  client.accounts.list({ updatedSince: maybe, id: { gt: maybe } }, { pagination: undefined });
  client.products.update('1', { name: undefined, salePrice: null }, undefined);
  client.collection('x', { schema: undefined });
  client.withOptions({ timeoutMs: undefined, validation: undefined });
  createClient({ schemas: { accounts: undefined } });
});

test('a number for money does not compile', () => {
  // @ts-expect-error money is a decimal string
  client.products.create({ salePrice: 129 });
  // @ts-expect-error money is a decimal string
  toDecimal(129);
  client.products.create({ salePrice: '129.0000', salePriceDecimals: 4, stockQuantity: 0.5 });
});

test('toDecimal passes null and undefined through, and toMoney returns a string', () => {
  const product = {} as Product;
  expectTypeOf(toDecimal('1')).toEqualTypeOf<Decimal>();
  expectTypeOf(toDecimal(null)).toEqualTypeOf<Decimal | null>();
  expectTypeOf(toDecimal(product.salePrice)).toEqualTypeOf<Decimal | null | undefined>();
  expectTypeOf(toMoney(toDecimal('1'))).toEqualTypeOf<string>();
  // @ts-expect-error an unknown rounding
  toMoney(toDecimal('1'), { rounding: 'bankers' });
});

test('a product that is spread into a draft does not compile', () => {
  const product = {} as Product;
  // @ts-expect-error id comes along
  client.products.create({ ...product, name: 'Copy' });
  // @ts-expect-error id comes along
  const draft: ProductDraft = { ...product };
  // @ts-expect-error a product is not a patch
  client.products.update('1', product);
  const { id: _id, createdAt: _createdAt, updatedAt: _updatedAt, ...fields } = product;
  client.products.create(fields);
  expectTypeOf(draft).toEqualTypeOf<ProductDraft>();
});

test('a misspelt field does not compile', () => {
  // @ts-expect-error salesPrice is not a field
  client.products.create({ salesPrice: '1.0000' });
  // @ts-expect-error updated_since is not a filter
  client.accounts.list({ updated_since: '2026-01-31' });
  // @ts-expect-error greaterThan is not a bound
  client.accounts.list({ id: { greaterThan: '1' } });
  // @ts-expect-error timeout is not an option
  client.accounts.get('1', { timeout: 5 });
  // @ts-expect-error baseURL is not an option
  createClient({ baseURL: 'https://x.example' });
  // @ts-expect-error acounts is not a collection
  client.acounts;
});

test('a write on a read-only collection does not compile', () => {
  // @ts-expect-error accounts are read-only
  client.accounts.create({});
  // @ts-expect-error a collection that is not known is read-only
  client.collection('invoices').create({});
  type Writable = {
    [Name in CollectionName]: 'create' extends keyof CollectionOf<Name> ? Name : never;
  }[CollectionName];
  expectTypeOf<Writable>().toEqualTypeOf<'products'>();
});

test('what is fixed cannot be changed', () => {
  // @ts-expect-error the key belongs to the transport
  client.withOptions({ apiKey: 'other' });
  // @ts-expect-error the address belongs to the transport
  client.withOptions({ baseUrl: 'https://other.example' });
  // @ts-expect-error read-only
  client.accounts = client.boms;
});

test('conditions of a fault are an object, and rules of a faulty fetch a list', () => {
  const { faults } = createSandbox();
  const fault: Fault = { kind: 'stall' };
  faults.add(fault, { method: 'POST', times: undefined });
  // @ts-expect-error A function is the condition `when`.
  faults.add(fault, () => true);
  // @ts-expect-error
  faultyFetch(fetch, { fault });
});

test('a connector has collections, run and records, or writes', () => {
  const run = ({ signal }: { readonly signal: AbortSignal }) => signal.aborted;
  const records = () => [];
  connectorTests({ collections: ['accounts'], run, records, reset: undefined });
  connectorTests({ writes: { run: ({ products }) => products.length } });
  connectorTests({ collections: ['accounts'], run, records, writes: { run } });
  // @ts-expect-error
  connectorTests({ run, records });
  // @ts-expect-error
  connectorTests({ collections: ['accounts'], records });
  // @ts-expect-error
  connectorTests({ collections: ['acounts'], run, records });
  // @ts-expect-error
  connectorTests({});
});
