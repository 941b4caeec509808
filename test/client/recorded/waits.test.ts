import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { jsonResponse, noResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

/** The response to request n, from 1, at a time in ms since the start; undefined for none. */
type Service = (n: number, ms: number) => Response | undefined;

const found = (headers: Record<string, string> = {}) => jsonResponse({ id: '1' }, 200, headers);
const rejected = (headers: Record<string, string> = {}) =>
  problemResponse(429, { type: 'rate_limited' }, headers);
const left = (limit: number, remaining: number) => ({
  'x-ratelimit-limit': `${limit}`,
  'x-ratelimit-remaining': `${Math.max(0, remaining)}`,
});

/** A quota of `limit` calls in each window, with the headers that `headersOf` returns. */
function windows(
  limit: number,
  windowMs: number,
  headersOf: (remaining: number) => Record<string, string>,
): Service {
  let [window, used] = [0, 0];
  return (_, ms) => {
    if (Math.floor(ms / windowMs) > window) [window, used] = [Math.floor(ms / windowMs), 0];
    used += 1;
    const retryAfter = String(Math.ceil(((window + 1) * windowMs - ms) / 1_000));
    return used <= limit
      ? found(headersOf(limit - used))
      : rejected({ ...headersOf(0), 'retry-after': retryAfter });
  };
}

interface Play {
  readonly service: Service;
  readonly calls?: number;
  readonly options?: ClientOptions;
  /** The options of each call, by its number from 1. */
  readonly ofCall?: (call: number) => object;
  /** When each call begins, in ms. */
  readonly startsAt?: (call: number) => number;
}

const noHeaders = () => ({});
const SERVICES: Readonly<Record<string, Play>> = {
  'no headers': { service: () => found() },
  'a large quota': { service: (n) => found(left(1_000, 1_000 - n)) },
  'a quota of 5 in 2 s': { service: windows(5, 2_000, (n) => left(5, n)), calls: 14 },
  'a quota of 5 in 2 s, without headers': { service: windows(5, 2_000, noHeaders), calls: 14 },
  'a quota of 5 in 2 s, without a rate limiter': {
    service: windows(5, 2_000, (n) => left(5, n)),
    options: { rateLimiter: false },
    calls: 9,
  },
  'a quota of one': { service: windows(1, 1_000, (n) => left(1, n)), calls: 4 },
  'headers that say 0 each time': { service: () => found(left(100, 0)), calls: 20 },
  'headers of another form': {
    service: () => found({ 'x-ratelimit-limit': '10', 'x-ratelimit-remaining': 'many' }),
  },
  'headers twice, and in one response only': {
    service: (n) =>
      n === 1 ? found({ 'x-ratelimit-limit': '10, 10', 'x-ratelimit-remaining': '3, 3' }) : found(),
  },
  'a 429 with a date': {
    service: (n) =>
      n === 1
        ? rejected({ date: 'Sat, 31 Jan 2026 10:00:00 GMT', 'retry-after': 'Sat, 31 Jan 2026 10:00:05 GMT' })
        : found(),
  },
  'a 429 with 0': { service: (n) => (n <= 2 ? rejected({ 'retry-after': '0' }) : found()) },
  'a 429 with a date in the past': {
    service: (n) => (n === 1 ? rejected({ 'retry-after': 'Sat, 31 Jan 2026 10:00:00 GMT' }) : found()),
  },
  'five 429 without Retry-After': { service: (n) => (n <= 5 ? rejected() : found()), calls: 3 },
  'a 429 for ever': { service: () => rejected({ 'retry-after': '20' }), calls: 2 },
  'a 429 in the middle': {
    service: (n) => (n === 4 ? rejected({ 'retry-after': '3', ...left(50, 9) }) : found(left(50, 50 - n))),
    calls: 12,
  },
  'a first call that hangs': {
    service: (n) => (n === 1 ? undefined : found(left(50, 50 - n))),
    options: { timeoutMs: 8_000, retry: false },
  },
  'a first call that hangs, with a short timeout': {
    service: (n) => (n === 1 ? undefined : found(left(50, 50 - n))),
    options: { timeoutMs: 1_000, retry: false },
  },
  'three calls that hang until they are aborted': {
    service: (n) => (n <= 3 ? undefined : found(left(50, 50 - n))),
    options: { timeoutMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY, retry: false },
    ofCall: (call) => (call <= 3 ? { signal: abortedAfter(70_000) } : {}),
    calls: 6,
  },
  'a quota that is used up by calls that hang': {
    service: (n) => (n === 1 ? found(left(2, 2)) : n <= 3 ? undefined : found(left(2, 2))),
    options: { timeoutMs: 30_000, retry: false },
    calls: 5,
  },
  'no quota for longer than maxWaitMs': {
    service: (n) => (n === 1 ? rejected({ 'retry-after': '10' }) : found()),
    ofCall: (call) => ({ maxWaitMs: [10_000, 9_000, 9_999, 9_600, Number.POSITIVE_INFINITY][call - 1] }),
    calls: 5,
  },
  'maxWaitMs of 0': {
    service: (n) => (n === 1 ? rejected({ 'retry-after': '1' }) : found()),
    options: { maxWaitMs: 0 },
    startsAt: (call) => (call - 1) * 700,
    calls: 4,
  },
  'deadlines within the wait': {
    service: (n) => (n === 1 ? rejected({ 'retry-after': '10' }) : found()),
    ofCall: (call) => ({ deadlineMs: call * 5_000 }),
    calls: 4,
  },
  'deadlines before the first response': {
    service: (n) => (n === 1 ? undefined : found()),
    ofCall: (call) => (call === 1 ? {} : { deadlineMs: 2_000 }),
    options: { timeoutMs: 20_000, retry: false },
    calls: 3,
  },
  'calls that are aborted while they wait': {
    service: (n) => (n === 1 ? rejected({ 'retry-after': '5' }) : found(left(50, 50 - n))),
    ofCall: (call) => (call === 2 || call === 4 ? { signal: AbortSignal.abort(new Error('stopped')) } : {}),
    calls: 5,
  },
  'a pause of a day': {
    service: (n) => (n === 1 ? rejected({ 'retry-after': '864000' }) : found()),
    options: { maxWaitMs: Number.POSITIVE_INFINITY, deadlineMs: Number.POSITIVE_INFINITY },
    calls: 2,
  },
  'a page with a Retry-After of a day': {
    service: (n) =>
      n === 1
        ? new Response('<h1>Slow down</h1>', {
            status: 429,
            headers: { 'content-type': 'text/html', 'retry-after': '86400' },
          })
        : found(),
    calls: 2,
  },
  'the same with the headers of the quota': {
    service: (n) =>
      n === 1
        ? new Response('<h1>Slow down</h1>', {
            status: 429,
            headers: { 'content-type': 'text/html', 'retry-after': '100', ...left(9, 0) },
          })
        : found(),
    options: { maxWaitMs: 200_000, deadlineMs: 300_000 },
    calls: 2,
  },
  'a 503 that says rate_limited': {
    service: (n) =>
      n === 1 ? problemResponse(503, { type: 'rate_limited' }, { 'retry-after': '4' }) : found(),
  },
  'a 403 that says rate_limited': {
    service: (n) =>
      n === 1 ? problemResponse(403, { type: 'rate_limited' }, { 'retry-after': '4' }) : found(),
    options: { retry: false },
  },
};

/** The limits of a sandbox, with a burst of calls. */
const LIMITS: Readonly<Record<string, SandboxOptions>> = Object.fromEntries(
  (['fixed', 'fixed-from-first', 'sliding-counter', 'token-bucket'] as const).map((kind) => [
    kind,
    { rateLimit: { limit: 6, windowMs: 3_000, kind } },
  ]),
);

function abortedAfter(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('stopped')), ms);
  return controller.signal;
}

