import type { AnyApiError, ClientOptions, RateLimitedError, ResponseMeta } from 'accounting-data-sdk';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeEach, expect, test, vi } from 'vitest';
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
} from '../support/scripted-fetch.ts';
import { advance, runToEnd, stateOf, useVirtualClock } from '../support/virtual-clock.ts';

// What follows each fault alone is the table of test/reliability/faults/transport.test.ts. Here is what follows several
// responses in a row, and how long a call waits before each request.

useVirtualClock();
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

const of = (status: number, type = 'about:blank') => problemResponse(status, { type });
const page = (status: number, headers: Record<string, string> = {}) =>
  new Response('<h1>No</h1>', { status, headers: { 'content-type': 'text/html', ...headers } });
/** A 429, with Retry-After if it names a time. */
const tooMany = (retryAfter?: string, headers: Record<string, string> = {}) =>
  problemResponse(429, {}, retryAfter === undefined ? headers : { ...headers, 'retry-after': retryAfter });
/** Headers without the end of their body. */
const stalled =
  (status: number, type: string, headers: Record<string, string> = {}): FetchResponse =>
  () =>
    new Response(new ReadableStream(), { status, headers: { 'content-type': type, ...headers } });
const after =
  (ms: number, response: Response): FetchResponse =>
  async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return response.clone();
  };
const start = Date.parse('2026-01-31T12:00:00Z');
const date = (ms: number) => new Date(start + ms).toUTCString();
const quota = { 'x-ratelimit-limit': '9', 'x-ratelimit-remaining': '0' };
const lost = networkError('ECONNRESET');
const good = jsonResponse({ id: '42' });
const empty = new Response(null, { status: 204 });
const cut = new Response('{"id":', { headers: { 'content-type': 'application/json' } });
/** A body that ends before its first byte. */
const failingBody = () =>
  new ReadableStream({ start: (controller) => controller.error(networkError('ECONNRESET')) });
/** No response, until the attempt is given up. */
const unresponsive: FetchResponse = ({ init: { signal } }) => noResponse(signal);

/** The responses of the tables below by name. `429-2` is a 429 with Retry-After: 2, any other number a bare problem document. */
const named: Readonly<Record<string, FetchResponse>> = {
  good,
  lost,
  unsent: networkError('ECONNREFUSED'),
  none: unresponsive,
  empty,
  cut,
  stalled: stalled(200, 'application/json'),
  'stalled-page': stalled(200, 'text/html'),
  'lost-page': () => new Response(failingBody(), { headers: { 'content-type': 'text/html' } }),
  'stalled-403': stalled(403, 'application/json'),
  'stalled-429': stalled(429, 'text/html', { 'retry-after': '2' }),
  429: tooMany(),
  '429-date': tooMany(date(630_000), { date: date(600_000) }),
  '429-page': page(429, { 'retry-after': '86400' }),
  '429-page-with-quota': page(429, { ...quota, 'retry-after': '86400' }),
  '503-busy': problemResponse(503, {}, { 'retry-after': '3' }),
  '409-stale': of(409, 'stale'),
  '409-running': of(409, 'idempotency_in_progress'),
  // A 404 that is no problem document of the service: no proof that an earlier delete was applied.
  '404-page': page(404),
  '404-of-a-route': jsonResponse({ type: 'route_not_found', status: 404 }, 404),
  '404-that-names-502': jsonResponse({ title: 'Bad Gateway', status: 502 }, 404),
  '404-as-text': problemResponse(404, { type: 'not_found' }, { 'content-type': 'text/plain' }),
};

function responseOf(name: string): FetchResponse {
  const [status, more] = name.split('-');
  const limited = { type: 'rate_limited' };
  if (more === 'limited') return problemResponse(Number(status), limited, { 'retry-after': '1' });
  return named[name] ?? (status === '429' ? tooMany(more) : of(Number(name)));
}

