import type { ClientOptions, FetchFunction, RateLimitedError } from 'accounting-data-sdk';
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
  stateOf,
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
const idOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';

/** A service that sends no rate-limit headers and takes 10 ms, with the most requests that it had at the same time. */
function withoutHeaders() {
  let inFlight = 0;
  let most = 0;
  const fetch: FetchFunction = async () => {
    inFlight += 1;
    most = Math.max(most, inFlight);
    await new Promise((resolve) => setTimeout(resolve, 10));
    inFlight -= 1;
    return jsonResponse({ id: '1' });
  };
  return { fetch, most: () => most };
}

/** A service that holds each request until the test responds to its id. */
function heldService() {
  const held = new Map<string, (response: Response) => void>();
  const sent: string[] = [];
  const fetch: FetchFunction = (url) =>
    new Promise((resolve) => {
      sent.push(idOf(url));
      held.set(idOf(url), resolve);
    });
  const respond = async (id: string, response: Response) => {
    held.get(id)?.(response);
    await settle();
  };
  return { fetch, sent, respond };
}

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

describe('while the limits are unknown', () => {
  test('the first call goes alone until its response shows the limits', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    for (const id of ['1', '2', '3', '4']) void client.accounts.get(id).catch(() => {});
    await advance(1_000);
    expect(sent).toEqual(['1']);
    await respond('1', ok(99));
    expect(sent).toEqual(['1', '2', '3', '4']);
  });

  test('few calls follow the first at a time, because another process may send as many', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    for (let id = 1; id <= 40; id += 1) void client.accounts.get(String(id)).catch(() => {});
    await settle();
    await respond('1', ok(999, 1_000));
    expect(sent).toHaveLength(6);
    for (const id of sent.slice(1)) await respond(id, ok(998, 1_000));
    expect(sent.length).toBeGreaterThan(20);
  });

  test('the first call is alone for at most five seconds', async () => {
    const { fetch, sent } = heldService();
    const client = scriptedClient(fetch);
    for (const id of ['1', '2']) void client.accounts.get(id).catch(() => {});
    await advance(4_900);
    expect(sent).toEqual(['1']);
    await advance(200);
    expect(sent).toEqual(['1', '2']);
  });

  test('a call that has waited for maxWaitMs is sent', async () => {
    const { fetch, sent } = heldService();
    const client = scriptedClient(fetch);
    for (const id of ['1', '2']) void client.accounts.get(id, { maxWaitMs: 500 }).catch(() => {});
    await advance(490);
    expect(sent).toEqual(['1']);
    await advance(20);
    expect(sent).toEqual(['1', '2']);
  });

  test('a call whose deadline ends is a timeout that was not sent', async () => {
    const { fetch, sent } = heldService();
    const client = scriptedClient(fetch);
    void client.accounts.get('1').catch(() => {});
    await settle();
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

  test('ten calls with a short maxWaitMs and a slow service with quota left do not fail', async () => {
    let remaining = 1_000;
    const { fetch } = slowService(700, () => --remaining);
    const client = scriptedClient(fetch, { maxWaitMs: 500 });
    const calls = Promise.all(Array.from({ length: 10 }, () => client.accounts.get('1')));
    for (let step = 0; step < 40; step += 1) await advance(100);
    await expect(calls).resolves.toHaveLength(10);
  });

  test('a custom fetch that returns no Response does not hold the calls after it', async () => {
    let count = 0;
    const fetch: FetchFunction = async () => (++count === 1 ? ({} as Response) : ok(99));
    const client = scriptedClient(fetch, { retry: { maxAttempts: 1 } });
    const first = caught(client.accounts.get('1'));
    const second = client.accounts.get('2');
    await advance(0);
    await expect(second).resolves.toEqual({ id: '2' });
    expect(await first).toMatchObject({ code: 'connection_failed' });
  });

  test('a response without the headers lets all other calls go at once', async () => {
    const { fetch, most } = withoutHeaders();
    const client = scriptedClient(fetch);
    const calls = Array.from({ length: 51 }, () => client.accounts.get('1'));
    for (let step = 0; step < 5; step += 1) await advance(10);
    await Promise.all(calls);
    expect(most()).toBe(50);
  });
});

