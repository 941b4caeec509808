import { type ClientOptions, createClient, type RequestOptions } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught, thrown } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';

const needed = { baseUrl: 'https://books.example', apiKey: 'k' };

test('base URL and key come from the environment if they are not passed', async () => {
  vi.stubEnv('ACCOUNTING_BASE_URL', 'https://env.example/books');
  vi.stubEnv('ACCOUNTING_API_KEY', 'env-key');
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  await createClient({ fetch }).accounts.get('1');
  await createClient({ fetch, ...needed }).accounts.get('1');
  expect(fetch.requests.map(({ url, headers }) => [url.href, headers.get('x-auth-token')])).toEqual([
    ['https://env.example/books/api/public/v1/accounts/1', 'env-key'],
    ['https://books.example/api/public/v1/accounts/1', 'k'],
  ]);
});

test('what is missing is named, with the variable that would give it', () => {
  vi.stubEnv('ACCOUNTING_BASE_URL', '');
  vi.stubEnv('ACCOUNTING_API_KEY', '');
  expect(String(thrown(() => createClient()))).toContain('pass it or set ACCOUNTING_BASE_URL');
  expect(String(thrown(() => createClient({ baseUrl: needed.baseUrl })))).toContain(
    'pass it or set ACCOUNTING_API_KEY',
  );
});

test('an environment that may not be read counts as empty', () => {
  vi.stubGlobal('process', {
    get env(): never {
      throw new Error('denied');
    },
  });
  expect(thrown(() => createClient())).toMatchObject({ code: 'invalid_input', argument: 'baseUrl' });
});

test.each<[string, object]>([
  ['baseUrl', { baseUrl: 7 }],
  ['baseUrl', { baseUrl: 'http://books.example' }],
  ['maxBodyBytes', { maxBodyBytes: 0 }],
  ['maxBodyBytes', { maxBodyBytes: Number.NaN }],
  ['maxBodyBytes', { maxBodyBytes: '16' }],
  ['appInfo.name', { appInfo: { name: 'web shop' } }],
  ['appInfo.name', { appInfo: { name: '' } }],
  ['appInfo.version', { appInfo: { name: 'shop', version: 'x\n' } }],
  ['validation', { validation: 'warn' }],
  ['schemas.accounts', { schemas: { accounts: {} } }],
  ['schemas.accounts', { schemas: { accounts: null } }],
  ['schemas.acounts', { schemas: { acounts: z.object({ id: z.string() }) } }],
  ['rateLimiter', { rateLimiter: 'none' }],
  ['fetch', { fetch: 'undici' }],
  ['appInfo.name', { appInfo: {} }],
  ['appInfo.version', { appInfo: { name: 'shop', version: null } }],
  ['allowInsecure', { allowInsecure: 'yes' }],
  ['logger', { logger: { log() {} } }],
  ['on.request', { on: { request: 'console' } }],
  ['on[1].retry', { on: [{}, { retry: null }] }],
  ['pagination', { pagination: 'x' }],
  ['prefetch', { prefetch: -1 }],
  ['afterLastPage', { afterLastPage: 'x' }],
  ['pageParameter', { pageParameter: '' }],
])('createClient rejects %s: %j', (argument, options) => {
  const error = thrown(() => createClient({ ...needed, ...options } as ClientOptions));
  expect(error).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
});

test.each([
  [{ validation: 'warn' }, "validation: must be 'throw', 'report' or 'off'"],
  [{ prefetch: -1 }, 'prefetch: must be a whole number of at least 0'],
])('the error of the option %j says what is allowed: %s', (options, words) => {
  const create = () => createClient({ ...needed, ...options } as ClientOptions);
  expect(create).toThrow(words);
});

test('the error of a path that leaves the API says where it must stay', async () => {
  const leaving = caught(anyClient().request({ path: '/boms/../../admin' }));
  expect(((await leaving) as Error).message).toContain('must stay below /api/public/v1');
});

const anyClient = () => scriptedClient(scriptedFetch(jsonResponse({ id: '1' })));

test.each<[options: unknown, argument: string]>([
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs'],
  [{ timeoutMs: '5' }, 'timeoutMs'],
  [{ deadlineMs: 0 }, 'deadlineMs'],
  [{ maxWaitMs: -1 }, 'maxWaitMs'],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts'],
  [{ retry: { maxAttempts: 1.5 } }, 'retry.maxAttempts'],
  [{ retry: { maxAttempts: Number.POSITIVE_INFINITY } }, 'retry.maxAttempts'],
  [{ retry: { baseDelayMs: -1 } }, 'retry.baseDelayMs'],
  [{ retry: { maxDelayMs: Number.NaN } }, 'retry.maxDelayMs'],
  [{ retry: 3 }, 'retry'],
  [{ retry: [3] }, 'retry'],
  [null, 'options'],
  ['fast', 'options'],
])('the options %j are rejected by client and call: %s', async (options, argument) => {
  const rejection = { code: 'invalid_input', argument };
  const create = () => createClient({ ...needed, ...(options as ClientOptions) });
  if (typeof options === 'object' && options !== null) expect(thrown(create)).toMatchObject(rejection);
  expect(await caught(anyClient().accounts.get('1', options as RequestOptions))).toMatchObject(rejection);
});