const scriptOf = (names: string) => scriptedFetch(...names.split(' ').map(responseOf));

/** What a call has come to, as one line. */
async function endOf(call: Promise<unknown>): Promise<string> {
  const end = await runToEnd(call.catch((error: unknown) => error));
  if (!(end instanceof Error)) return 'ok';
  const { code, outcome, attempts, retryable, retryAfterMs } = end as AnyApiError;
  const again = retryable ? `, retryable${retryAfterMs === undefined ? '' : ` after ${retryAfterMs}`}` : '';
  return `${code}, ${outcome}, attempts ${attempts}${again}`;
}

/** The last response is repeated. */
type Sequence = readonly [
  method: FourMethods,
  gets: string,
  requests: number,
  end: string,
  retry?: ClientOptions['retry'],
];

const once = { maxAttempts: 1 };
const twice = { maxAttempts: 2 };
const noCreates = { creates: false };
const noUpdates = { updates: false };

const sequences: readonly Sequence[] = [
  ...METHODS.flatMap((method): Sequence[] => [
    [method, 'unsent', 5, 'connection_failed, not_sent, attempts 5, retryable'],
    [method, 'unsent good', 2, 'ok', { ...noCreates, ...noUpdates }],
    [method, 'lost unsent', 5, 'connection_failed, unknown, attempts 5, retryable'],
    [method, '429-1 503 good', 3, 'ok', twice],
    [method, '503 429-1 503', 3, 'unknown_problem, unknown, attempts 2, retryable', twice],
    [method, 'none good', 2, 'ok'],
    [method, 'none', 2, 'timeout, unknown, attempts 2, retryable', twice],
    [method, 'stalled-403', 1, 'unknown_problem, rejected, attempts 1'],
    [method, 'stalled-429 good', 2, 'ok'],
  ]),
  ...(['GET', 'PATCH'] as const).map((method): Sequence => [method, 'stalled good', 2, 'ok']),
  ['DELETE', 'stalled', 1, 'ok'],
  ...(['GET', 'PATCH', 'DELETE'] as const).map(
    (method): Sequence => [method, 'stalled-page', 1, 'timeout, unknown, attempts 1, retryable'],
  ),
  // A create is not sent again after a 2xx.
  ['POST', 'stalled', 1, 'timeout, applied, attempts 1'],
  ['POST', 'stalled-page', 1, 'timeout, unknown, attempts 1'],
  ['POST', 'lost stalled', 2, 'timeout, applied, attempts 2'],
  ['POST', '403-limited 500-limited good', 3, 'ok', once],
  ['GET', '429-1 503', 2, 'unknown_problem, unknown, attempts 1, retryable', false],
  ['POST', 'lost 401', 2, 'unauthenticated, unknown, attempts 2'],
  ['POST', 'lost 422', 2, 'unknown_problem, unknown, attempts 2'],
  ['POST', 'lost 429-3600', 2, 'rate_limited, unknown, attempts 2, retryable after 3600000'],
  ['POST', 'lost 409-stale good', 3, 'ok'],
  ['POST', 'lost 409-stale', 3, 'unknown_problem, unknown, attempts 3'],
  ['POST', 'lost 409-stale', 2, 'unknown_problem, unknown, attempts 2', { maxAttempts: 2 }],
  ['POST', 'cut', 1, 'unexpected_response, applied, attempts 1'],
  ['POST', 'lost cut', 2, 'unexpected_response, applied, attempts 2'],
  ['POST', 'lost empty', 2, 'unexpected_response, applied, attempts 2'],
  ['POST', '409-running', 5, 'unknown_problem, unknown, attempts 5, retryable'],
  ['POST', 'lost', 1, 'connection_failed, unknown, attempts 1', noCreates],
  ['POST', '409-running', 1, 'unknown_problem, unknown, attempts 1', noCreates],
  ['POST', '503', 1, 'unknown_problem, unknown, attempts 1', noCreates],
  ['POST', 'empty', 1, 'unexpected_response, applied, attempts 1', noCreates],
  ['POST', '425 429-1 good', 3, 'ok', noCreates],
  ['PATCH', 'lost', 1, 'connection_failed, unknown, attempts 1, retryable', noUpdates],
  ['PATCH', 'cut', 1, 'unexpected_response, applied, attempts 1, retryable', noUpdates],
  ['PATCH', 'lost 404', 2, 'not_found, unknown, attempts 2'],
  ['PATCH', 'empty 404', 2, 'unexpected_response, applied, attempts 1'],
  ['DELETE', 'lost good', 2, 'ok', { ...noCreates, ...noUpdates }],
  ['DELETE', 'lost 404', 2, 'ok'],
  ['DELETE', 'lost-page', 1, 'unexpected_response, unknown, attempts 1'],
  ['DELETE', '425 404', 2, 'not_found, rejected, attempts 2'],
  ['DELETE', 'lost 403', 2, 'forbidden, unknown, attempts 2'],
  ['DELETE', 'lost 404-of-a-route', 2, 'unknown_problem, unknown, attempts 2'],
  ...['404-page', '404-that-names-502', '404-as-text'].map(
    (missing): Sequence => ['DELETE', `lost ${missing}`, 2, 'not_found, unknown, attempts 2'],
  ),
];

