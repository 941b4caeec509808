import type { ClientOptions, ResponseMeta } from 'accounting-data-sdk';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught } from '../support/caught.ts';
import { callWith, type FourMethods, METHODS } from '../support/four-methods.ts';
import {
  type FetchResponse,
  jsonResponse,
  networkError,
  noResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
  withRequestedIds,
} from '../support/scripted-fetch.ts';
import { advance, runToEnd, stateOf, useVirtualClock } from '../support/virtual-clock.ts';

// What follows each fault alone is the table of test/reliability/faults/transport.test.ts. Here is what follows several
// responses in a row, and how long a call waits before each request.

useVirtualClock();
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

const lost = networkError('ECONNRESET');
const unsent = networkError('ECONNREFUSED');
const good = jsonResponse({ id: '42' });
const page = (status: number, headers: Record<string, string> = {}) =>
  new Response('<h1>No</h1>', { status, headers: { 'content-type': 'text/html', ...headers } });
const of502 = (type: string) =>
  jsonResponse({ title: 'Bad Gateway', status: 502 }, 404, { 'content-type': type });
const of = (status: number, type = 'about:blank') => problemResponse(status, { type });
/** A 429, with Retry-After if it names a time. */
const tooMany = (retryAfter?: string, headers: Record<string, string> = {}) =>
  problemResponse(429, {}, retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter });
/** A response of another status whose type says that the quota is used up. */
const limited = (status: number, retryAfter = '1') =>
  problemResponse(status, { type: 'rate_limited' }, { 'retry-after': retryAfter });
/** Headers without the end of their body. */
const stalledBody: FetchResponse = () =>
  new Response(new ReadableStream(), { headers: { 'content-type': 'application/json' } });
const cutBody = new Response('{"id":', { headers: { 'content-type': 'application/json' } });
/** No response, until the attempt is given up. */
const unresponsive: FetchResponse = ({ init: { signal } }) => noResponse(signal);

const OK = 'succeeds';

/** The last response of a script is repeated. `end` is the error, or that the call succeeds. */
const sequence = (
  method: FourMethods,
  gets: string,
  script: readonly FetchResponse[],
  requests: number,
  end: typeof OK | object,
  options: ClientOptions = {},
) => ({ method, gets, script, requests, end, options });

const twice = { retry: { maxAttempts: 2 } };
const NOT_SENT = { code: 'connection_failed', outcome: 'not_sent', attempts: 5, retryable: true };
const LOST = { code: 'connection_failed', outcome: 'unknown', retryable: true };
const TIMEOUT = { code: 'timeout', limit: 'attempt', outcome: 'unknown', attempts: 2 };

/** Each a 404 that is no problem document of the service: no proof that an earlier delete was applied. */
const notOfTheService: readonly (readonly [what: string, Response, code: string])[] = [
  [
    'a route that a gateway does not know',
    jsonResponse({ type: 'route_not_found', status: 404 }, 404),
    'unknown_problem',
  ],
  ['a problem document that names 502', of502('application/problem+json'), 'not_found'],
  ['JSON that names 502', of502('application/json'), 'not_found'],
  [
    'a problem document sent as text',
    problemResponse(404, { type: 'not_found' }, { 'content-type': 'text/plain' }),
    'not_found',
  ],
  ['JSON of a gateway', jsonResponse({ message: 'no Route matched' }, 404), 'not_found'],
];