test('after a pause, a service without the headers gets twice as many calls each time', async () => {
  const { fetch, sent, respond } = heldService();
  const client = scriptedClient(fetch);
  for (let id = 0; id <= 40; id += 1) void client.accounts.get(String(id)).catch(() => {});
  await settle();
  const plain = () => jsonResponse({ id: '1' });
  await respond('0', plain());
  const limited = problemResponse(429, { type: 'rate_limited' }, { 'retry-after': '1' });
  for (const id of sent.slice(1)) await respond(id, limited.clone());
  sent.length = 0;
  await advance(1_000);
  const rounds: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const inFlight = sent.splice(0);
    rounds.push(inFlight.length);
    for (const id of inFlight) await respond(id, plain());
  }
  expect(rounds).toEqual([1, 2, 4, 8, 16]);
});

test('a 429 with Retry-After: 0 is not repeated at once', async () => {
  let count = 0;
  const fetch: FetchFunction = async () => {
    count += 1;
    return count > 50 ? ok(99) : tooMany(0);
  };
  const call = caught(scriptedClient(fetch, { deadlineMs: 10_000 }).accounts.get('1'));
  expect(await runToEnd(call)).toMatchObject({ code: 'rate_limited' });
  // After 250 ms, then twice as long each time.
  expect(count).toBeLessThan(8);
});

test('waitedMs is the backoff and the wait for the quota together', async () => {
  const responses = [problemResponse(503, {}, headers(50)), tooMany(2), ok(49), ok(48)];
  const fetch: FetchFunction = async () => responses.shift() as Response;
  let waitedMs = 0;
  const client = scriptedClient(fetch, { retry: { baseDelayMs: 400 } });
  const call = client.accounts.get('1', {
    onResponse: (meta) => {
      ({ waitedMs } = meta);
    },
  });
  await advance(100);
  // The 429 of another call pauses the key while the first waits for its backoff.
  const other = client.accounts.get('2');
  await runToEnd(Promise.all([call, other]));
  expect(waitedMs).toBeGreaterThanOrEqual(2_000);
});

test('a Retry-After of years holds a call that waits for ever for a day', async () => {
  const sent: number[] = [];
  const fetch: FetchFunction = async () => {
    sent.push(performance.now());
    return sent.length === 1 ? tooMany(100_000_000) : ok(99);
  };
  const limits = { maxWaitMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY };
  await runToEnd(scriptedClient(fetch, limits).accounts.get('1'));
  const [first = 0, second = 0] = sent;
  expect(second - first).toBeGreaterThanOrEqual(24 * 3_600_000);
  expect(second - first).toBeLessThan(25 * 3_600_000);
});

test('after an idle period one call goes first, because other processes may have used the quota', async () => {
  let remaining = 90;
  let rejected = 0;
  const fetch: FetchFunction = async () => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    if (remaining > 0) return ok(--remaining);
    rejected += 1;
    return tooMany(30);
  };
  const client = scriptedClient(fetch);
  await runToEnd(client.accounts.get('1'));
  remaining = 0;
  await advance(11_000);
  const calls = Array.from({ length: 20 }, () => caught(client.accounts.get('1', { maxWaitMs: 1_000 })));
  await runToEnd(Promise.all(calls));
  expect(rejected).toBe(1);
});