test.for(sequences)(
  '%s that gets %s ends after %i request(s): %s',
  async ([method, gets, requests, end, retry = {}]) => {
    const fetch = scriptOf(gets);
    const client = scriptedClient(fetch, { rateLimiter: false, retry });
    expect(await endOf(callWith(client, method))).toBe(end);
    expect(fetch.requests).toHaveLength(requests);
    const sent = fetch.requests.filter(({ init }) => init.method === method);
    const same = sent.map(({ init, headers }) => `${headers.get('idempotency-key')} ${init.body}`);
    expect(new Set(same).size).toBe(1);
  },
);

/** `each` is in ms: `wait` is a wait for the quota, anything else the reason of a retry. */
type Waits = readonly [what: string, gets: string, options: ClientOptions, each: string, end: string];

const retry = { baseDelayMs: 400, maxDelayMs: 10_000 };
const LIMITED = 'rate_limited, rejected, attempts 1, retryable';

const byAnyLimiter: readonly Waits[] = [
  ['as long as Retry-After says', '429-30 good', {}, 'wait 30000', 'ok'],
  ['until the date of Retry-After, measured against Date', '429-date good', {}, 'wait 30000', 'ok'],
  ['maxWaitMs at most for a Retry-After', '429-61', {}, '', `${LIMITED} after 61000`],
  ['a minute at most for a page of a proxy', '429-page good', {}, 'wait 60000', 'ok'],
  [
    'for the 429, and then before a retry',
    '429-2 lost',
    { retry: { ...retry, maxAttempts: 2 } },
    'wait 2000, lost 600',
    'connection_failed, unknown, attempts 2, retryable',
  ],
];