const sequences = [
  ...METHODS.flatMap((method) => [
    sequence(method, 'no connection', [unsent], 5, NOT_SENT),
    sequence(method, 'no connection at first', [unsent, good], 2, OK),
    sequence(method, 'no connection after a lost response', [lost, unsent], 5, { ...LOST, attempts: 5 }),
    sequence(method, 'a 429 and a 503', [tooMany('1'), of(503), good], 3, OK, twice),
    sequence(method, 'a 503, a 429 and a 503', [of(503), tooMany('1'), of(503)], 3, { attempts: 2 }, twice),
    sequence(method, 'no response in time', [unresponsive, good], 2, OK),
    sequence(method, 'no response in time twice', [unresponsive], 2, TIMEOUT, twice),
    sequence(method, 'a body that stalls', [stalledBody, good], method === 'DELETE' ? 1 : 2, OK),
  ]),
  ...[401, 422, 403].map((status) =>
    sequence('POST', `a ${status} after a lost response`, [lost, of(status)], 2, {
      status,
      outcome: 'unknown',
    }),
  ),
  sequence('POST', 'a long 429 after a lost response', [lost, tooMany('3600')], 2, {
    code: 'rate_limited',
    outcome: 'unknown',
    attempts: 2,
  }),
  ...([400, 403, 409, 500, 503] as const).flatMap((status) =>
    METHODS.map((method) =>
      sequence(method, `rate_limited under ${status}`, [limited(status), limited(status), good], 3, OK, {
        retry: { maxAttempts: 1 },
      }),
    ),
  ),
  sequence('GET', 'rate_limited under 403 for an hour', [limited(403, '3600')], 1, {
    code: 'rate_limited',
    status: 403,
    retryable: true,
    retryAfterMs: 3_600_000,
  }),
  sequence('POST', 'a 409 of any type after a lost response', [lost, of(409, 'stale'), good], 3, OK),
  sequence('POST', 'a 409 of any type twice after a lost response', [lost, of(409, 'stale')], 3, {
    status: 409,
    outcome: 'unknown',
    attempts: 3,
  }),
  sequence('POST', 'a 409 of any type first', [of(409, 'stale'), good], 1, {
    status: 409,
    outcome: 'rejected',
  }),
  sequence('POST', 'a 409 of a running create', [of(409, '/errors/idempotency'), good], 2, OK),
  sequence('POST', 'only lost responses', [lost], 2, LOST, twice),
  sequence(
    'POST',
    'a lost response after a cut 2xx',
    [cutBody, lost],
    2,
    { ...LOST, outcome: 'applied' },
    twice,
  ),
  sequence('POST', 'empty bodies after a lost response', [lost, new Response(null, { status: 204 })], 3, {
    code: 'unexpected_response',
    attempts: 3,
  }),
  sequence(
    'POST',
    'a lost response under retry.creates: false',
    [lost],
    1,
    { ...LOST, retryable: false },
    { retry: { creates: false } },
  ),
  sequence('PATCH', 'a lost response under retry.updates: false', [lost], 1, LOST, {
    retry: { updates: false },
  }),
  sequence('PATCH', 'a 404 after a lost response', [lost, of(404)], 2, {
    code: 'not_found',
    outcome: 'unknown',
  }),
  sequence('PATCH', 'a 204, and a 404 for the record', [new Response(null, { status: 204 }), of(404)], 2, {
    code: 'unexpected_response',
    reason: 'empty',
    method: 'PATCH',
    outcome: 'applied',
  }),
  ...[404, 410].flatMap((status) => [
    sequence('DELETE', `a ${status} after a lost response`, [lost, of(status)], 2, OK),
    sequence('DELETE', `a page with ${status} after a lost response`, [lost, page(status)], 2, {
      status,
      outcome: 'unknown',
      missing: false,
    }),
  ]),
  ...notOfTheService.map(([what, response, code]) =>
    sequence('DELETE', `${what} after a lost response`, [lost, response], 2, { code, outcome: 'unknown' }),
  ),
  ...[400, 401, 403, 409, 422, 501].map((status) =>
    sequence('DELETE', `a ${status} after a lost response`, [lost, of(status)], 2, {
      status,
      outcome: 'unknown',
    }),
  ),
  sequence('DELETE', 'a 404 after a rejected attempt', [of(425), of(404)], 2, {
    code: 'not_found',
    outcome: 'rejected',
    attempts: 2,
  }),
];

test.each([1, 5])('retry: false is one attempt, also of a client that allows %i', async (maxAttempts) => {
  const fetch = scriptedFetch(of(503), tooMany('1'), of(503));
  const client = scriptedClient(fetch, { rateLimiter: false, retry: { maxAttempts } });
  const call = () => runToEnd(caught(client.accounts.get('42', { retry: false })));
  expect(await call()).toMatchObject({ status: 503, attempts: 1, retryable: true });
  // A 429 is no attempt.
  expect(await call()).toMatchObject({ status: 503, attempts: 1 });
  expect(fetch.requests).toHaveLength(3);
  expect(await runToEnd(caught(scriptedClient(fetch, { retry: false }).accounts.get('42')))).toMatchObject({
    attempts: 1,
  });
});

