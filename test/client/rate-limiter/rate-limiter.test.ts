import type { ClientOptions, FetchFunction, RequestOptions } from 'accounting-data-sdk';
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import * as scripted from '../../support/scripted-fetch.ts';
import { jsonResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { eachSeed, seedsToRun } from '../../support/seeds.ts';
import {
  advance,
  loadTransport,
  runToEnd,
  startVirtualClock,
  stopVirtualClock,
} from '../../support/virtual-clock.ts';

beforeAll(loadTransport);
beforeEach(() => startVirtualClock(2026));
afterEach(stopVirtualClock);

const scriptedClient = (fetch: FetchFunction, options?: ClientOptions) =>
  scripted.scriptedClient(scripted.withRequestedIds(fetch), options);
const headers = (remaining: number, limit = 100) => ({
  'x-ratelimit-limit': String(limit),
  'x-ratelimit-remaining': String(remaining),
});
const ok = (remaining: number, limit = 100) => jsonResponse({ id: '1' }, 200, headers(remaining, limit));
const tooMany = (retryAfter: number) =>
  problemResponse(429, { type: 'rate_limited' }, { ...headers(0), 'retry-after': String(retryAfter) });
const plain = () => jsonResponse({ id: '1' });
const idOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';

/** A client of a service that holds each request until the test responds to its id. */
function heldService(options?: ClientOptions) {
  const held = new Map<string, (response: Response) => void>();
  const sent: string[] = [];
  const fetch: FetchFunction = (url) =>
    new Promise((resolve) => {
      sent.push(idOf(url));
      held.set(idOf(url), resolve);
    });
  const client = scriptedClient(fetch, options);
  const respond = async (id: string, response: Response) => {
    held.get(id)?.(response);
    await settle();
  };
  /** Requests these ids, whatever comes of it. */
  const call = async (ids: readonly string[], own?: RequestOptions) => {
    for (const id of ids) void client.accounts.get(id, own).catch(() => {});
    await settle();
  };
  return { client, sent, respond, call };
}

const ids = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1));

/** A service that responds after a delay with what remains of its quota. */
function slowService(afterMs: number, remaining: () => number) {
  const sent: number[] = [];
  const fetch: FetchFunction = async () => {
    sent.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, afterMs));
    return ok(remaining(), 1_000);
  };
  return { fetch, sent };
}

const unlimited = { timeoutMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY };

/** `remaining` is what remains by the response to the first call; without it the first call has no response. */
const queued: readonly (readonly [
  what: string,
  afterMs: number,
  options: ClientOptions,
  remaining?: number,
])[] = [
  ['five seconds if the first call, which goes alone, has no response', 5_000, {}],
  ['five seconds if a probe of a used-up quota has no response', 5_000, { timeoutMs: 30_000 }, 0],
  [
    'five seconds if a call in flight uses the quota up, never ends and has no timeout',
    5_000,
    { ...unlimited, maxWaitMs: 600_000 },
    1,
  ],
];

test.for(queued)('the next call is sent after %s', async ([, afterMs, options, remaining]) => {
  const inFlight = remaining === undefined ? 1 : 2;
  const { sent, respond, call } = heldService(options);
  await call(ids(inFlight + 1));
  if (remaining !== undefined) await respond('1', ok(remaining));
  await advance(afterMs - 10);
  expect(sent).toEqual(ids(inFlight));
  await advance(20);
  expect(sent).toEqual(ids(inFlight + 1));
});

describe('while the limits are unknown', () => {
  test('the first call goes alone until its response shows the limits', async () => {
    const { sent, respond, call } = heldService();
    await call(ids(4));
    await advance(1_000);
    expect(sent).toEqual(['1']);
    await respond('1', ok(99));
    expect(sent).toEqual(ids(4));
  });

  test('the next calls are sent when the headers of the first have arrived, before its body has', async () => {
    const sent: string[] = [];
    const fetch: FetchFunction = async (url) => {
      sent.push(idOf(url));
      return sent.length > 1 ? ok(99) : new Response(new ReadableStream(), ok(99));
    };
    const { accounts } = scripted.scriptedClient(fetch);
    for (const id of ids(3)) void accounts.get(id).catch(() => {});
    await settle();
    expect(sent).toEqual(ids(3));
  });

  test('a queued call says once that it waits, however long', async () => {
    const waits: string[] = [];
    const { respond, call } = heldService({ on: { wait: ({ path }) => waits.push(path) } });
    await call(ids(3));
    await advance(4_000);
    expect(waits).toEqual(['/accounts/2', '/accounts/3']);
    await respond('1', tooMany(9));
    await advance(4_000);
    expect(waits.filter((path) => path !== '/accounts/1')).toHaveLength(2);
  });

  test('a call whose deadline ends is a timeout that was not sent', async () => {
    const { client, sent, call } = heldService();
    await call(['1']);
    const second = caught(client.accounts.get('2', { deadlineMs: 1_000 }));
    await advance(1_000);
    expect(await second).toMatchObject({
      code: 'timeout',
      limit: 'deadline',
      outcome: 'not_sent',
      attempts: 0,
    });
    expect(sent).toEqual(['1']);
  });
});

