import type { ApiKey } from 'accounting-data-sdk';
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
  for (const key of [
    's3cret key',
    's3cret\n',
    '\r\ns3cret',
    's3cret-schlüssel',
    's3cret\u0000',
    '',
    5,
    null,
  ]) {
    const error = thrown(() => scriptedClient(scriptedFetch(), { apiKey: key as ApiKey }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'apiKey' });
    expect(String(error)).toContain(
      key === ''
        ? 'is missing'
        : typeof key === 'string'
          ? 'stray newline'
          : 'must be a string or a function',
    );
    expect(String(error)).not.toContain('s3cret');
  }
});

test('a wrong API key is an UnauthenticatedError (401) of every call, ping included, which is sent once', async () => {
  const fetch = serviceFor('another');
  const client = scriptedClient(fetch, { apiKey: 'wrong' });
  const calls = [client.accounts.get('42'), client.ping(), client.products.create({ name: 'Desk' })];
  for (const call of calls) {
    expect(await caught(call)).toMatchObject({
      name: 'UnauthenticatedError',
      code: 'unauthenticated',
      status: 401,
      attempts: 1,
      outcome: 'rejected',
      retryable: false,
    });
  }
  expect(fetch.requests).toHaveLength(calls.length);
});

test('an error shows neither key, even if the path is the one that was fetched after a 401', async () => {
  const keys = ['first-key-0001', 'second-key-0002'];
  const fetch = scriptedFetch(problemResponse(401), problemResponse(404));
  const listener = vi.fn();
  const client = scriptedClient(fetch, { apiKey: () => keys.shift() ?? '', on: { request: listener } });
  const error = await caught(client.accounts.get('second-key-0002'));
  expect(error).toMatchObject({ code: 'not_found', path: '/accounts/[redacted]' });
  expect(String(error)).not.toContain('second-key');
});

test('after a 401 another key is tried, with the same Idempotency-Key, and no attempt is counted', async () => {
  const fetch = serviceFor('new');
  const keys = ['old', 'new'];
  const client = scriptedClient(fetch, { apiKey: () => keys.shift() ?? 'new', retry: { maxAttempts: 1 } });
  const attempts: number[] = [];
  const created = await client.products.create(
    { name: 'Desk' },
    { onResponse: (meta) => attempts.push(meta.attempts) },
  );

  expect(created.id).toBe('42');
  expect(attempts).toEqual([1]);
  expect(fetch.requests.map(({ headers }) => headers.get('x-auth-token'))).toEqual(['old', 'new']);
  expect(new Set(fetch.requests.map(({ headers }) => headers.get('idempotency-key'))).size).toBe(1);
  expect(new Set(fetch.requests.map(({ init }) => init.body)).size).toBe(1);
});

test('a key function that returns the same key again after a 401 does not cause another request', async () => {
  const fetch = serviceFor('another');
  const apiKey = vi.fn(() => 'old');
  const error = await caught(scriptedClient(fetch, { apiKey }).accounts.get('42'));
  expect(error).toMatchObject({ code: 'unauthenticated', attempts: 1 });
  expect(fetch.requests).toHaveLength(1);
  expect(apiKey).toHaveBeenCalledTimes(2);
});

test('only one other key is tried in a call', async () => {
  let n = 0;
  const fetch = serviceFor('never');
  const error = await caught(scriptedClient(fetch, { apiKey: () => `key-${++n}` }).accounts.get('42'));
  expect(error).toMatchObject({ code: 'unauthenticated', attempts: 1 });
  expect(fetch.requests).toHaveLength(2);
});

test('a key function is called once for a call and once after a 401, however often the call is retried', async () => {
  const keys = ['old', 'new', 'unwanted'];
  const fetch = scriptedFetch(
    networkError('ECONNRESET'),
    problemResponse(401),
    problemResponse(503),
    jsonResponse({ id: '42' }),
  );
  await scriptedClient(fetch, { apiKey: () => keys.shift() ?? '' }).accounts.get('42');
  expect(fetch.requests.map(({ headers }) => headers.get('x-auth-token'))).toEqual([
    'old',
    'old',
    'new',
    'new',
  ]);
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

test('an apiKey function that throws is the cause, without what may be a key, and nothing is sent', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '42' }));
  const apiKey = () => {
    throw new Error('vault says s3cret');
  };
  const error = await caught(scriptedClient(fetch, { apiKey }).accounts.get('42'));
  expect(error).toMatchObject({
    code: 'invalid_input',
    argument: 'apiKey',
    message: expect.stringContaining('vault says [redacted]'),
    outcome: 'not_sent',
    attempts: 0,
  });
  expect(String(error)).not.toContain('s3cret');
  expect((error as Error).cause).toMatchObject({ name: 'Error', message: 'vault says [redacted]' });
  expect(fetch.requests).toHaveLength(0);
});

test('a call throws the 401 if the key function throws after it, and the next call uses it again', async () => {
  const down = () => {
    throw new Error('vault is down');
  };
  const keys: (() => string)[] = [() => 'old', down, () => 'old', () => 'new'];
  const fetch = serviceFor('new');
  const client = scriptedClient(fetch, { apiKey: () => keys.shift()?.() ?? 'new' });
  const rejected = { code: 'unauthenticated', outcome: 'rejected', attempts: 1 };
  expect(await caught(client.accounts.get('42'))).toMatchObject(rejected);
  expect(fetch.requests).toHaveLength(1);
  expect(await client.accounts.get('42')).toEqual({ id: '42' });
});

test('a key function that never returns ends the call after timeoutMs, is called once, and nothing is sent', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
  const fetch = scriptedFetch(jsonResponse({ id: '42' }));
  const apiKey = vi.fn(() => new Promise<string>(() => {}));
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
  const none = Number.POSITIVE_INFINITY;
  const keys: (() => string | Promise<string>)[] = [
    () => 'old',
    () => new Promise<string>(() => {}),
    () => 'old',
    () => 'new',
  ];
  const client = scriptedClient(serviceFor('new'), {
    apiKey: () => keys.shift()?.() ?? 'new',
    timeoutMs: none,
    deadlineMs: none,
    rateLimiter: false,
  });
  const hung = caught(client.accounts.get('42'));
  await settle();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await client.accounts.get('42')).toEqual({ id: '42' });
  await vi.advanceTimersByTimeAsync(25_000);
  expect(await hung).toMatchObject({ code: 'unauthenticated' });
  vi.useRealTimers();
});
