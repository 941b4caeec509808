// Options that are none: each line compiled once, and most of them were ignored at run time.

import {
  type ClientOptions,
  type CreateOptions,
  createClient,
  type ListOptions,
  type ListQuery,
  type MoneyOptions,
  type RequestOptions,
} from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expectTypeOf, test } from 'vitest';

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
  type Parts = ClientOptions['appInfo' | 'contentTypes'] | ListQuery['id'];
  expectTypeOf<Takes<Parts>>().toBeNever();
  // `false` is a value, `true` is none.
  expectTypeOf<Takes<ClientOptions['retry']>>().toBeNever();
  expectTypeOf<Takes<ClientOptions['on']>>().toEqualTypeOf<'list'>();
  expectTypeOf<() => void>().not.toExtend<ClientOptions['on']>();
});

const client = createClient();

test('a list that is awaited does not compile', async () => {
  // @ts-expect-error: "for await (const record of list), or await list.toArray({ limit })"
  await client.products.list();
  await client.products.list().toArray({ limit: 5 });
  await client.products.list().first();
  // @ts-expect-error: an array needs a limit
  await client.products.list().toArray();
});

test('a table by collection does not compile if it names no collection of the client', () => {
  createClient({ pagination: { budgetLines: 'none', accounts: undefined } });
  // @ts-expect-error
  createClient({ pagination: { account: 'page' } });
  // @ts-expect-error
  createClient({ pagination: { 'account-addresses': 'page' } });
  // @ts-expect-error
  createClient().withOptions({ pagination: { invoices: 'none' } });
  // @ts-expect-error
  createSandbox({ records: { account: 5 } });
  // @ts-expect-error
  createClient({ schemas: { account: undefined } });
});