test('after a pause, a service without the headers gets one call, then twice as many each time', async () => {
  const { sent, respond, call } = heldService();
  await call(ids(60));
  await respond('1', plain());
  // All at once.
  expect(sent).toHaveLength(60);
  for (const id of sent.slice(1)) await respond(id, problemResponse(429, {}, { 'retry-after': '1' }));
  sent.length = 0;
  await advance(1_000);
  const rounds: number[] = [];
  for (let round = 0; round < 6; round += 1) {
    const inFlight = sent.splice(0);
    rounds.push(inFlight.length);
    for (const id of inFlight) await respond(id, plain());
  }
  expect(rounds).toEqual([1, 2, 4, 8, 16, 28]);
});

test.each([
  [
    'without Retry-After for 250 ms, then twice as long each time up to 20 s, with jitter from the third on',
    undefined,
    [250, 500, 1_500, 2_500, 4_500, 8_500, 16_500, 20_500, 20_500],
  ],
  ['with Retry-After: 0 as long as without it', 0, [250, 500, 1_500]],
  ['with a Retry-After of years for a day', 100_000_000, [86_400_000]],
])('after a 429 %s the key pauses', async (_, retryAfter, pauses) => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  const sent: number[] = [];
  const fetch: FetchFunction = async () => {
    sent.push(performance.now());
    if (sent.length > pauses.length) return ok(90);
    return retryAfter === undefined ? problemResponse(429) : tooMany(retryAfter);
  };
  const limits = { maxWaitMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY };
  await runToEnd(scriptedClient(fetch, limits).accounts.get('1'));
  expect(sent.slice(1).map((at, index) => Math.round(at - (sent[index] ?? 0)))).toEqual(pauses);
});

test('a 429 after a success pauses the key for as long as the first one', async () => {
  const sent: number[] = [];
  const fetch: FetchFunction = async () => {
    sent.push(performance.now());
    return sent.length % 2 === 1 ? problemResponse(429) : plain();
  };
  const client = scriptedClient(fetch);
  for (const id of ids(3)) await runToEnd(client.accounts.get(id));
  const pauses = [0, 2, 4].map((at) => Math.round((sent[at + 1] ?? 0) - (sent[at] ?? 0)));
  expect(pauses).toEqual([250, 250, 250]);
});

test('a service that always reports 0 remaining does not get slower, and no call fails', async () => {
  const { fetch, sent } = slowService(50, () => 0);
  const client = scriptedClient(fetch, { maxWaitMs: 5_000, deadlineMs: 10_000 });
  await expect(runToEnd(Promise.all(ids(300).map((id) => client.accounts.get(id))))).resolves.toHaveLength(
    300,
  );
  expect((sent.at(-1) ?? 0) - (sent[0] ?? 0)).toBeLessThan(3_000);
});

describe('a quota that is used up', () => {
  test('calls in flight count against what remains', async () => {
    const { sent, respond, call } = heldService();
    await call(ids(31));
    await respond('1', ok(6));
    await advance(1_000);
    expect(sent.length - 1).toBeGreaterThan(0);
    expect(sent.length - 1).toBeLessThanOrEqual(6);
  });

  test('a request that ends without a response counts as used', async () => {
    const { sent, respond, call } = heldService();
    await call(['1']);
    await respond('1', ok(3));
    const controller = new AbortController();
    await call(['2', '3'], { signal: controller.signal });
    controller.abort();
    await settle();
    await call(['4', '5']);
    expect(sent).toEqual(ids(4));
  });

  test('a pause holds every call of the key, until the longest Retry-After', async () => {
    const { sent, respond, call } = heldService();
    await call(['0']);
    await respond('0', ok(90));
    await call(['1', '2']);
    await respond('1', tooMany(3));
    await respond('2', tooMany(1));
    await call(['3']);
    await advance(2_900);
    expect(sent).toEqual(['0', '1', '2']);
    await advance(200);
    // A call that got a 429 goes first.
    expect(sent).toEqual(['0', '1', '2', '1']);
  });

  test('a call says how long it waits if that is known, and only that it waits if a response decides', async () => {
    const waits: (number | undefined)[] = [];
    const { respond, call } = heldService({ on: { wait: ({ waitMs }) => waits.push(waitMs) } });
    await call(['1', '2']);
    await respond('1', tooMany(3));
    await advance(1_000);
    await call(['3']);
    expect(waits).toEqual([undefined, 3_000, 2_000]);
  });

  test('a queued call that cannot outlast a new pause ends at once, even behind one that can', async () => {
    const { client, respond, call } = heldService();
    await call(['1', '3']);
    const hasty = caught(client.accounts.get('2', { maxWaitMs: 2_000 }));
    await advance(500);
    await respond('1', tooMany(10));
    expect(await hasty).toMatchObject({
      code: 'rate_limited',
      outcome: 'not_sent',
      attempts: 0,
      status: undefined,
      rateLimit: { limit: 100, remaining: 0 },
    });
  });
});