test('a timeout whose attempts all ended by timeoutMs names it, with the defaults too', async () => {
  const fetch = scriptedFetch(unresponsive);
  const client = scriptedClient(fetch, { rateLimiter: false });
  const error = (await runToEnd(caught(client.accounts.get('42')))) as Error;
  expect(error).toMatchObject({ code: 'timeout', limit: 'deadline', attempts: 4 });
  expect(error.message).toBe(
    'GET /accounts/42 got no complete response within timeoutMs (30000 ms) in 3 attempts, and none in the rest of deadlineMs (120000 ms). Try again, or raise timeoutMs.',
  );
  const other = scriptedClient(scriptedFetch(of(503), unresponsive), {
    rateLimiter: false,
    deadlineMs: 5_000,
  });
  expect(((await runToEnd(caught(other.accounts.get('42')))) as Error).message).toContain(
    'within deadlineMs (5000 ms)',
  );
});

test.each(sequences)('$method that gets $gets is sent $requests times', async (row) => {
  const { method, script, options, requests, end } = row;
  const fetch = scriptedFetch(...script);
  const call = callWith(scriptedClient(fetch, { rateLimiter: false, ...options }), method);
  const result = await runToEnd(
    call.then(
      () => OK,
      (error: unknown) => error,
    ),
  );
  if (end === OK) expect(result).toBe(OK);
  else expect(result).toMatchObject(end);
  expect(fetch.requests).toHaveLength(requests);
  const sent = fetch.requests.filter(({ init }) => init.method === method);
  expect(
    new Set(sent.map(({ init, headers }) => `${headers.get('idempotency-key')} ${init.body}`)).size,
  ).toBe(1);
});

/** Runs a read to its end; returns its result, and every wait that it reported. */
async function waitsOf(script: readonly FetchResponse[], options: ClientOptions) {
  const waits: [event: string, waitMs: unknown][] = [];
  const on = {
    wait: vi.fn(({ waitMs }: { waitMs: number | undefined }) => void waits.push(['wait', waitMs])),
    retry: vi.fn(
      ({ reason, waitMs }: { reason: string; waitMs: number }) => void waits.push([reason, waitMs]),
    ),
  };
  const fetch = scriptedFetch(...script);
  const startedAt = performance.now();
  const client = scriptedClient(fetch, { rateLimiter: false, on, ...options });
  const end = await runToEnd(client.accounts.get('42').catch((error: unknown) => error));
  return { end, waits, requests: fetch.requests.length, tookMs: performance.now() - startedAt, on };
}

/** `each` is in ms: `wait` is a wait for the quota, anything else the reason of a retry. Without `end` the call succeeds. */
const waits = (
  what: string,
  script: readonly FetchResponse[],
  options: ClientOptions,
  each: string,
  end?: object,
) => ({ what, script, options, each, end });

const date = (ms: number) => new Date(Date.parse('2026-01-31T12:00:00Z') + ms).toUTCString();
const retry = { baseDelayMs: 400, maxDelayMs: 10_000 };
const RATE_LIMITED = { code: 'rate_limited', attempts: 1, outcome: 'rejected', retryable: true };
const quota = { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '0' };

