import { type ClientOptions, createClient, type RequestOptions } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught, thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const client = () => scriptedClient(scriptedFetch(jsonResponse({ id: '1' })));

const AT_LEAST_ONE = 'must be a number of milliseconds, at least 1';
const AT_LEAST_ZERO = 'must be a number of milliseconds, at least 0';
const WHOLE = 'must be a whole number of at least 1';
const NAMES = 'must be an array of strings, none of them empty';
const OBJECT = 'must be an object';

test.each<[options: unknown, argument: string, problem: string]>([
  [{ timeoutMs: 0 }, 'timeoutMs', AT_LEAST_ONE],
  [{ timeoutMs: Number.NaN }, 'timeoutMs', AT_LEAST_ONE],
  [{ timeoutMs: '5' }, 'timeoutMs', AT_LEAST_ONE],
  [{ timeoutMs: null }, 'timeoutMs', AT_LEAST_ONE],
  [{ deadlineMs: 0 }, 'deadlineMs', AT_LEAST_ONE],
  [{ maxWaitMs: -1 }, 'maxWaitMs', AT_LEAST_ZERO],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts', WHOLE],
  [{ retry: { maxAttempts: 1.5 } }, 'retry.maxAttempts', WHOLE],
  [{ retry: { maxAttempts: Number.POSITIVE_INFINITY } }, 'retry.maxAttempts', WHOLE],
  [{ retry: { baseDelayMs: -1 } }, 'retry.baseDelayMs', AT_LEAST_ZERO],
  [{ retry: { maxDelayMs: Number.NaN } }, 'retry.maxDelayMs', AT_LEAST_ZERO],
  [{ retry: { inProgressTypes: 'still_running' } }, 'retry.inProgressTypes', NAMES],
  [{ retry: { inProgressTypes: ['still_running', ''] } }, 'retry.inProgressTypes', NAMES],
  [{ retry: { inProgressTypes: [409] } }, 'retry.inProgressTypes', NAMES],
  [{ retry: 3 }, 'retry', OBJECT],
  [{ retry: null }, 'retry', OBJECT],
  [{ retry: [3] }, 'retry', OBJECT],
  [null, 'options', OBJECT],
  ['fast', 'options', OBJECT],
])('the options %j are rejected by client and call: %s %s', async (options, argument, problem) => {
  const rejection = { code: 'invalid_input', message: `${argument}: ${problem}.`, argument };
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
    message: 'signal: must be an AbortSignal.',
  });
});
