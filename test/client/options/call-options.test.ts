import { type ClientOptions, createClient, type RequestOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught, thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const client = () => scriptedClient(scriptedFetch(jsonResponse({ id: '1' })));

test.each<[options: unknown, argument: string]>([
  [{ timeoutMs: 0 }, 'timeoutMs'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs'],
  [{ timeoutMs: '5' }, 'timeoutMs'],
  [{ timeoutMs: null }, 'timeoutMs'],
  [{ deadlineMs: 0 }, 'deadlineMs'],
  [{ maxWaitMs: -1 }, 'maxWaitMs'],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts'],
  [{ retry: { maxAttempts: 1.5 } }, 'retry.maxAttempts'],
  [{ retry: { maxAttempts: Number.POSITIVE_INFINITY } }, 'retry.maxAttempts'],
  [{ retry: { baseDelayMs: -1 } }, 'retry.baseDelayMs'],
  [{ retry: { maxDelayMs: Number.NaN } }, 'retry.maxDelayMs'],
  [{ retry: { inProgressTypes: 'still_running' } }, 'retry.inProgressTypes'],
  [{ retry: { inProgressTypes: ['still_running', ''] } }, 'retry.inProgressTypes'],
  [{ retry: { inProgressTypes: [409] } }, 'retry.inProgressTypes'],
  [{ retry: 3 }, 'retry'],
  [{ retry: null }, 'retry'],
  [{ retry: [3] }, 'retry'],
  [null, 'options'],
  ['fast', 'options'],
])('the options %j are rejected by client and call: %s', async (options, argument) => {
  const rejection = { code: 'invalid_input', argument };
  const create = () =>
    createClient({ baseUrl: 'https://books.example', apiKey: 'k', ...(options as ClientOptions) });
  if (typeof options === 'object' && options !== null) expect(thrown(create)).toMatchObject(rejection);
  expect(await caught(client().accounts.get('1', options as RequestOptions))).toMatchObject(rejection);
});

test.each<RequestOptions>([
  { timeoutMs: 1_000, deadlineMs: Number.POSITIVE_INFINITY, maxWaitMs: 0 },
  { timeoutMs: Number.POSITIVE_INFINITY, retry: { baseDelayMs: Number.POSITIVE_INFINITY, maxDelayMs: 0 } },
  { retry: { baseDelayMs: 0, maxDelayMs: Number.POSITIVE_INFINITY, inProgressTypes: [] } },
  { timeoutMs: undefined, retry: undefined, signal: undefined, headers: undefined, onResponse: undefined },
  { signal: new AbortController().signal },
])('the options %j are accepted', async (options) => {
  expect(await client().accounts.get('1', options)).toEqual({ id: '1' });
});

test.each(['stop', null, {}])('the signal %j is rejected', async (signal) => {
  expect(await caught(client().accounts.get('1', { signal } as object))).toMatchObject({
    code: 'invalid_input',
    argument: 'signal',
  });
});
