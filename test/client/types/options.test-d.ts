import {
  type AppInfo,
  type Client,
  type ClientOptions,
  type CreateOptions,
  createClient,
  type IdBounds,
  type Listeners,
  type ListOptions,
  type ListQuery,
  type MoneyOptions,
  memoryStore,
  type ProductDraft,
  type RawRequest,
  type RequestOptions,
  type RetryOptions,
  type RunOptions,
  type Store,
} from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import { connectorTests, createSandbox, faultyFetch, type SandboxOptions } from 'accounting-data-sdk/testing';
import Keyv from 'keyv';
import { assertType, expectTypeOf, test } from 'vitest';

const client = {} as Client;

/** The keys that may be left out but do not take `undefined`. */
type RefusesUndefined<T> = {
  [K in keyof T]-?: Record<never, never> extends Pick<T, K>
    ? { [P in K]: undefined } extends Pick<T, K>
      ? never
      : K
    : never;
}[keyof T];

test('every optional input takes undefined but those that the environment stands in for, under exactOptionalPropertyTypes', () => {
  expectTypeOf<RefusesUndefined<{ a?: string; b?: string | undefined; c: string }>>().toEqualTypeOf<'a'>();
  expectTypeOf<RefusesUndefined<ClientOptions>>().toEqualTypeOf<'apiKey' | 'baseUrl'>();
  expectTypeOf<RefusesUndefined<RetryOptions & Listeners & AppInfo>>().toBeNever();
  expectTypeOf<RefusesUndefined<ListOptions & ListQuery & IdBounds & RawRequest>>().toBeNever();
  expectTypeOf<RefusesUndefined<RequestOptions & CreateOptions & MoneyOptions & RunOptions>>().toBeNever();
  expectTypeOf<RefusesUndefined<Omit<ProductDraft, 'id' | 'createdAt' | 'updatedAt'>>>().toBeNever();
  client.collection('x', { schema: undefined });
  createClient({ schemas: { accounts: undefined } }).withOptions({ timeoutMs: undefined });
});

/** What is passed in place of an object of options. */
interface Wrong {
  signal: AbortSignal;
  date: Date;
  text: string;
  number: number;
  flag: boolean;
  list: readonly [];
}
/** Which of them a type of options takes. */
type Takes<Options> = { [K in keyof Wrong]: Wrong[K] extends Options ? K : never }[keyof Wrong];

test('anything but an object of options does not compile', () => {
  expectTypeOf<Takes<object>>().not.toBeNever();
  expectTypeOf<Takes<ClientOptions | RequestOptions | CreateOptions>>().toBeNever();
  expectTypeOf<Takes<ListQuery | ListOptions | MoneyOptions | SandboxOptions>>().toBeNever();
  expectTypeOf<Takes<ClientOptions['appInfo' | 'contentTypes'] | ListQuery['id']>>().toBeNever();
  // `false` is a value, `true` is none.
  expectTypeOf<Takes<ClientOptions['retry']>>().toBeNever();
  expectTypeOf<Takes<ClientOptions['on']>>().toEqualTypeOf<'list'>();
  expectTypeOf<() => void>().not.toExtend<ClientOptions['on']>();
});

test('a misspelt option, filter or collection does not compile', () => {
  // @ts-expect-error baseURL is not an option
  createClient({ baseURL: 'https://x.example' });
  // @ts-expect-error timeout is not an option
  client.accounts.get('1', { timeout: 5 });
  // @ts-expect-error updated_since is not a filter
  client.accounts.list({ updated_since: '2026-01-31' });
  // @ts-expect-error greaterThan is not a bound
  client.accounts.list({ id: { greaterThan: '1' } });
  // @ts-expect-error acounts is not a collection
  client.acounts;
  createClient({ pagination: { budgetLines: 'none', accounts: undefined } });
  // @ts-expect-error
  createClient({ pagination: { 'account-addresses': 'page' } });
  // @ts-expect-error
  client.withOptions({ pagination: { journals: 'none' } });
  // @ts-expect-error
  createSandbox({ records: { account: 5 } });
});

test('what is fixed cannot be changed', () => {
  // @ts-expect-error the key belongs to the transport
  client.withOptions({ apiKey: 'other' });
  // @ts-expect-error the address belongs to the transport
  client.withOptions({ baseUrl: 'https://other.example' });
  // @ts-expect-error read-only
  client.accounts = client.boms;
});

test('a list that is awaited does not compile, nor an array without a limit', async () => {
  // @ts-expect-error: "for await (const record of list), or await list.toArray({ limit })"
  await client.products.list();
  await client.products.list().toArray({ limit: 5 });
  await client.products.list().first();
  // @ts-expect-error: an array needs a limit
  await client.products.list().toArray();
});

test('conditions of a fault are an object, and rules of a faulty fetch a list', () => {
  const { faults } = createSandbox();
  faults.add({ kind: 'stall' }, { method: 'POST', times: undefined });
  // @ts-expect-error A function is the condition `when`.
  faults.add({ kind: 'stall' }, () => true);
  // @ts-expect-error
  faultyFetch(fetch, { fault: { kind: 'stall' } });
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

/** The overloads of ioredis 5. */
interface IoRedis {
  get(
    key: string | Buffer,
    callback?: (error?: Error | null, value?: string | null) => void,
  ): Promise<string | null>;
  set(key: string | Buffer, value: string | Buffer | number, get: 'GET'): Promise<string | null>;
  set(key: string | Buffer, value: string | Buffer | number, nx: 'NX'): Promise<'OK' | null>;
  set(
    key: string | Buffer,
    value: string | Buffer | number,
    callback?: (error?: Error | null, value?: 'OK') => void,
  ): Promise<'OK'>;
}

test('a Store can be a Map, a client of Keyv or Redis, or a store of the package', () => {
  assertType<Store>(new Map<string, string>());
  assertType<Store>(new Keyv<string>());
  assertType<Store>(null as unknown as IoRedis);
  assertType<Required<Store>>(memoryStore());
  assertType<Required<Store>>(fileStore('.'));
  // It may only read.
  assertType<Store>({ get: async (key: string) => (key === '' ? null : { v: 1 }), set: undefined });
  // @ts-expect-error: no get
  assertType<Store>({ set: () => true });
  // @ts-expect-error: a state is text or an object
  assertType<Store>(new Map<string, number>());
  // @ts-expect-error: keys are strings
  assertType<Store>(new Map<number, string>());
});
