import { inspect } from 'node:util';
import {
  type ClientOptions,
  changes,
  createClient,
  type Logger,
  memoryStore,
  reconcile,
  type SyncError,
  sync,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';

const KEY = 'secret-key-of-the-company';

/** What the caller's own code throws: it holds the request, and quotes the key. */
function failed(what: string): Error {
  const cause = Object.assign(new Error(`socket of ${KEY} closed`), { code: 'E_SOCKET' });
  const error = Object.assign(new RangeError(`${what} failed with ${KEY}`, { cause }), { code: 'E_OWN' });
  return Object.assign(error, { request: { headers: { 'x-auth-token': KEY } } });
}

const printed = (error: unknown) => `${inspect(error, { depth: 10 })}\n${JSON.stringify(error)}`;

test('what the caller’s fetch throws is the cause, without the key', async () => {
  const fetch: ClientOptions['fetch'] = async () => {
    throw failed('the pool');
  };
  const client = createClient({
    baseUrl: 'https://causes.example.com',
    apiKey: KEY,
    fetch,
    retry: { maxAttempts: 1 },
  });
  const error = await caught(client.accounts.get('1'));
  expect(error).toMatchObject({
    code: 'connection_failed',
    cause: { name: 'RangeError', message: 'the pool failed with [redacted]', code: 'E_OWN' },
  });
  expect(JSON.parse(JSON.stringify(error)).cause).toEqual({
    name: 'RangeError',
    message: 'the pool failed with [redacted]',
    code: 'E_OWN',
    cause: { name: 'Error', message: 'socket of [redacted] closed', code: 'E_SOCKET' },
  });
  expect(printed(error)).toContain('socket of [redacted] closed');
  expect(printed(error)).not.toContain(KEY);
});

test('what the caller’s apiKey function throws is the cause, without anything that looks like a key', async () => {
  await using sandbox = createSandbox();
  const key = sandbox.issueKey();
  let asked = 0;
  const client = createClient({
    ...sandbox.clientOptions,
    apiKey: () => {
      if (asked++ > 0) throw Object.assign(new Error(`the vault no longer has ${key}`), { code: 403 });
      return key;
    },
  });
  await client.accounts.find('1');
  const error = await caught(client.accounts.find('1'));
  expect(error).toMatchObject({
    code: 'invalid_input',
    argument: 'apiKey',
    cause: { message: 'the vault no longer has [redacted]', code: 403 },
  });
  expect(printed(error)).toContain('the vault no longer has');
  expect(printed(error)).not.toContain(key);
});

test('what the caller’s schema throws is the cause itself, and the message names the schema', async () => {
  await using sandbox = createSandbox({ records: { accounts: 1 } });
  const thrown = new TypeError('currency table is not loaded');
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (): never => {
        throw thrown;
      },
    },
  } as const;
  const client = createClient({ ...sandbox.clientOptions, schemas: { accounts: schema } });
  for (const call of [
    client.accounts.get('1'),
    client.accounts.list().toArray({ limit: 1 }),
    client.request({ path: '/accounts/1', schema }),
  ]) {
    const error = await caught(call);
    expect(error).toMatchObject({ code: 'unexpected_response', reason: 'wrong_shape' });
    expect((error as Error).message).toContain('the schema that you gave');
    expect((error as Error).cause).toBe(thrown);
    expect(printed(error)).toContain('currency table is not loaded');
  }
});

test('an error without a cause prints none', async () => {
  await using sandbox = createSandbox();
  const error = await caught(createClient(sandbox.clientOptions).accounts.get('1'));
  expect(JSON.parse(JSON.stringify(error))).not.toHaveProperty('cause');
  expect(inspect(error)).not.toContain('cause:');
});

