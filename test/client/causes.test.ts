import { inspect } from 'node:util';
import { type ClientOptions, createClient } from 'accounting-data-sdk';
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
