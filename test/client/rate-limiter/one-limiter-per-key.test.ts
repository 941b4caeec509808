import { inspect } from 'node:util';
import { type ClientOptions, createClient, type FetchFunction, RateLimitedError } from 'accounting-data-sdk';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse, newOrigin, problemResponse, withRequestedIds } from '../../support/scripted-fetch.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

const SLOT = Symbol.for('accounting-data-sdk.rate-limiters');

useVirtualClock();

let baseUrl: string;
let sent: string[];
beforeEach(() => {
  baseUrl = newOrigin();
  sent = [];
  Reflect.deleteProperty(globalThis, SLOT);
});

const headers = { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '90' };
const ok = () => jsonResponse({ id: '1' }, 200, headers);
const tooMany = (retryAfter: number) =>
  problemResponse(429, { type: 'rate_limited' }, { ...headers, 'retry-after': String(retryAfter) });

/** The options of a client whose service gives each request this response, after 10 ms. */
function withResponse(respond: () => Response, options: ClientOptions = {}): ClientOptions {
  const fetch: FetchFunction = async (url) => {
    sent.push(new URL(url).pathname.split('/').at(-1) ?? '');
    await new Promise((resolve) => setTimeout(resolve, 10));
    return respond();
  };
  return { baseUrl, apiKey: 'key-one', maxWaitMs: 1_000, fetch: withRequestedIds(fetch), ...options };
}

async function get(client: ReturnType<typeof createClient>, id = '1'): Promise<unknown> {
  const outcome = caught(client.accounts.get(id)).catch(() => 'sent');
  await advance(20);
  return outcome;
}

/** Gets a 429 for the key `key-one`. */
async function pause(retryAfter: number): Promise<void> {
  expect(await get(createClient(withResponse(() => tooMany(retryAfter))))).toMatchObject({ status: 429 });
}

test.each([
  ['the same key', {}, ['1']],
  ['another key', { apiKey: 'key-two' }, ['1', '2']],
  ['another origin', { baseUrl: 'https://other.example.com' }, ['1', '2']],
  ['a limiter of its own', { rateLimiter: 'client' }, ['1', '2']],
  ['no limiter', { rateLimiter: false }, ['1', '2']],
] as const)(
  'a client with %s: the pause of a key holds only clients that share it',
  async (_, options, requests) => {
    await pause(30);
    await get(createClient(withResponse(ok, options)), '2');
    expect(sent).toEqual(requests);
  },
);

test('two installed copies of the package share the limiter of a key', async () => {
  // The second copy loads ky and p-retry with its first request, which takes real time.
  vi.useRealTimers();
  vi.resetModules();
  const copy = await import('accounting-data-sdk');
  expect(copy.createClient).not.toBe(createClient);
  const first = createClient(withResponse(() => tooMany(30)));
  expect(await caught(first.accounts.get('1'))).toMatchObject({ status: 429 });
  const error = await caught(copy.createClient(withResponse(ok)).accounts.get('2'));
  expect(error).toBeInstanceOf(RateLimitedError);
  expect(error).toMatchObject({ code: 'rate_limited', status: undefined, outcome: 'not_sent' });
  expect(sent).toEqual(['1']);
});

describe('of many keys, a client', () => {
  /** Sends one call with each of so many other keys. */
  const useOthers = async (count: number) => {
    let index = 0;
    const client = createClient(withResponse(ok, { apiKey: () => `other-${index++}` }));
    const calls = Array.from({ length: count }, () => client.accounts.get('other'));
    await advance(20);
    await Promise.all(calls);
    sent = [];
  };
  test.each([
    [900, ['1', '2']],
    [2_100, ['1']],
  ])('forgets the one that was not used for longest: after %d others', async (others, atOnce) => {
    const { accounts } = createClient(withResponse(ok));
    await get(createClient(withResponse(ok)), '0');
    await useOthers(others);
    const calls = ['1', '2'].map((id) => accounts.get(id));
    await advance(5);
    // The first call of an unknown key goes alone.
    expect(sent).toEqual(atOnce);
    await advance(50);
    await Promise.all(calls);
  });

  test('forgets none that is paused or in use', async () => {
    const held = Promise.withResolvers<void>();
    const fetch = () => held.promise.then(ok);
    const call = createClient({ ...withResponse(ok), apiKey: 'key-two', fetch }).accounts.get('1');
    await pause(30 * 60);
    await useOthers(2_100);
    const queued = createClient(withResponse(ok, { apiKey: 'key-two' })).accounts.get('2');
    const paused = caught(createClient(withResponse(ok)).accounts.get('3'));
    await advance(5);
    expect(sent).toEqual([]);
    expect(await paused).toMatchObject({ code: 'rate_limited', outcome: 'not_sent' });
    held.resolve();
    await advance(50);
    await Promise.all([call, queued]);
  });
});

test('no inspection of a client or of what copies of the package share shows a key', async () => {
  const apiKey = 'k-0123456789-secret';
  const shared = createClient(withResponse(ok, { apiKey }));
  const own = createClient(withResponse(ok, { apiKey, rateLimiter: 'client' }));
  await get(shared);
  await get(own);
  expect(Reflect.get(globalThis, SLOT)).toBeDefined();
  for (const value of [Reflect.get(globalThis, SLOT), shared, own]) {
    const shown = inspect(value, { depth: 10, showHidden: true, getters: true, showProxy: true });
    expect(shown.length).toBeGreaterThan(5);
    expect(shown).not.toContain(apiKey);
    expect(JSON.stringify(value) ?? '').not.toContain(apiKey);
  }
  expect(Object.keys(globalThis)).not.toContain(String(SLOT));
});