const waitRows: readonly Waits[] = [
  ...byAnyLimiter,
  ...byAnyLimiter.map(([what, gets, options, ...rest]): Waits => {
    return [`with a rate limiter ${what}`, gets, { ...options, rateLimiter: 'client' }, ...rest];
  }),
  ['longer after a second 429', '429-2 429-2 good', { retry }, 'wait 2000, wait 2200', 'ok'],
  ['at most maxWaitMs', '429-2 429-2 good', { retry, maxWaitMs: 2_100 }, 'wait 2000, wait 2100', 'ok'],
  ['longer each time without Retry-After', '429 429 good', { retry }, 'wait 600, wait 1200', 'ok'],
  ['as long as maxWaitMs', '429-2 good', { maxWaitMs: 2_000 }, 'wait 2000', 'ok'],
  ['no time for a day of the service', '429-page-with-quota', {}, '', `${LIMITED} after 86400000`],
  [
    'until the deadline if every response is a 429',
    '429-10',
    { retry, deadlineMs: 35_000 },
    'wait 10000, wait 10200, wait 10400',
    `${LIMITED} after 10000`,
  ],
  [
    'twice as long after each failure',
    'lost 503 500 good',
    { retry },
    'lost 600, status 503 1200, status 500 2400',
    'ok',
  ],
  [
    'at most maxWaitMs after a failure',
    'lost 503 good',
    { retry, maxWaitMs: 800 },
    'lost 600, status 503 800',
    'ok',
  ],
  [
    'by default for half a second to a second after a failure, then twice as long each time up to 20 s',
    'lost',
    { retry: { maxAttempts: 8 } },
    [750, 1_500, 3_000, 6_000, 12_000, 20_000, 20_000].map((ms) => `lost ${ms}`).join(', '),
    'connection_failed, unknown, attempts 8, retryable',
  ],
  ['as long as a 503 says', '503-busy good', { retry }, 'status 503 3000', 'ok'],
  ...[{ maxWaitMs: 2_000 }, { deadlineMs: 2_000 }].map((options): Waits => {
    const end = 'unknown_problem, unknown, attempts 1, retryable after 3000';
    return [`no time if a 503 names more than ${JSON.stringify(options)}`, '503-busy', options, '', end];
  }),
];

test.each(waitRows)('a call waits %s', async (_, gets, options, each, end) => {
  const waits: [event: string, waitMs: unknown][] = [];
  const fetch = scriptOf(gets);
  const client = scriptedClient(fetch, {
    rateLimiter: false,
    on: {
      wait: ({ waitMs }) => void waits.push(['wait', waitMs]),
      retry: ({ reason, waitMs }) => void waits.push([reason, waitMs]),
    },
    ...options,
  });
  const startedAt = performance.now();
  expect(await endOf(client.accounts.get('42'))).toBe(end);
  const tookMs = performance.now() - startedAt;
  expect(waits.map(([event, ms]) => `${event} ${ms}`).join(', ')).toBe(each);
  expect(fetch.requests).toHaveLength(waits.length + 1);
  const waitedMs = waits.reduce((sum, [, ms]) => sum + Number(ms), 0);
  expect(tookMs).toBeGreaterThanOrEqual(waitedMs);
  expect(tookMs).toBeLessThan(waitedMs + 100);
});

test('a 429 says when the call can be sent again, unless that is no date', async () => {
  const retryAt = async (gets: string) =>
    ((await caught(scriptedClient(scriptOf(gets)).accounts.get('1'))) as RateLimitedError).retryAt;
  expect(await retryAt('429-61')).toEqual(new Date(start + 61_000));
  expect(await retryAt('429-99999999999999999999')).toBeUndefined();
});

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

type TimeLimit = readonly [
  what: string,
  response: FetchResponse,
  options: ClientOptions,
  ms: number,
  limit: 'attempt' | 'deadline',
  attempts: number,
];

const timeLimits: readonly TimeLimit[] = [
  ['timeoutMs ends an attempt, 30 s by default', unresponsive, { retry: once }, 30_000, 'attempt', 1],
  [
    'timeoutMs is one for headers and body',
    after(400, new Response(new ReadableStream())),
    { retry: once, timeoutMs: 500 },
    500,
    'attempt',
    1,
  ],
  [
    'deadlineMs is one for all attempts',
    unresponsive,
    { timeoutMs: 800, deadlineMs: 1_000, retry: { maxAttempts: 2, baseDelayMs: 1 } },
    1_000,
    'deadline',
    2,
  ],
];

