import { inspect } from 'node:util';
import type { ClientOptions, FetchFunction } from 'accounting-data-sdk';
import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

const KEY = 'secret-key-of-the-company';

/** A schema of the caller whose `validate` throws. */
const throwing = (error: (record: unknown) => unknown) =>
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
  const text = throwing((record) => `in ${JSON.stringify(record)}`);
  const ofText = await caught(clientThat(fetch, { schemas: { accounts: text } }).accounts.get('1'));
  expect((ofText as Error).cause).toBe('in {"id":"1","name":"[redacted]"}');
});

test('a listener that throws or rejects changes nothing, not even for the next one, and the log names it and the error', async () => {
  const fails = (name: string) => () => {
    throw new RangeError(`bug in ${name}`);
  };
  const [request, warn] = [vi.fn(), vi.fn()];
  const client = clientThat(scriptedFetch(jsonResponse({ id: '1' })), {
    on: [{ request: fails('request') }, { request, end: (async () => fails('end')()) as () => void }],
    logger: { debug: fails('logger'), info: fails('logger'), warn },
  });
  const options = { onResponse: (async () => fails('onResponse')()) as () => void };
  await expect(client.accounts.get('1', options)).resolves.toEqual({ id: '1' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(request).toHaveBeenCalledTimes(1);
  expect(new Set(warn.mock.calls.map(([line]) => line))).toEqual(
    new Set(
      ['the listener on.request', 'the listener on.end', 'onResponse', 'the logger'].map(
        (who) => `accounting-data-sdk: ${who} threw RangeError: bug in ${who.replace(/^.*[. ]/, '')}`,
      ),
    ),
  );
});