const waitRows = [
  ...(['shared', 'client', false] as const).flatMap((rateLimiter) => {
    const limited = { rateLimiter };
    const name = `, rate limiter ${rateLimiter}`;
    return [
      waits(`as long as Retry-After says${name}`, [tooMany('30'), good], limited, 'wait 30000'),
      waits(
        `until the date of Retry-After, measured against Date${name}`,
        [tooMany(date(630_000), { date: date(600_000) }), good],
        limited,
        'wait 30000',
      ),
      waits(`maxWaitMs at most for a Retry-After${name}`, [tooMany('61')], limited, '', {
        ...RATE_LIMITED,
        retryAfterMs: 61_000,
        retryAt: new Date('2026-01-31T12:01:01Z'),
      }),
      waits(
        `no time after a 429 if maxWaitMs is shorter than the shortest wait${name}`,
        [tooMany()],
        { ...limited, maxWaitMs: 50 },
        '',
        RATE_LIMITED,
      ),
      waits(
        `a minute at most for a page of a proxy${name}`,
        [page(429, { 'retry-after': '86400' }), good],
        limited,
        'wait 60000',
      ),
      waits(
        `for the 429, and then before a retry${name}`,
        [tooMany('2'), lost],
        { ...limited, retry: { ...retry, maxAttempts: 2 } },
        'wait 2000, lost 600',
        { ...LOST, attempts: 2 },
      ),
    ];
  }),
  waits(
    'longer after a second 429',
    [tooMany('2'), tooMany('2'), good],
    { retry: { ...retry, maxAttempts: 1 } },
    'wait 2000, wait 2200',
  ),
  waits(
    'within maxWaitMs after a second 429',
    [tooMany('2'), tooMany('2'), good],
    { retry, maxWaitMs: 2_100 },
    'wait 2000, wait 2100',
  ),
  waits(
    'by the rate limiter after a second 429',
    [tooMany('2'), tooMany('2'), good],
    { rateLimiter: 'client' },
    'wait 2000, wait 2000',
  ),
  waits(
    'longer each time after a 429 without Retry-After, with rateLimiter: false',
    [tooMany(), tooMany(), good],
    { retry },
    'wait 600, wait 1200',
  ),
  waits(
    'at least 100 ms after a 429',
    [tooMany(), tooMany('0'), good],
    { retry: { baseDelayMs: 0 } },
    'wait 100, wait 100',
  ),
  waits('as long as maxWaitMs', [tooMany('2'), good], { maxWaitMs: 2_000 }, 'wait 2000'),
  waits('no time for a Retry-After of centuries', [tooMany('99999999999999999999')], {}, '', {
    ...RATE_LIMITED,
    retryAfterMs: Number.MAX_SAFE_INTEGER,
    retryAt: undefined,
  }),
  waits('no time for a 429 of the service that names a day', [tooMany('86400')], {}, '', {
    ...RATE_LIMITED,
    retryAfterMs: 86_400_000,
  }),
  waits(
    'no time for a 429 with the headers of the quota that names a day',
    [page(429, { ...quota, 'retry-after': '86400' })],
    {},
    '',
    {
      ...RATE_LIMITED,
      retryAfterMs: 86_400_000,
    },
  ),
  waits(
    'no time after a 429 if the deadline ends first',
    [tooMany(), good],
    { retry: { baseDelayMs: 10_000 }, deadlineMs: 4_000 },
    '',
    RATE_LIMITED,
  ),
  waits(
    'until the deadline if every response is a 429',
    [tooMany('10')],
    { retry, deadlineMs: 35_000 },
    'wait 10000, wait 10200, wait 10400',
    RATE_LIMITED,
  ),
  waits(
    'twice as long after each failure',
    [lost, of(503), of(500), good],
    { retry },
    'lost 600, status 503 1200, status 500 2400',
  ),
  waits(
    'no longer than maxWaitMs after a failure',
    [lost, of(503), of(500), good],
    { retry, maxWaitMs: 800 },
    'lost 600, status 503 800, status 500 800',
  ),
  waits(
    'as long as a 503 says',
    [problemResponse(503, {}, { 'retry-after': '3' }), good],
    {},
    'status 503 3000',
  ),
  ...[{ maxWaitMs: 2_000 }, { deadlineMs: 2_000 }].map((options) =>
    waits(
      `no time if a 503 names more than ${JSON.stringify(options)}`,
      [problemResponse(503, {}, { 'retry-after': '3' })],
      options,
      '',
      {
        status: 503,
        attempts: 1,
        retryAfterMs: 3_000,
        retryable: true,
      },
    ),
  ),
];

