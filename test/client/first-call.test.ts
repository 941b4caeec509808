import { createClient } from 'accounting-data-sdk';
import { afterEach, expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';
import { settle } from '../support/scripted-server.ts';
import { advance, stateOf, useVirtualClock } from '../support/virtual-clock.ts';

// The first call of a client loads ky, and its first invalid record Zod. Bundlers put them into files of their own, which
// can fail to load.

useVirtualClock();

/** What `import('ky')` comes to from here on. */
function kyIs(load: () => unknown): void {
  vi.doMock('ky', load as () => object);
}

afterEach(() => {
  vi.doUnmock('ky');
  vi.doUnmock('../../src/schemas/record-schema.ts');
});

const failed = () => {
  throw new TypeError('Failed to fetch dynamically imported module: https://shop.example/ky.js');
};
const never = () => new Promise(() => undefined);
const seven = () => scriptedFetch(jsonResponse({ id: '7' }, 201));

test('a library that fails to load is a ConnectionError; the next call tries again', async () => {
  kyIs(failed);
  const fetch = seven();
  const client = scriptedClient(fetch);
  const create = () => client.products.create({ name: 'Chair' }, { idempotencyKey: 'order-7' });
  expect(await caught(create())).toMatchObject({
    code: 'connection_failed',
    message: expect.stringContaining('POST /products was not sent'),
    reason: expect.any(String),
    method: 'POST',
    path: '/products',
    attempts: 0,
    idempotencyKey: 'order-7',
    outcome: 'not_sent',
    retryable: true,
  });
  expect(fetch.requests).toHaveLength(0);

  vi.doUnmock('ky');
  expect(await create()).toMatchObject({ id: '7' });
  expect(fetch.requests).toHaveLength(1);
});

test('a schema that fails to load fails the call; the next invalid record loads it again', async () => {
  vi.doMock('../../src/schemas/record-schema.ts', failed as () => object);
  const client = scriptedClient(scriptedFetch(jsonResponse([{ id: '7', salePrice: 12 }])));
  const first = () => client.products.list().first();
  expect(await caught(first())).toMatchObject({ code: 'connection_failed', retryable: true });
  vi.doUnmock('../../src/schemas/record-schema.ts');
  expect(await caught(first())).toMatchObject({ code: 'unexpected_response', reason: 'wrong_shape' });
});

test.each([
  ['timeoutMs', { timeoutMs: 2_000 }, 'attempt'],
  ['deadlineMs', { deadlineMs: 2_000 }, 'deadline'],
] as const)('loading counts towards %s', async (option, limits, limit) => {
  kyIs(never);
  const call = caught(scriptedClient(seven()).products.get('7', limits));
  await advance(1_999);
  expect(await stateOf(call)).toBe('pending');
  await advance(1);
  expect(await call).toMatchObject({
    code: 'timeout',
    message: expect.stringContaining(option),
    limit,
    attempts: 0,
    outcome: 'not_sent',
  });
});

test('the deadline of the call includes the time that loading took', async () => {
  let loaded = () => {};
  const actual = await vi.importActual<typeof import('ky')>('ky');
  kyIs(async () => {
    await new Promise<void>((resolve) => {
      loaded = resolve;
    });
    return actual;
  });
  const fetch = scriptedFetch(() => new Promise(() => undefined));
  const call = caught(scriptedClient(fetch).products.get('7', { deadlineMs: 1_000 }));
  await advance(900);
  loaded();
  await advance(99);
  expect(await stateOf(call)).toBe('pending');
  await advance(1);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'deadline', attempts: 1 });
});

test('calls at the same time load once and share rate limit and retry budget', async () => {
  const load = vi.fn(() => vi.importActual('ky'));
  kyIs(load);
  const limits = { 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': '9' };
  const client = scriptedClient(scriptedFetch(jsonResponse({ id: '7' }, 200, limits)));
  expect(client.rateLimit).toBeUndefined();
  const calls = [client.products.get('7'), client.accounts.get('7'), client.products.find('7')];
  await advance(1_000);
  await Promise.all(calls);
  await client.products.get('7');
  expect(load).toHaveBeenCalledTimes(1);
  expect(client.rateLimit).toMatchObject({ limit: 10, remaining: 9 });
});

test('a signal that fires while a library loads stops the call', async () => {
  kyIs(never);
  const controller = new AbortController();
  const end = vi.fn();
  const client = scriptedClient(seven(), { on: { end } });
  const call = caught(client.products.get('7', { signal: controller.signal }));
  await settle();
  controller.abort('enough');
  expect(await call).toBe('enough');
  expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ result: 'aborted', attempt: 0 }));
});

test('a call whose signal has fired rejects with its reason, even if a library fails to load', async () => {
  kyIs(failed);
  const signal = AbortSignal.abort('enough');
  expect(await caught(scriptedClient(seven()).products.get('7', { signal }))).toBe('enough');
});

test('each request uses the fetch that is global then, so that a test double may start late', async () => {
  const client = createClient({ baseUrl: 'https://x.example', apiKey: 'key' });
  for (const id of ['1', '2']) {
    vi.stubGlobal('fetch', async () => Response.json({ id }));
    await expect(client.accounts.get(id)).resolves.toEqual({ id });
  }
  vi.unstubAllGlobals();
});
