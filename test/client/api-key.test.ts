import { expect, test, vi } from 'vitest';
import { caught, thrown } from '../support/caught.ts';
import {
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';
import { settle } from '../support/scripted-server.ts';

/** A service that accepts one key. */
const serviceFor = (good: string) =>
  scriptedFetch(({ headers }) =>
    headers.get('x-auth-token') === good
      ? jsonResponse({ id: '42' })
      : problemResponse(401, { type: 'unauthenticated' }),
  );

test('an invalid key is rejected at once and not quoted', () => {
  for (const [apiKey, words] of [
    ['s3cret key', 'stray newline'],
    ['s3cret\n', 'stray newline'],
    ['s3cret-schlüssel', 'stray newline'],
    ['', 'is missing'],
    [5 as never, 'must be a string or a function'],
  ] as const) {
    const error = thrown(() => scriptedClient(scriptedFetch(), { apiKey }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'apiKey' });
    expect(String(error)).toContain(words);
    expect(String(error)).not.toContain('s3cret');
  }
});

test('a wrong API key is an UnauthenticatedError (401) of every call, ping included, which is sent once', async () => {
  const fetch = serviceFor('another');
  const client = scriptedClient(fetch, { apiKey: 'wrong' });
  const calls = [client.accounts.get('42'), client.ping(), client.products.create({ name: 'Desk' })];
  for (const call of calls) {
    const rejected = { name: 'UnauthenticatedError', status: 401, attempts: 1, outcome: 'rejected' };
    expect(await caught(call)).toMatchObject({ ...rejected, retryable: false });
  }
  expect(fetch.requests).toHaveLength(calls.length);
});

test('an error shows neither key, even if the path is the one that was fetched after a 401', async () => {
  const fetch = scriptedFetch(problemResponse(401), problemResponse(404));
  const client = scriptedClient(fetch, { apiKey: keysOf('first-key-0001', 'second-key-0002') });
  const error = await caught(client.accounts.get('second-key-0002'));
  expect(error).toMatchObject({ code: 'not_found', path: '/accounts/[redacted]' });
  expect(String(error)).not.toContain('second-key');
});

/** What a key function returns, call after call. A function throws, or never returns. */
const keysOf =
  (...keys: (string | (() => string | Promise<string>))[]) =>
  () => {
    const key = keys.shift() ?? 'unwanted';
    return typeof key === 'string' ? key : key();
  };
const down = () => {
  throw new Error('vault is down');
};
const never = () => new Promise<string>(() => {});

test.each([
  ['another key', ['old', 'new'], ['old', 'new'], undefined],
  ['the same key', ['old', 'old'], ['old'], 'unauthenticated'],
  ['another wrong key', ['old', 'other', 'new'], ['old', 'other'], 'unauthenticated'],
  ['an error', ['old', down], ['old'], 'unauthenticated'],
] as const)(
  'after a 401 a key function that returns %s decides what is sent, in the same attempt',
  async (...row) => {
    const [, keys, sent, code] = row;
    const fetch = serviceFor('new');
    const client = scriptedClient(fetch, { apiKey: keysOf(...keys), retry: { maxAttempts: 1 } });
    const onResponse = vi.fn();
    const error = await client.products.create({ name: 'Desk' }, { onResponse }).catch((reason) => reason);
    expect(error.code).toBe(code);
    expect(onResponse).toHaveBeenCalledWith(expect.objectContaining({ attempts: 1 }));
    expect(fetch.requests.map(({ headers }) => headers.get('x-auth-token'))).toEqual(sent);
    const same = fetch.requests.map(({ headers, init }) => `${headers.get('idempotency-key')} ${init.body}`);
    expect(new Set(same).size).toBe(1);
  },
);

test('a key function is called once for a call and once after a 401, however often the call is retried', async () => {
  const responses = [networkError('ECONNRESET'), problemResponse(401), problemResponse(503)];
  const fetch = scriptedFetch(...responses, jsonResponse({ id: '42' }));
  await scriptedClient(fetch, { apiKey: keysOf('old', 'new') }).accounts.get('42');
  const sent = fetch.requests.map(({ headers }) => headers.get('x-auth-token'));
  expect(sent).toEqual(['old', 'old', 'new', 'new']);
});

test('calls that get a 401 together share one call of the key function', async () => {
  let current = 'old';
  let asked = 0;
  const flights: ((key: string) => void)[] = [];
  const apiKey = () => {
    asked += 1;
    return current === 'old' && asked > 3 ? new Promise<string>((resolve) => flights.push(resolve)) : current;
  };
  const client = scriptedClient(serviceFor('new'), { apiKey, rateLimiter: false });
  const calls = [1, 2, 3].map(() => client.accounts.get('42'));
  await settle();
  expect(asked).toBe(4);
  current = 'new';
  for (const give of flights) give('new');
  expect(await Promise.all(calls)).toHaveLength(3);
  expect(asked).toBe(4);
});

test('a key that is rejected a moment after it replaced another one is replaced too', async () => {
  let accepted = 'second';
  const fetch = scriptedFetch(({ headers }) =>
    headers.get('x-auth-token') === accepted
      ? jsonResponse({ id: '42' })
      : problemResponse(401, { type: 'unauthenticated' }),
  );
  const client = scriptedClient(fetch, { apiKey: keysOf('first', 'second', 'second', 'third') });
  await client.accounts.get('42');
  accepted = 'third';
  expect(await client.accounts.get('42')).toEqual({ id: '42' });
});

test('an apiKey function that throws is the cause, without what may be a key, and nothing is sent', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '42' }));
  const apiKey = () => Promise.reject(new Error('vault says s3cret'));
  const [error, end] = [vi.fn(), vi.fn()];
  const failure = await caught(scriptedClient(fetch, { apiKey, on: { error, end } }).accounts.get('42'));
  expect(failure).toMatchObject({
    code: 'invalid_input',
    argument: 'apiKey',
    outcome: 'not_sent',
    attempts: 0,
  });
  expect(String(failure)).toContain('vault says [redacted]');
  expect((failure as Error).cause).toMatchObject({ name: 'Error', message: 'vault says [redacted]' });
  expect(error).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ error: failure }));
  expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ result: 'error' }));
  expect(fetch.requests).toHaveLength(0);
});

test('a key function that never returns ends the call after timeoutMs, is called once, and nothing is sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  const fetch = scriptedFetch(jsonResponse({ id: '42' }));
  const apiKey = vi.fn(never);
  const unlimited = { deadlineMs: Number.POSITIVE_INFINITY };
  const call = caught(scriptedClient(fetch, { apiKey, timeoutMs: 1_000, ...unlimited }).products.create({}));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', outcome: 'not_sent', attempts: 0 });
  expect(apiKey).toHaveBeenCalledTimes(1);
  expect(fetch.requests).toHaveLength(0);
  vi.useRealTimers();
});

test('a key refresh that never returns does not block later calls, even without timeouts', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  const none = { timeoutMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY };
  const apiKey = keysOf('old', never, 'old', 'new');
  const client = scriptedClient(serviceFor('new'), { apiKey, ...none, rateLimiter: false });
  const hung = caught(client.accounts.get('42'));
  await settle();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await client.accounts.get('42')).toEqual({ id: '42' });
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await hung).toMatchObject({ code: 'unauthenticated' });
  vi.useRealTimers();
});