test.each(waitRows)('a call waits $what', async ({ script, options, each, end }) => {
  const seen = await waitsOf(script, options);
  expect(seen.waits.map(([event, ms]) => `${event} ${ms}`).join(', ')).toBe(each);
  expect(seen.requests).toBe(seen.waits.length + 1);
  if (end === undefined) expect(seen.end).toEqual({ id: '42' });
  else expect(seen.end).toMatchObject(end);
  const waitedMs = seen.waits.reduce((sum, [, ms]) => sum + Number(ms), 0);
  expect(seen.tookMs).toBeGreaterThanOrEqual(waitedMs);
  expect(seen.tookMs).toBeLessThan(waitedMs + 100);
});

test('the events of waits name the call, and that of a retry its attempt', async () => {
  const { on } = await waitsOf([tooMany('2'), lost, good], { retry });
  const call = { method: 'GET', path: '/accounts/42' };
  expect(on.wait).toHaveBeenCalledExactlyOnceWith(expect.objectContaining(call));
  expect(on.retry).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ ...call, attempt: 1 }));
});

test('a call that the rate limiter delays reports how long: in an event and in waitedMs', async () => {
  const fetch = scriptedFetch(tooMany('2'), good);
  const wait = vi.fn();
  const client = scriptedClient(withRequestedIds(fetch), { rateLimiter: 'client', on: { wait } });
  await caught(client.accounts.get('limited', { maxWaitMs: 0 }));

  const seen: ResponseMeta[] = [];
  const call = client.accounts.get('1', { onResponse: (meta) => void seen.push(meta) });
  await advance(2_000);
  await expect(call).resolves.toEqual({ id: '1' });
  expect(wait.mock.calls).toEqual([
    [expect.objectContaining({ method: 'GET', path: '/accounts/1', waitMs: 2_000 })],
  ]);
  expect(seen).toMatchObject([{ status: 200, attempts: 1, waitedMs: 2_000 }]);
});

const withLimiter = { rateLimiter: 'client' } as const;
const abortedWaits: readonly (readonly [string, readonly FetchResponse[], ClientOptions])[] = [
  ['after a 429 with Retry-After', [tooMany('60')], withLimiter],
  ['after a 429 without Retry-After', [tooMany()], withLimiter],
  ['after a 429 without a rate limiter', [tooMany('60')], { rateLimiter: false }],
  ['for the end of a pause', [tooMany('60')], withLimiter],
  ['for the first response with its key', [unresponsive], withLimiter],
  ['in a backoff', [of(503)], withLimiter],
  ['in a backoff of Retry-After', [of(503), problemResponse(503, {}, { 'retry-after': '60' })], withLimiter],
];

test.each(abortedWaits)(
  'a call that is aborted before it waits %s ends at once',
  async (when, script, options) => {
    const controller = new AbortController();
    const abort = () => controller.abort('enough');
    const fetch = scriptedFetch(...script);
    const on = { wait: abort, retry: abort };
    const client = scriptedClient(withRequestedIds(fetch), { ...options, on });
    const isSecond = when.startsWith('for');
    if (isSecond) {
      client.accounts
        .get('0', { timeoutMs: 400_000, deadlineMs: 400_000, maxWaitMs: 0 })
        .catch(() => undefined);
      await advance(0);
    }
    const { signal } = controller;
    const call = caught(client.accounts.get('1', { signal }));
    await advance(0);
    expect(await stateOf(call)).toBe('resolved');
    expect(await call).toBe('enough');
    await advance(300_000);
    expect(fetch.requests).toHaveLength(1);
  },
);