test.each<RequestOptions>([
  { timeoutMs: 1_000, deadlineMs: Number.POSITIVE_INFINITY, maxWaitMs: 0 },
  { timeoutMs: Number.POSITIVE_INFINITY, retry: { baseDelayMs: Number.POSITIVE_INFINITY, maxDelayMs: 0 } },
  { retry: { baseDelayMs: 0, maxDelayMs: Number.POSITIVE_INFINITY } },
  { timeoutMs: undefined, retry: undefined, signal: undefined, headers: undefined, onResponse: undefined },
  { signal: new AbortController().signal },
])('the options %j are accepted', async (options) => {
  expect(await anyClient().accounts.get('1', options)).toEqual({ id: '1' });
});

test.each(['stop', null, {}])('the signal %j is rejected', async (signal) => {
  expect(await caught(anyClient().accounts.get('1', { signal } as object))).toMatchObject({
    code: 'invalid_input',
    argument: 'signal',
  });
});

test('nothing is sent before the first call', () => {
  const fetch = scriptedFetch(jsonResponse({}));
  const apiKey = vi.fn(() => 'k');
  const client = scriptedClient(fetch, { apiKey });
  client.withOptions({ timeoutMs: 5 }).collection('x');
  expect(apiKey).not.toHaveBeenCalled();
  expect(fetch.requests).toHaveLength(0);
});

test('a client cannot be changed', () => {
  const client = anyClient() as unknown as Record<string, unknown>;
  expect(Object.isFrozen(client)).toBe(true);
  expect(() => {
    client.accounts = 1;
  }).toThrow(TypeError);
});

test('null for options is rejected', async () => {
  const none = null as never;
  const client = anyClient();
  for (const act of [
    () => createClient(none),
    () => client.withOptions(none),
    () => client.accounts.list({}, none),
    () => client.products.create({}, none),
    () => client.request(none),
    () => client.collection('invoices', none),
  ]) {
    expect(await caught(Promise.resolve().then<unknown>(act))).toMatchObject({ code: 'invalid_input' });
  }
});

test('withOptions keeps what it does not name and shares transport and schemas', async () => {
  const fetch = scriptedFetch(
    problemResponse(503),
    jsonResponse({ id: '1', n: 'x' }, 200, { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '8' }),
  );
  const schemas = { accounts: z.object({ id: z.string(), n: z.string().transform((n) => n.length) }) };
  const client = scriptedClient(fetch, { schemas, retry: { maxAttempts: 3, baseDelayMs: 0 } });
  const impatient = client.withOptions({ retry: { maxAttempts: 1 } });
  const patient = impatient.withOptions({ retry: { maxAttempts: 2 } });

  expect(await caught(impatient.accounts.get('1'))).toMatchObject({ status: 503, attempts: 1 });
  expect(await patient.accounts.get('1')).toEqual({ id: '1', n: 1 });
  expect(client.rateLimit).toMatchObject({ remaining: 8 });
  expect(patient.rateLimit).toBe(client.rateLimit);
});

test('withOptions changes how lists are paginated and records validated', async () => {
  const fetch = scriptedFetch(({ url }) =>
    jsonResponse(url.searchParams.get('_page') === '1' ? [{ id: '1', name: 7 }] : []),
  );
  const client = scriptedClient(fetch, { pagination: 'page' });
  expect(await caught(client.products.list().toArray({ limit: 9 }))).toMatchObject({ reason: 'wrong_shape' });
  expect(await client.withOptions({ validation: 'report' }).products.list().toArray({ limit: 9 })).toEqual(
    [],
  );
  expect(await client.withOptions({ validation: 'off' }).products.list().toArray({ limit: 9 })).toEqual([
    { id: '1', name: 7 },
  ]);
  expect(() => client.withOptions({ prefetch: -1 })).toThrow(
    expect.objectContaining({ argument: 'prefetch' }),
  );
  const keyset = client.withOptions({ pagination: 'keyset' });
  expect(() => keyset.accounts.list({ page: 2 })).toThrow(expect.objectContaining({ argument: 'page' }));
});