/** When requests are sent, and when and how calls end. A response takes 100 ms. */
async function burst(
  calls: number,
  respond: (n: number, ms: number, signal: AbortSignal) => Promise<Response>,
  { options, ofCall = () => ({}), startsAt = () => 0 }: Partial<Play>,
): Promise<string[]> {
  const startedAt = Date.now();
  const now = () => Date.now() - startedAt;
  const sent: string[] = [];
  const ends: string[] = [];
  const waits = new Map<string, string>();
  const client = createClient({
    baseUrl: 'https://books.example',
    apiKey: 'key-of-the-company',
    rateLimiter: 'client',
    on: {
      wait: ({ path, waitMs }) => {
        const what = `at ${now()} for ${waitMs ?? 'an unknown time'}`;
        waits.set(what, `${waits.get(what) ?? ''} ${path.split('/')[2]}`);
      },
    },
    fetch: async (url, init) => {
      sent.push(`${url.split('/').at(-1)}@${now()}`);
      const n = sent.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
      return respond(n, now(), init.signal as AbortSignal);
    },
    checkIds: false,
    ...options,
  });
  const call = async (number: number) => {
    if (startsAt(number) > 0) await new Promise((resolve) => setTimeout(resolve, startsAt(number)));
    try {
      await client.accounts.get(String(number), ofCall(number));
      ends.push(`${number}@${now()}`);
    } catch (error) {
      ends.push(`${number}@${now()} ${error}`);
    }
  };
  await runToEnd(Promise.all(Array.from({ length: calls }, (_, index) => call(index + 1))));
  const failed = ends.filter((end) => end.includes(' '));
  return [
    `  sent ${sent.join(' ')}`,
    ...[...waits].map(([what, numbers]) => `  wait ${what}:${numbers}`),
    `  ends ${ends.filter((end) => !end.includes(' ')).join(' ')}`,
    ...failed.map((end) => `  ${end}`),
  ];
}

test('calls are sent, wait and end when it is recorded, by what the service says of its quota', async () => {
  const lines: string[] = [];
  for (const [name, { service, calls = 8, ...others }] of Object.entries(SERVICES)) {
    startEvenClock();
    const respond = async (n: number, ms: number, signal: AbortSignal) =>
      service(n, ms) ?? (await noResponse(signal));
    lines.push(`${name}:`, ...(await burst(calls, respond, others)));
  }
  for (const [kind, options] of Object.entries(LIMITS))
    for (const rateLimitHeaders of [true, false]) {
      startEvenClock();
      const sandbox = createSandbox({
        ...options,
        rateLimitHeaders,
        origin: 'https://books.example',
        records: { accounts: 20 },
        clock: { now: () => Date.now() },
      });
      const { apiKey } = sandbox.clientOptions;
      const respond = () =>
        sandbox.fetch('https://books.example/api/public/v1/accounts/1', {
          headers: { 'x-auth-token': apiKey },
        });
      lines.push(
        `a sandbox, ${kind}${rateLimitHeaders ? '' : ', without headers'}:`,
        ...(await burst(16, respond, {})),
      );
    }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('./waits.txt');
});