test.each(timeLimits)('%s', async (_, response, options, ms, limit, attempts) => {
  const fetch = scriptedFetch(response);
  // The limits of a call take precedence over those of the client.
  const client = scriptedClient(fetch, { timeoutMs: options.timeoutMs === undefined ? 30_000 : 1 });
  const call = caught(client.accounts.get('42', options));
  for (let left = ms - 1; left > 0; left -= 1_000) await advance(Math.min(1_000, left));
  expect(await stateOf(call)).toBe('pending');
  await advance(1);
  expect(await call).toMatchObject({ code: 'timeout', limit, attempts });
  await advance(600_000);
  expect(fetch.requests).toHaveLength(attempts);
});

test('a timeout whose attempts all ended by timeoutMs names it, another one names deadlineMs', async () => {
  const messageOf = async (gets: string, deadlineMs?: number) => {
    const client = scriptedClient(scriptOf(gets), { rateLimiter: false, deadlineMs });
    return ((await runToEnd(caught(client.accounts.get('42')))) as Error).message;
  };
  expect(await messageOf('none')).toBe(
    'GET /accounts/42 got no complete response within timeoutMs (30000 ms) in 3 attempts, and none in the rest of deadlineMs (120000 ms). Try again, or raise timeoutMs.',
  );
  expect(await messageOf('503 none', 5_000)).toContain('within deadlineMs (5000 ms)');
  expect(await messageOf('503 none', 32_000)).toContain('within deadlineMs (32000 ms)');
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

test('a call with limits of Infinity waits as long as it takes, and a response leaves no timer behind', async () => {
  const [timeoutMs, deadlineMs] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const fetch = scriptedFetch(after(3_600_000, good));
  const response = vi.fn();
  const call = scriptedClient(fetch, { timeoutMs, deadlineMs, on: { response } }).accounts.get('42');
  await advance(3_600_000);
  await expect(call).resolves.toEqual({ id: '42' });
  expect(response).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ durationMs: 3_600_000 }));
  expect(vi.getTimerCount()).toBe(0);
});

test('deadlineMs begins again with each page of a list', async () => {
  const pages = [['1'], ['2'], ['3'], []].map((ids) => after(900, jsonResponse(ids.map((id) => ({ id })))));
  const client = scriptedClient(scriptedFetch(...pages), { deadlineMs: 1_000 });
  const records = client.accounts.list({}, { pagination: 'page', prefetch: 0 }).toArray({ limit: 10 });
  await expect(runToEnd(records)).resolves.toHaveLength(3);
});

test('the read after an update that gets 204 has what is left of deadlineMs', async () => {
  const fetch = scriptedFetch(after(700, empty), after(5_000, good));
  const client = scriptedClient(fetch, { deadlineMs: 1_000 });
  const call = caught(client.products.update('1', { name: 'Desk' }));
  await advance(1_000);
  expect(await call).toMatchObject({ code: 'unexpected_response', method: 'PATCH', outcome: 'applied' });
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(['PATCH', 'GET']);
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
  expect(error).toMatchObject({ outcome: 'unknown', retryable: true, idempotencyKey: expect.any(String) });
  const { idempotencyKey } = error as { idempotencyKey: string };
  const chair = await runToEnd(products.create({ name: 'Chair' }, { idempotencyKey }));
  expect(sandbox.store.products.all().map(({ id }) => id)).toEqual([desk.id, chair.id]);
});

test('an update that gets 204 returns the updated record, and onResponse is called for the update alone', async () => {
  await using sandbox = createSandbox({ updateStatus: 204 });
  const { id } = sandbox.store.products.insert({ name: 'Desk', brand: 'Oak & Co' });
  const responses: unknown[] = [];
  const onResponse = ({ status, attempts }: ResponseMeta) => void responses.push([status, attempts]);
  const { products } = createClient(sandbox.clientOptions);
  const updated = await products.update(id, { name: 'Standing desk', brand: null }, { onResponse });
  expect(responses).toEqual([[204, 1]]);
  expect(updated).toMatchObject({ id, name: 'Standing desk', brand: null });
});