test('a service that always reports 0 remaining does not get slower, and no call fails', async () => {
  const { fetch, sent } = slowService(50, () => 0);
  const client = scriptedClient(fetch, { maxWaitMs: 5_000, deadlineMs: 10_000 });
  const calls = Promise.all(Array.from({ length: 300 }, () => client.accounts.get('1')));
  for (let step = 0; step < 60; step += 1) await advance(50);
  await expect(calls).resolves.toHaveLength(300);
  expect((sent.at(-1) ?? 0) - (sent[0] ?? 0)).toBeLessThan(3_000);
});

describe('a quota that is used up', () => {
  test('calls in flight count against what remains', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    void client.accounts.get('0').catch(() => {});
    await settle();
    for (let id = 1; id <= 30; id += 1) void client.accounts.get(String(id)).catch(() => {});
    await respond('0', ok(6));
    await advance(1_000);
    expect(sent.length - 1).toBeGreaterThan(0);
    expect(sent.length - 1).toBeLessThanOrEqual(6);
  });

  test('a late response of the window before does not use up the new window', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    void client.accounts.get('0').catch(() => {});
    await settle();
    await respond('0', ok(90));
    for (const id of ['1', '2']) void client.accounts.get(id).catch(() => {});
    await settle();
    await respond('2', ok(99));
    await respond('1', ok(0));
    for (const id of ['3', '4']) void client.accounts.get(id).catch(() => {});
    await settle();
    expect(sent).toEqual(['0', '1', '2', '3', '4']);
  });

  test('the headers of a response let the next call go before its body is read', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    for (const id of ['1', '2']) void client.accounts.get(id).catch(() => {});
    await settle();
    await respond('1', new Response(new ReadableStream(), { headers: headers(99) }));
    expect(sent).toEqual(['1', '2']);
  });

  test('a pause holds every call of the key, then one goes first', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    void client.accounts.get('1').catch(() => {});
    await settle();
    await respond('1', tooMany(3));
    for (const id of ['2', '3']) void client.accounts.get(id).catch(() => {});
    await advance(2_900);
    expect(sent).toEqual(['1']);
    await advance(200);
    // The call that got the 429 goes first.
    expect(sent).toEqual(['1', '1']);
  });

  test('a queued call that cannot outlast a new pause ends at once', async () => {
    const { fetch, respond } = heldService();
    const client = scriptedClient(fetch);
    void client.accounts.get('1').catch(() => {});
    await settle();
    const hasty = caught(client.accounts.get('2', { maxWaitMs: 2_000 }));
    await advance(500);
    await respond('1', tooMany(10));
    expect(await hasty).toMatchObject({
      code: 'rate_limited',
      outcome: 'not_sent',
      attempts: 0,
      status: undefined,
    });
  });

  test('a call that cannot wait fails with retryAfterMs in whole milliseconds', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.123456789);
    const limited = problemResponse(429, { type: 'rate_limited' });
    const client = scriptedClient(async () => limited.clone(), { maxWaitMs: 0 });
    for (let time = 0; time < 3; time += 1) {
      await advance(60_000);
      await caught(client.accounts.get('1'));
    }
    const error = (await caught(client.accounts.get('1'))) as RateLimitedError;
    expect(error.outcome).toBe('not_sent');
    expect(error.retryAfterMs).toSatisfy(Number.isInteger);
  });

  test('a call that got a 429 and cannot outlast the longer pause of another call fails for its own', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch);
    void client.accounts.get('0').catch(() => {});
    await settle();
    await respond('0', ok(90));
    const [first, second] = ['1', '2'].map((id) => caught(client.accounts.get(id)));
    await settle();
    await respond('1', tooMany(1));
    await respond('2', tooMany(120));
    expect(await second).toMatchObject({ code: 'rate_limited', retryAfterMs: 120_000 });
    await advance(1_100);
    const own = { code: 'rate_limited', retryAfterMs: 1_000, attempts: 1, outcome: 'rejected' };
    expect(await first).toMatchObject(own);
    expect(sent).toEqual(['0', '1', '2']);
  });

  test('a maxWaitMs of a minute outlasts a pause of a minute that begins a moment later', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch, { deadlineMs: 300_000, timeoutMs: 100_000 });
    const calls = ['1', '2'].map((id) => client.accounts.get(id, { maxWaitMs: 60_000 }));
    await advance(80);
    await respond('1', tooMany(60));
    await advance(60_100);
    await respond('1', ok(99));
    await advance(100);
    expect(sent).toEqual(['1', '1', '2']);
    await respond('2', ok(98));
    await expect(Promise.all(calls)).resolves.toHaveLength(2);
  });

  test('a client with two alternating keys and its own limiters keeps the pause of each', async () => {
    const sent: string[] = [];
    const keys = ['key-one', 'key-two', 'key-one'];
    const fetch: FetchFunction = async (_url, init) => {
      const key = new Headers(init?.headers).get('x-auth-token') ?? '';
      sent.push(key);
      return key === 'key-one' ? tooMany(30) : ok(99);
    };
    const client = scriptedClient(fetch, {
      rateLimiter: 'client',
      apiKey: () => keys.shift() ?? 'key-one',
      maxWaitMs: 1_000,
    });
    const errors = [await caught(client.accounts.get('1'))];
    await client.accounts.get('2');
    errors.push(await caught(client.accounts.get('3')));
    expect(errors).toMatchObject([
      { code: 'rate_limited', status: 429 },
      { code: 'rate_limited', status: undefined, outcome: 'not_sent' },
    ]);
    expect(sent).toEqual(['key-one', 'key-two']);
  });

  test('a call in flight stops counting after its timeout, even if it never ends', async () => {
    const { fetch, sent, respond } = heldService();
    const client = scriptedClient(fetch, { retry: { maxAttempts: 1 }, timeoutMs: 4_000 });
    const calls = ['1', '2', '3'].map((id) => client.accounts.get(id).catch((error: unknown) => error));
    await settle();
    await respond('1', ok(1));
    expect(sent).toEqual(['1', '2']);
    await advance(4_100);
    expect(sent).toEqual(['1', '2', '3']);
    await respond('3', ok(50));
    expect(await Promise.all(calls)).toMatchObject([{ id: '1' }, { code: 'timeout' }, { id: '3' }]);
  });

  test('a call without a timeout stops counting after a minute', async () => {
    const { fetch, sent, respond } = heldService();
    const unlimited = Number.POSITIVE_INFINITY;
    const client = scriptedClient(fetch, { timeoutMs: unlimited, deadlineMs: unlimited, maxWaitMs: 600_000 });
    for (const id of ['1', '2', '3']) void client.accounts.get(id).catch(() => {});
    await settle();
    await respond('1', ok(3));
    expect(sent).toEqual(['1', '2']);
    await advance(59_999);
    expect(sent).toEqual(['1', '2']);
    await advance(1);
    expect(sent).toEqual(['1', '2', '3']);
  });
});

