import type { ClientOptions, ResponseMeta } from 'accounting-data-sdk';
import { beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught } from '../support/caught.ts';
import {
  type FetchResponse,
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
  withRequestedIds,
} from '../support/scripted-fetch.ts';
import { advance, stateOf, useVirtualClock } from '../support/virtual-clock.ts';

useVirtualClock();
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

const tooMany = (headers: Record<string, string> = {}) => problemResponse(429, {}, headers);
const good = jsonResponse({ id: '1' });

/** Runs a call to its end; returns its result, and every wait that it reported. */
async function waitsOf(script: readonly FetchResponse[], options: ClientOptions) {
  const waits: [event: string, waitMs: unknown][] = [];
  const on = {
    wait: vi.fn(({ waitMs }: { waitMs: number | undefined }) => void waits.push(['wait', waitMs])),
    retry: vi.fn(
      ({ reason, waitMs }: { reason: string; waitMs: number }) => void waits.push([reason, waitMs]),
    ),
  };
  const fetch = scriptedFetch(...script);
  const onWait = vi.fn();
  const client = scriptedClient(fetch, { rateLimiter: false, on, ...options });
  const call = client.accounts.get('1', { onWait }).catch((error: unknown) => error);
  for (let second = 0; second < 60; second += 1) await advance(1_000);
  const onWaitMs = onWait.mock.calls.map(([waitMs]) => waitMs);
  return { end: await call, waits, onWaitMs, requests: fetch.requests.length, on };
}

test('without a rate limiter a call waits for Retry-After, and longer after a second 429', async () => {
  const script = [tooMany({ 'retry-after': '2' }), tooMany({ 'retry-after': '2' }), good];
  const { end, waits, onWaitMs, on } = await waitsOf(script, { retry: { baseDelayMs: 400, maxAttempts: 1 } });
  expect(end).toEqual({ id: '1' });
  expect(waits).toEqual([
    ['wait', 2_000],
    ['wait', 2_000 + 200],
  ]);
  expect(onWaitMs).toEqual([2_000, 2_200]);
  expect(on.wait).toHaveBeenLastCalledWith(expect.objectContaining({ method: 'GET', path: '/accounts/1' }));
});

test('with a rate limiter each wait is reported once', async () => {
  const script = [tooMany({ 'retry-after': '2' }), tooMany({ 'retry-after': '2' }), good];
  const { end, waits, onWaitMs } = await waitsOf(script, {
    rateLimiter: 'client',
    retry: { baseDelayMs: 400 },
  });
  expect(end).toEqual({ id: '1' });
  expect(onWaitMs).toEqual([2_000, 2_000]);
  expect(waits).toEqual(onWaitMs.map((waitMs) => ['wait', waitMs]));
});

test('a call that the rate limiter delays reports how long: in an event, to onWait and in waitedMs', async () => {
  const fetch = scriptedFetch(tooMany({ 'retry-after': '2' }), good);
  const [wait, onWait] = [vi.fn(), vi.fn()];
  const client = scriptedClient(fetch, { rateLimiter: 'client', on: { wait } });
  await caught(client.accounts.get('limited', { maxWaitMs: 0 }));

  const seen: ResponseMeta[] = [];
  const call = client.accounts.get('1', { onWait, onResponse: (meta) => void seen.push(meta) });
  await advance(2_000);
  await expect(call).resolves.toEqual({ id: '1' });
  expect(wait.mock.calls).toEqual([
    [expect.objectContaining({ method: 'GET', path: '/accounts/1', waitMs: 2_000 })],
  ]);
  expect(onWait.mock.calls).toEqual([[2_000, 'rate_limit']]);
  expect(seen).toMatchObject([{ status: 200, attempts: 1, waitedMs: 2_000 }]);
});

test('the response event says how long the response took', async () => {
  const response = vi.fn();
  const fetch = scriptedFetch(async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return good.clone();
  });
  const call = scriptedClient(fetch, { on: { response } }).accounts.get('1');
  await advance(300);
  await call;
  expect(response).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ durationMs: 300 }));
});

test('a call that got a 429 is sent before later calls', async () => {
  const responses: FetchResponse[] = [
    async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return tooMany({ 'retry-after': '2' });
    },
    good,
  ];
  const fetch = scriptedFetch(...responses);
  const client = scriptedClient(withRequestedIds(fetch), { rateLimiter: 'client' });
  const calls = ['1', '2'].map((id) => client.accounts.get(id));
  for (let second = 0; second < 5; second += 1) await advance(1_000);
  await Promise.all(calls);
  expect(fetch.requests.map(({ url }) => url.pathname.at(-1))).toEqual(['1', '1', '2']);
});