test('the row that a schema cannot read says what the schema threw', async () => {
  await using sandbox = createSandbox({ records: { accounts: 2 } });
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'own',
      validate: (): never => {
        throw new TypeError('currency table is not loaded');
      },
    },
  } as const;
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const client = createClient({
    ...sandbox.clientOptions,
    schemas: { accounts: schema },
    validation: 'report',
    logger: { debug: () => {}, info: () => {}, warn: write },
  });
  const issues: string[] = [];
  for await (const page of client.accounts.list().pages()) {
    for (const row of page.invalid) issues.push(...row.issues);
  }
  const issue = 'the schema threw (TypeError: currency table is not loaded) instead of reporting an issue';
  expect(issues).toEqual([issue, issue]);
  expect(lines).toHaveLength(2);
  for (const line of lines) expect(line).toContain(issue);
});

test('what the caller’s store throws is the cause itself', async () => {
  await using sandbox = createSandbox({ records: { accounts: 1 } });
  const thrown = Object.assign(new RangeError('the pool is empty'), { code: 'E_POOL' });
  const store = { get: () => Promise.reject(thrown), set: () => undefined };
  const run = changes(createClient(sandbox.clientOptions).accounts, { store, tenant: 'acme' });
  const error = (await caught(run[Symbol.asyncIterator]().next() as Promise<unknown>)) as Error;
  expect(error).toMatchObject({ code: 'checkpoint', retryable: true });
  expect(error.cause).toBe(thrown);
  expect(error.message).toContain('the store threw RangeError: the pool is empty. ');
  expect(JSON.parse(JSON.stringify(error)).cause).toEqual({
    name: 'RangeError',
    message: 'the pool is empty',
    code: 'E_POOL',
  });
  expect(inspect(error)).toContain('E_POOL');
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

test('what onBatch throws is the error of the collection itself', async () => {
  await using sandbox = createSandbox({ records: { accounts: 1 } });
  const thrown = new RangeError('the table is locked');
  const onBatch = () => {
    throw thrown;
  };
  const options = { store: memoryStore(), tenant: 'acme', collections: ['accounts'], onBatch } as const;
  const error = (await caught(sync(createClient(sandbox.clientOptions), options))) as SyncError;
  expect(error.errors[0]?.error).toBe(thrown);
  expect(error.cause).toBe(thrown);
  expect(printed(error)).toContain('the table is locked');
});

test('a listener that throws changes nothing, and the log names the listener and the error', async () => {
  await using sandbox = createSandbox({ records: { accounts: 1 } });
  sandbox.faults.next({ kind: 'rate-limited', retryAfter: null });
  const fails = (name: string) => () => {
    throw Object.assign(new RangeError(`bug in ${name}`), { code: 'E_BUG' });
  };
  const rejects = (name: string) => async () => fails(name)();
  const lines: string[] = [];
  const fields: unknown[] = [];
  const client = createClient({
    ...sandbox.clientOptions,
    rateLimiter: false,
    on: { request: fails('request'), end: rejects('end') as () => void },
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
  const options = { onWait: fails('onWait'), onResponse: rejects('onResponse') as () => void };
  await expect(client.accounts.get('1', options)).resolves.toMatchObject({ id: '1' });
  await sync(client, {
    store: memoryStore(),
    tenant: 'acme',
    collections: ['accounts'],
    onBatch: () => {},
    onProgress: fails('onProgress'),
  });
  await reconcile(client.accounts, {
    localIds: () => ['1'],
    onDelete: () => {},
    onProgress: fails('onProgress of a reconcile'),
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(new Set(lines)).toEqual(
    new Set([
      'accounting-data-sdk: the listener on.request threw RangeError: bug in request',
      'accounting-data-sdk: the listener on.end threw RangeError: bug in end',
      'accounting-data-sdk: onWait threw RangeError: bug in onWait',
      'accounting-data-sdk: onResponse threw RangeError: bug in onResponse',
      'accounting-data-sdk: onProgress threw RangeError: bug in onProgress',
      'accounting-data-sdk: onProgress threw RangeError: bug in onProgress of a reconcile',
    ]),
  );
  expect(fields).toContainEqual({ cause: { name: 'RangeError', message: 'bug in onWait', code: 'E_BUG' } });
});