test('a call that is throttled long after its own 429 names the wait that it was throttled for', async () => {
  const fetch = scriptedFetch(tooMany('2'), lost, tooMany('90'), good);
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

test.each([
  ['timeoutMs ends an attempt, 30 s by default', {}, 30_000, 'attempt', 1],
  [
    'deadlineMs ends a call in the middle of an attempt',
    { timeoutMs: 60_000, deadlineMs: 2_000 },
    2_000,
    'deadline',
    1,
  ],
  [
    'deadlineMs is one for all attempts',
    { timeoutMs: 800, deadlineMs: 1_000, retry: { maxAttempts: 2, baseDelayMs: 1 } },
    1_000,
    'deadline',
    2,
  ],
] as const)('%s', async (_, options, ms, limit, attempts) => {
  const fetch = scriptedFetch(unresponsive);
  const client = scriptedClient(fetch, { retry: { maxAttempts: 1 }, ...options });
  const call = caught(client.accounts.get('42'));
  await advance(ms - 5);
  expect(await stateOf(call)).toBe('pending');
  await advance(5);
  expect(await call).toMatchObject({ code: 'timeout', limit, outcome: 'unknown', attempts });
  await advance(600_000);
  expect(fetch.requests).toHaveLength(attempts);
});

test('the limits of a call take precedence over those of the client', async () => {
  const client = scriptedClient(scriptedFetch(unresponsive), {
    timeoutMs: 60_000,
    retry: { maxAttempts: 4 },
  });
  const call = caught(client.accounts.get('42', { timeoutMs: 100, retry: { maxAttempts: 1 } }));
  await advance(100);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', attempts: 1 });
});

test('timeoutMs ends an attempt however steadily its body arrives', async () => {
  const drip: FetchResponse = () => {
    const pull = async (controller: ReadableStreamDefaultController) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      controller.enqueue(new Uint8Array([0x20]));
    };
    return new Response(new ReadableStream({ pull }), { headers: { 'content-type': 'application/json' } });
  };
  const client = scriptedClient(scriptedFetch(drip), { retry: { maxAttempts: 1 } });
  const call = caught(client.accounts.get('42'));
  for (let second = 0; second < 30; second += 1) await advance(1_000);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt', outcome: 'applied' });
});

test('a call gives the body the time that the headers have left of timeoutMs', async () => {
  const late: FetchResponse = async () => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return new Response(new ReadableStream(), { headers: { 'content-type': 'application/json' } });
  };
  const client = scriptedClient(scriptedFetch(late), { timeoutMs: 500, retry: { maxAttempts: 1 } });
  const call = caught(client.accounts.get('42'));
  await advance(400);
  await advance(99);
  expect(await stateOf(call)).toBe('pending');
  await advance(1);
  expect(await call).toMatchObject({ code: 'timeout', limit: 'attempt' });
});

test('a call discards a response that arrives after the timeout: emits no event and cancels its body', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const late = jsonResponse({ id: 'late' });
  const cancel = vi.spyOn(late.body as ReadableStream, 'cancel');
  const response = vi.fn();
  // A fetch that does not listen to its signal.
  const client = scriptedClient(
    scriptedFetch(() => promise, good),
    { on: { response }, timeoutMs: 500 },
  );
  const call = client.accounts.get('42');
  await advance(500);
  await advance(10);
  expect(await call).toEqual({ id: '42' });
  resolve(late);
  await advance(0);
  expect(response).toHaveBeenCalledTimes(1);
  expect(cancel).toHaveBeenCalledTimes(1);
});

test('a call stops with the reason of its signal while a body stalls that ignores it', async () => {
  const controller = new AbortController();
  const client = scriptedClient(scriptedFetch(stalledBody));
  const call = caught(client.accounts.get('42', { signal: controller.signal }));
  await advance(0);
  controller.abort('enough');
  expect(await stateOf(call)).toBe('resolved');
  expect(await call).toBe('enough');
});

test('a call with limits of Infinity waits as long as it takes, and a response leaves no timer behind', async () => {
  const slow: FetchResponse = async () => {
    await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    return good.clone();
  };
  const [timeoutMs, deadlineMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const call = scriptedClient(scriptedFetch(slow), { timeoutMs, deadlineMs }).accounts.get('42');
  await advance(3_600_000);
  await expect(call).resolves.toEqual({ id: '42' });
  expect(vi.getTimerCount()).toBe(0);
});

test('deadlineMs begins again with each page of a list', async () => {
  const slowPage: FetchResponse = async ({ url }) => {
    await new Promise((resolve) => setTimeout(resolve, 900));
    const number = Number(url.searchParams.get('_page'));
    return jsonResponse(number <= 5 ? [{ id: String(number) }] : []);
  };
  const client = scriptedClient(scriptedFetch(slowPage), { deadlineMs: 1_000 });
  const records = client.accounts.list({}, { pagination: 'page', prefetch: 0 }).toArray({ limit: 10 });
  await expect(runToEnd(records)).resolves.toHaveLength(5);
});

test('the read after an update that gets 204 has what is left of deadlineMs', async () => {
  const late = (ms: number, response: Response) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return response.clone();
  };
  const fetch = scriptedFetch(late(700, new Response(null, { status: 204 })), late(5_000, good));
  const client = scriptedClient(fetch, { deadlineMs: 1_000 });
  const call = caught(client.products.update('1', { name: 'Desk' }));
  await advance(700);
  await advance(300);
  expect(await stateOf(call)).toBe('resolved');
  expect(await call).toMatchObject({ code: 'unexpected_response', method: 'PATCH', outcome: 'applied' });
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(['PATCH', 'GET']);
});