test('a call backs off after a 429 without Retry-After, even if baseDelayMs is 0', async () => {
  const script = [tooMany(), tooMany(), good];
  expect((await waitsOf(script, { retry: { baseDelayMs: 400 } })).onWaitMs).toEqual([600, 1_200]);
  expect((await waitsOf(script, { retry: { baseDelayMs: 0 } })).onWaitMs).toEqual([100, 100]);
});

test('what is added to the Retry-After of a second 429 stays within maxWaitMs', async () => {
  const script = [tooMany({ 'retry-after': '2' }), tooMany({ 'retry-after': '2' }), good];
  const { end, onWaitMs } = await waitsOf(script, { retry: { baseDelayMs: 400 }, maxWaitMs: 2_100 });
  expect(end).toEqual({ id: '1' });
  expect(onWaitMs).toEqual([2_000, 2_100]);
});

test('a Retry-After above maxWaitMs is thrown at once; the call waits if it equals maxWaitMs', async () => {
  const script = [tooMany({ 'retry-after': '2' }), good];
  const { end, onWaitMs } = await waitsOf(script, { maxWaitMs: 1_999 });
  expect(end).toMatchObject({ code: 'rate_limited', attempts: 1, retryAfterMs: 2_000 });
  expect(onWaitMs).toEqual([]);
  expect((await waitsOf(script, { maxWaitMs: 2_000 })).end).toEqual({ id: '1' });
});

test('a connection that is lost after a 429 ends the call as a connection error, after a wait of its own', async () => {
  const script = [tooMany({ 'retry-after': '2' }), networkError('ECONNRESET'), networkError('ECONNRESET')];
  const options = { retry: { baseDelayMs: 400, maxAttempts: 2 } };
  for (const rateLimiter of [false, 'client'] as const) {
    const { end, waits, requests } = await waitsOf(script, { ...options, rateLimiter });
    expect(end).toMatchObject({ code: 'connection_failed', attempts: 2, outcome: 'unknown' });
    expect(waits).toEqual([
      ['wait', 2_000],
      ['lost', 600],
    ]);
    expect(requests).toBe(3);
  }
});

test('a call that is throttled long after its own 429 names the wait that it was throttled for', async () => {
  const script = [
    tooMany({ 'retry-after': '2' }),
    networkError('ECONNRESET'),
    tooMany({ 'retry-after': '90' }),
    good,
  ];
  const fetch = scriptedFetch(...script);
  const client = scriptedClient(fetch, { rateLimiter: 'client', retry: { baseDelayMs: 4_000 } });
  const call = caught(client.accounts.get('1'));
  await advance(2_000);
  expect(fetch.requests).toHaveLength(2);
  // Sent while the first call backs off: its 429 stops the key for longer than maxWaitMs.
  await caught(client.accounts.get('2'));
  await advance(6_000);
  expect(await call).toMatchObject({ code: 'rate_limited', retryAfterMs: 84_000, outcome: 'unknown' });
  expect(fetch.requests).toHaveLength(3);
});

test('a 429 whose wait would pass the deadline is thrown at once', async () => {
  const { end, onWaitMs } = await waitsOf([tooMany(), good], {
    retry: { baseDelayMs: 10_000 },
    deadlineMs: 4_000,
  });
  expect(end).toMatchObject({ code: 'rate_limited', attempts: 1 });
  expect(onWaitMs).toEqual([]);
});

test('a failure backs off twice as long each time, no longer than maxWaitMs, and says why', async () => {
  const script = [networkError('ECONNRESET'), problemResponse(503), problemResponse(500), good];
  const { end, waits, on } = await waitsOf(script, { retry: { baseDelayMs: 400, maxDelayMs: 10_000 } });
  expect(end).toEqual({ id: '1' });
  expect(waits).toEqual([
    ['lost', 600],
    ['status 503', 1_200],
    ['status 500', 2_400],
  ]);
  expect(on.retry).toHaveBeenLastCalledWith(
    expect.objectContaining({ method: 'GET', path: '/accounts/1', attempt: 3 }),
  );
  const capped = await waitsOf(script, { retry: { baseDelayMs: 400 }, maxWaitMs: 800 });
  expect(capped.onWaitMs).toEqual([600, 800, 800]);
});