test('a probe without a response is followed by another after five seconds', async () => {
  const { fetch, sent, respond } = heldService();
  const client = scriptedClient(fetch, { timeoutMs: 30_000 });
  for (const id of ['1', '2', '3', '4']) void client.accounts.get(id).catch(() => {});
  await settle();
  await respond('1', ok(0));
  expect(sent).toEqual(['1', '2']);
  await advance(4_900);
  expect(sent).toEqual(['1', '2']);
  await advance(200);
  expect(sent).toEqual(['1', '2', '3']);
  await respond('3', ok(99));
  expect(sent).toEqual(['1', '2', '3', '4']);
});

test('the queue is left in the order of arrival', async () => {
  const { fetch, sent, respond } = heldService();
  const client = scriptedClient(fetch);
  for (let id = 0; id <= 12; id += 1) void client.accounts.get(String(id)).catch(() => {});
  await settle();
  for (let id = 0; id <= 12; id += 1) await respond(String(id), ok(90 - id));
  expect(sent).toEqual(Array.from({ length: 13 }, (_, id) => String(id)));
});

test('the queue lets interactive calls overtake lists, which keep one slot in five', async () => {
  const sent: string[] = [];
  let remaining = 2;
  const fetch: FetchFunction = async (url) => {
    const isList = new URL(url).pathname.endsWith('/accounts');
    sent.push(isList ? 'list' : 'get');
    await new Promise((resolve) => setTimeout(resolve, 100));
    remaining = remaining > 1 ? 1 : 2;
    return jsonResponse(isList ? [] : { id: '1' }, 200, headers(remaining));
  };
  const client = scriptedClient(fetch, { maxWaitMs: 600_000, deadlineMs: 600_000 });
  const calls: Promise<unknown>[] = [client.accounts.get('0')];
  await settle();
  for (let count = 0; count < 3; count += 1) calls.push(client.accounts.list().toArray({ limit: 5 }));
  for (let count = 0; count < 12; count += 1) calls.push(client.accounts.get('1'));
  for (let step = 0; step < 200; step += 1) await advance(100);
  await Promise.all(calls);
  const order = sent.slice(1).join(' ');
  expect(order).toBe(`${'get get get get list '.repeat(3)}`.trim());
});

