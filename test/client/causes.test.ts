import { inspect } from 'node:util';
import {
  type ClientOptions,
  createClient,
  type FetchFunction,
  type Logger,
  memoryStore,
  sync,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

const KEY = 'secret-key-of-the-company';

/** What the caller's own code throws: it holds the request, and quotes the key. */
function failed(what: string): Error {
  const cause = Object.assign(new Error(`socket of ${KEY} closed`), { code: 'E_SOCKET' });
  const error = Object.assign(new RangeError(`${what} failed with ${KEY}`, { cause }), { code: 'E_OWN' });
  return Object.assign(error, { request: { headers: { 'x-auth-token': KEY } } });
}

/** A schema of the caller whose `validate` throws. */
const throwing = (error: (record: unknown) => Error) =>
  ({
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (record: unknown): never => {
        throw error(record);
      },
    },
  }) as const;

const printed = (error: unknown) => `${inspect(error, { depth: 10 })}\n${JSON.stringify(error)}`;

/** A client with this `fetch`. */
const clientThat = (fetch: FetchFunction, options: ClientOptions = {}) =>
  scriptedClient(fetch, { apiKey: KEY, retry: { maxAttempts: 1 }, ...options });

test('what the caller’s fetch throws is the cause, without the key', async () => {
  const error = await caught(clientThat(() => Promise.reject(failed('the pool'))).accounts.get('1'));
  expect(error).toMatchObject({
    code: 'connection_failed',
    cause: { name: 'RangeError', message: 'the pool failed with [redacted]', code: 'E_OWN' },
  });
  expect(printed(error)).toContain('socket of [redacted] closed');
  expect(printed(error)).not.toContain(KEY);
});

test('four causes of a chain are printed, with codes that are numbers', async () => {
  const chain = (level: number): Error => {
    const cause = level < 9 ? { cause: chain(level + 1) } : undefined;
    return Object.assign(new Error(`level ${level}`, cause), { code: level === 2 ? {} : level });
  };
  const client = clientThat(() => Promise.reject(chain(1)));
  const error = await caught(client.accounts.get('1'));
  expect(new Set(printed(error).match(/level \d/g))).toEqual(
    new Set(['level 1', 'level 2', 'level 3', 'level 4']),
  );
  const { cause } = JSON.parse(JSON.stringify(error));
  expect([cause.code, 'code' in cause.cause, cause.cause.cause.code]).toEqual([1, false, 3]);
});

test('what the caller’s schema throws is the cause itself, and the message names the schema', async () => {
  const thrown = new TypeError('currency table is not loaded');
  const schema = throwing(() => thrown);
  const client = clientThat(scriptedFetch(jsonResponse({ id: '1' })), { schemas: { accounts: schema } });
  for (const call of [client.accounts.get('1'), client.request({ path: '/accounts/1', schema })]) {
    const error = await caught(call);
    expect(error).toMatchObject({ code: 'unexpected_response', reason: 'wrong_shape' });
    expect((error as Error).message).toContain('the schema that you passed');
    expect((error as Error).cause).toBe(thrown);
    expect(printed(error)).toContain('currency table is not loaded');
  }
});

test('what the caller’s schema throws is a copy without the key if it quotes a record that echoes the key', async () => {
  const schema = throwing(
    (record) => new Error('no currency', { cause: new TypeError(`in ${JSON.stringify(record)}`) }),
  );
  const fetch = scriptedFetch(jsonResponse({ id: '1', name: KEY }));
  const client = clientThat(fetch, { schemas: { accounts: schema } });
  const error = await caught(client.accounts.get('1'));
  expect((error as Error).cause).toMatchObject({
    message: 'no currency',
    cause: { name: 'TypeError', message: 'in {"id":"1","name":"[redacted]"}' },
  });
  expect(printed(error)).not.toContain(KEY);
});

test('a store that throws an error of this package does not stop the tenant as a revoked key does', async () => {
  await using sandbox = createSandbox({ records: { accounts: 1 } });
  await using other = createSandbox();
  const elsewhere = createClient({ ...other.clientOptions, apiKey: KEY });
  const rejected = await caught(elsewhere.accounts.get('1'));
  const store = { get: () => Promise.reject(rejected), set: () => undefined };
  const options = { store, tenant: 'acme', collections: ['accounts', 'budgets'], onBatch: () => {} } as const;
  const error = await caught(sync(createClient(sandbox.clientOptions), options));
  expect(error).toMatchObject({
    code: 'sync_failed',
    errors: ['accounts', 'budgets'].map((collection) => ({
      collection,
      error: { code: 'checkpoint', cause: { code: 'unauthenticated' } },
    })),
  });
});

test('a listener that throws or rejects changes nothing, not even for the next one, and the log names it and the error', async () => {
  await using sandbox = createSandbox({ records: { accounts: 1 } });
  sandbox.faults.next({ kind: 'status', status: 429 });
  const fails = (name: string) => () => {
    throw Object.assign(new RangeError(`bug in ${name}`), { code: 'E_BUG' });
  };
  const rejects = (name: string) => async () => fails(name)();
  const lines: string[] = [];
  const fields: unknown[] = [];
  const [request, end] = [vi.fn(), vi.fn()];
  const client = createClient({
    ...sandbox.clientOptions,
    rateLimiter: false,
    retry: { baseDelayMs: 1 },
    on: [
      { request: fails('request'), end: rejects('end') as () => void },
      { request, end },
    ],
    logger: {
      debug: () => {},
      info: () => {},
      // As pino has it: the fields first.
      warn: (first: unknown, line?: string) => {
        fields.push(first);
        lines.push(String(line));
      },
      bindings: () => ({}),
    } as Logger,
  });
  const options = { onResponse: rejects('onResponse') as () => void };
  await expect(client.accounts.get('1', options)).resolves.toMatchObject({ id: '1' });
  expect([request, end].map(({ mock }) => mock.calls.length)).toEqual([2, 1]);
  await sync(client, {
    store: memoryStore(),
    tenant: 'acme',
    collections: ['accounts'],
    onBatch: () => {},
    onProgress: fails('onProgress'),
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(new Set(lines)).toEqual(
    new Set([
      'accounting-data-sdk: the listener on.request threw RangeError: bug in request',
      'accounting-data-sdk: the listener on.end threw RangeError: bug in end',
      'accounting-data-sdk: onResponse threw RangeError: bug in onResponse',
      'accounting-data-sdk: onProgress threw RangeError: bug in onProgress',
    ]),
  );
  expect(fields).toContainEqual({
    cause: { name: 'RangeError', message: 'bug in onResponse', code: 'E_BUG' },
  });
});