test('a failure that names a time is not tried again before it, and not at all beyond maxWaitMs', async () => {
  const script = [problemResponse(503, {}, { 'retry-after': '3' }), good];
  expect((await waitsOf(script, {})).waits).toEqual([['status 503', 3_000]]);
  const impatient = await waitsOf(script, { maxWaitMs: 2_000 });
  expect(impatient.end).toMatchObject({ status: 503, attempts: 1, retryAfterMs: 3_000 });
  expect([impatient.waits, impatient.onWaitMs, impatient.requests]).toEqual([[], [], 1]);
});

test('no more attempts are made than retry.maxAttempts allows, 429s not counted', async () => {
  const script = [problemResponse(503), tooMany({ 'retry-after': '1' }), problemResponse(503)];
  const { end, requests } = await waitsOf(script, { retry: { maxAttempts: 2 } });
  expect(end).toMatchObject({ status: 503, attempts: 2, retryable: true });
  expect(requests).toBe(3);
});

test('a delete that gets 404 after a lost response succeeds, and its listeners see a success', async () => {
  const [end, error, onResponse] = [vi.fn(), vi.fn(), vi.fn()];
  const gone = scriptedFetch(networkError('ECONNRESET'), problemResponse(404, { status: 404 }));
  const client = scriptedClient(gone, { on: { end, error }, retry: { baseDelayMs: 0 } });
  const call = client.products.delete('1', { onResponse });
  await advance(10);
  await expect(call).resolves.toBeUndefined();
  expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ result: 'ok' }));
  expect(error).not.toHaveBeenCalled();
  expect(onResponse).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 404 }));
});

test('a delete whose response is cut returns what the schema of the caller makes of an empty body', async () => {
  const cut = new Response('{"id":', { headers: { 'content-type': 'application/json' } });
  const request = { method: 'DELETE', path: '/invoices/7' } as const;
  const gone = { ...request, schema: z.undefined().transform(() => 'gone') };
  expect(await scriptedClient(scriptedFetch(cut)).request(gone)).toBe('gone');
  const due = { ...request, schema: z.object({ id: z.string() }) };
  expect(await caught(scriptedClient(scriptedFetch(cut)).request(due))).toMatchObject({
    code: 'unexpected_response',
    outcome: 'applied',
  });
});

test('a call without a key ends as an error', async () => {
  const [end, error] = [vi.fn(), vi.fn()];
  const on = { end, error };
  const apiKey = () => Promise.reject(new Error('vault'));
  const failure = await caught(scriptedClient(scriptedFetch(good), { on, apiKey }).accounts.get('1'));
  expect(failure).toMatchObject({ code: 'invalid_input', argument: 'apiKey' });
  expect(end).toHaveBeenLastCalledWith(expect.objectContaining({ result: 'error', path: '/accounts/1' }));
  expect(error).toHaveBeenCalledExactlyOnceWith(
    expect.objectContaining({ method: 'GET', path: '/accounts/1', error: failure }),
  );
});

test('an update that is stopped while its record is read ends as aborted', async () => {
  const end = vi.fn();
  const stop = new AbortController();
  const never: FetchResponse = () => new Promise(() => {});
  const fetch = scriptedFetch(new Response(null, { status: 204 }), never);
  const client = scriptedClient(fetch, { on: { end } });
  const call = caught(client.products.update('1', { name: 'Desk' }, { signal: stop.signal }));
  await advance(10);
  stop.abort('enough');
  expect(await call).toBe('enough');
  expect(end.mock.calls.map(([event]) => [event.method, event.result])).toEqual([
    ['GET', 'aborted'],
    ['PATCH', 'aborted'],
  ]);
});

test('an update that gets 204 reads the record within what is left of the deadline', async () => {
  const after = (ms: number, response: Response) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return response.clone();
  };
  const fetch = scriptedFetch(after(700, new Response(null, { status: 204 })), after(5_000, good));
  const client = scriptedClient(fetch, { deadlineMs: 1_000 });
  const call = caught(client.products.update('1', { name: 'Desk' }));
  await advance(700);
  await advance(300);
  expect(await stateOf(call)).toBe('resolved');
  expect(await call).toMatchObject({ code: 'unexpected_response', method: 'PATCH', outcome: 'applied' });
  expect(fetch.requests.map(({ init }) => [init.method, init.body])).toEqual([
    ['PATCH', '{"name":"Desk"}'],
    ['GET', undefined],
  ]);
});