test('the queue is left at once by an aborted call, without a timer or a listener', async () => {
  const { fetch, sent, respond } = heldService();
  const client = scriptedClient(fetch);
  void client.accounts.get('1').catch(() => {});
  await settle();
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
  void client.accounts.get('3').catch(() => {});
  await respond('1', ok(99));
  expect(sent).toEqual(['1', '3']);
});

test('the queue has one timer for each call, and wakes no call too early', async () => {
  const { fetch, respond } = heldService();
  const client = scriptedClient(fetch);
  void client.accounts.get('first').catch(() => {});
  await settle();
  const timers = vi.getTimerCount();
  for (let id = 0; id < 100; id += 1) void client.accounts.get(String(id)).catch(() => {});
  await settle();
  expect(vi.getTimerCount()).toBe(timers + 100);
  await respond('first', ok(2));
  expect(vi.getTimerCount()).toBeLessThanOrEqual(timers + 100);
});

test('every call is sent even if the process stalls at any moment', async () => {
  await eachSeed(seedsToRun(40), async (seed) => {
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

describe('where the behaviour changes', () => {
  test.each([
    [2_000, 2_100, 'pending'],
    [2_000, 2_101, 'rejected'],
    [60_000, 61_000, 'pending'],
    [60_000, 61_001, 'rejected'],
  ])('maxWaitMs of %d: a call whose wait would be %d ms is %s', async (maxWaitMs, waitMs, state) => {
    const { fetch, respond } = heldService();
    const client = scriptedClient(fetch, { timeoutMs: 600_000, deadlineMs: 600_000 });
    void client.accounts.get('1', { maxWaitMs: 600_000 }).catch(() => {});
    await settle();
    const pauseMs = Math.ceil(waitMs / 1_000) * 1_000;
    await respond('1', tooMany(pauseMs / 1_000));
    await advance(pauseMs - waitMs);
    expect(await stateOf(client.accounts.get('2', { maxWaitMs }))).toBe(state);
  });

  test('a pause without Retry-After is 250 ms, then twice as long each time up to 20 s, with jitter after the second', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const sent: number[] = [];
    const fetch: FetchFunction = async () => {
      sent.push(performance.now());
      return sent.length > 9 ? ok(90) : problemResponse(429, { type: 'rate_limited' });
    };
    const limits = { maxWaitMs: 600_000, deadlineMs: 600_000 };
    await runToEnd(scriptedClient(fetch, limits).accounts.get('1'));
    const pauses = sent.slice(1).map((at, index) => Math.round(at - (sent[index] ?? 0)));
    expect(pauses).toEqual([250, 500, 1_500, 2_500, 4_500, 8_500, 16_500, 20_500, 20_500]);
  });
});