test('a queued call outlasts a pause as long as its maxWaitMs that begins a moment later', async () => {
  const { client, sent, respond, call } = heldService({ deadlineMs: Number.POSITIVE_INFINITY });
  await call(['1']);
  const second = client.accounts.get('2', { maxWaitMs: 60_000 });
  await advance(500);
  await respond('1', tooMany(60));
  await advance(60_000);
  await respond('1', ok(90));
  expect(sent).toEqual(['1', '1', '2']);
  await respond('2', ok(89));
  expect(await second).toMatchObject({ id: '2' });
});

test.each([
  ['with the headers', () => ok(90)],
  ['without the headers', plain],
])('after a 429 its call goes first and alone, whatever earlier calls report: %s', async (_, good) => {
  const { sent, respond, call } = heldService();
  await call(['0']);
  await respond('0', good());
  await call(ids(9));
  const inFlight = sent.slice(1);
  await respond('1', problemResponse(429, {}, { 'retry-after': '1' }));
  await call(['10', '11']);
  for (const id of inFlight.slice(1)) await respond(id, good());
  sent.length = 0;
  await advance(1_000);
  expect(sent).toEqual(['1']);
});

test('with a quota of one, calls go one at a time, however many have succeeded', async () => {
  const { sent, respond, call } = heldService();
  await call(ids(40));
  for (const id of ids(39)) {
    expect(sent.at(-1)).toBe(id);
    await respond(id, ok(0, 1));
  }
});

test('a queued call that its own listener aborts ends at once', async () => {
  const controller = new AbortController();
  const { client, call } = heldService({ on: { wait: () => controller.abort('enough') } });
  await call(['1']);
  expect(await caught(client.accounts.get('2', { signal: controller.signal }))).toBe('enough');
});

test('calls leave the queue in the order of arrival', async () => {
  const { sent, respond, call } = heldService();
  await call(ids(13));
  for (const id of ids(13)) await respond(id, ok(90 - Number(id)));
  expect(sent).toEqual(ids(13));
});

test('an aborted call leaves the queue at once, with no timer and no listener', async () => {
  const { client, sent, respond, call } = heldService();
  await call(['1']);
  const timers = vi.getTimerCount();
  const controller = new AbortController();
  const aborted = caught(client.accounts.get('2', { signal: controller.signal }));
  await advance(10);
  expect(vi.getTimerCount()).toBe(timers + 1);
  controller.abort('no longer needed');
  await settle();
  expect(await aborted).toBe('no longer needed');
  expect(vi.getTimerCount()).toBe(timers);
  expect(listenersOn(controller.signal)).toBe(0);
  await call(['3']);
  await respond('1', ok(99));
  expect(sent).toEqual(['1', '3']);
});

test('every call is sent even if the process stalls at any moment', async () => {
  await eachSeed(seedsToRun(15), async (seed) => {
    const random = new SeededRandom(seed);
    const now = performance.now.bind(performance);
    let stalledMs = 0;
    const stalling = vi.spyOn(performance, 'now').mockImplementation(() => {
      if (random.next() < 0.3) stalledMs += 60;
      return now() + stalledMs;
    });
    const windows: { [second: number]: number } = {};
    const fetch: FetchFunction = async () => {
      const second = Math.floor(performance.now() / 1_000);
      const used = (windows[second] ?? 0) + 1;
      windows[second] = used;
      await new Promise((resolve) => setTimeout(resolve, random.int(1, 40)));
      return used > 8 ? tooMany(1) : ok(8 - used, 8);
    };
    const client = scriptedClient(fetch, { maxWaitMs: 1_000_000, deadlineMs: Number.POSITIVE_INFINITY });
    const callAndTime = async (afterMs: number) => {
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      const since = now();
      await client.accounts.get('1');
      return now() - since;
    };
    const calls = Promise.all(Array.from({ length: 20 }, () => callAndTime(random.int(0, 300))));
    await runToEnd(calls);
    stalling.mockRestore();
    expect(Math.max(...(await calls))).toBeLessThan(30_000);
  });
}, 60_000);

test('a response of the type rate_limited under another status pauses every call of the key', async () => {
  const { sent, respond, call } = heldService();
  await call(['1']);
  await respond('1', problemResponse(403, { type: 'rate_limited' }, { 'retry-after': '2' }));
  await call(['2']);
  await advance(1_999);
  expect(sent).toEqual(['1']);
  await advance(1);
  expect(sent).toHaveLength(2);
});