test('the response event says how long the response took', async () => {
  const response = vi.fn();
  const slow: FetchResponse = async () => {
    await new Promise((resolve) => setTimeout(resolve, 300));
    return good.clone();
  };
  await runToEnd(scriptedClient(scriptedFetch(slow), { on: { response } }).accounts.get('42'));
  expect(response).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ durationMs: 300 }));
});

test('a create whose response is lost after the commit creates one record, also if the caller repeats it', async () => {
  await using sandbox = createSandbox();
  const lostTimes = (times: number) =>
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { times });
  const { products } = createClient({ ...sandbox.clientOptions, retry: { maxAttempts: 2, baseDelayMs: 1 } });

  lostTimes(1);
  const desk = await runToEnd(products.create({ name: 'Desk', salePrice: '129.0000' }));
  expect(sandbox.store.products.all()).toMatchObject([{ id: desk.id, salePrice: '129.0000' }]);

  lostTimes(2);
  const error = await runToEnd(caught(products.create({ name: 'Chair' })));
  expect(error).toMatchObject({ ...LOST, idempotencyKey: expect.any(String) });
  const { idempotencyKey } = error as { idempotencyKey: string };
  const chair = await runToEnd(products.create({ name: 'Chair' }, { idempotencyKey }));
  expect(sandbox.store.products.all().map(({ id }) => id)).toEqual([desk.id, chair.id]);
});

test('an update that gets 204 returns the updated record, and onResponse is called for the update alone', async () => {
  await using sandbox = createSandbox({ updateStatus: 204 });
  const { id } = sandbox.store.products.insert({ name: 'Desk', brand: 'Oak & Co' });
  const { products } = createClient(sandbox.clientOptions);
  const responses: unknown[] = [];
  const onResponse = ({ status, attempts }: ResponseMeta) => void responses.push([status, attempts]);
  const updated = await products.update(id, { name: 'Standing desk', brand: null }, { onResponse });
  expect(responses).toEqual([[204, 1]]);
  expect(updated).toMatchObject({ id, name: 'Standing desk', brand: null });
  expect(sandbox.requests.map(({ method }) => method)).toEqual(['PATCH', 'GET']);
});

test('a delete that gets 404 after a lost response succeeds, and its listeners see a success', async () => {
  const [end, error, onResponse] = [vi.fn(), vi.fn(), vi.fn()];
  const client = scriptedClient(scriptedFetch(lost, of(404)), { on: { end, error } });
  await expect(runToEnd(client.products.delete('1', { onResponse }))).resolves.toBeUndefined();
  expect(end).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ result: 'ok' }));
  expect(error).not.toHaveBeenCalled();
  expect(onResponse).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ status: 404 }));
});

test('a delete that has happened returns what the schema of the caller makes of an empty body', async () => {
  const request = { method: 'DELETE', path: '/invoices/7' } as const;
  const gone = { ...request, schema: z.undefined().transform(() => 'gone') };
  expect(await scriptedClient(scriptedFetch(cutBody)).request(gone)).toBe('gone');
  const due = { ...request, schema: z.object({ id: z.string() }) };
  for (const [script, error] of [
    [[cutBody], { code: 'unexpected_response', outcome: 'applied' }],
    [[lost, of(404, 'not_found')], { code: 'not_found', outcome: 'unknown' }],
  ] as const) {
    expect(await runToEnd(caught(scriptedClient(scriptedFetch(...script)).request(due)))).toMatchObject(
      error,
    );
  }
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
  const fetch = scriptedFetch(new Response(null, { status: 204 }), unresponsive);
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
