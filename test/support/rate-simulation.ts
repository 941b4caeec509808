import { setMaxListeners } from 'node:events';
import { createClient, type FetchFunction } from 'accounting-data-sdk';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { RateLimits } from '../../src/testing/service/rate-limit.ts';
import { jsonResponse } from './scripted-fetch.ts';
import { SeededRandom } from './seeded-random.ts';

type Limits = SandboxOptions['rateLimit'] & object;
export type LimiterName = Limits['kind'] & string;

/** These have windows of their own: the first of a run may have begun before it. */
const ALIGNED: readonly LimiterName[] = ['fixed', 'sliding-counter'];

export interface Scenario {
  readonly limiter: LimiterName;
  readonly limit: number;
  readonly windowMs: number;
  /** Callers in each process: each sends its next call as soon as the last one has its response. */
  readonly callers: number;
  /** Each with a rate limiter of its own for the same key. */
  readonly processes?: number;
  readonly windows?: number;
  readonly seed: number;
}

export interface Result {
  /** Granted calls, as a share of what a client with perfect knowledge could have had. */
  readonly share: number;
  /** For each process, the number of 429s in each window. */
  readonly rejections: readonly (readonly number[])[];
  readonly failed: number;
}

/**
 * A run begins early enough in its first window that it can use the quota of the second: Retry-After is rounded up to
 * whole seconds, so that a 429 at the end of a window of one second holds the calls back for all of the next.
 */
const LATEST_PHASE = 0.75;

/** Lets the callers of one key, or of several processes with the same key, use up its quota. */
export async function playScenario(scenario: Scenario): Promise<Result> {
  const { limiter, callers, processes = 1, windows = 16, seed, windowMs } = scenario;
  const random = new SeededRandom(seed);
  await sleep(Math.floor(windowMs * LATEST_PHASE * random.next()));
  const first = ALIGNED.includes(limiter) ? Math.floor(Date.now() / windowMs) * windowMs : Date.now();
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  const service = serviceOf(scenario);
  const all = Array.from({ length: processes }, () => {
    const rejections = Array.from({ length: windows }, () => 0);
    const counts = { granted: 0, failed: 0, rejections };
    const fetch: FetchFunction = async () => {
      await sleep(wayMs(random));
      const window = Math.floor((Date.now() - first) / windowMs);
      const { retryAfterMs, ...quota } = service(Date.now());
      const allowed = retryAfterMs === undefined;
      if (!allowed) rejections[window] = (rejections[window] ?? 0) + 1;
      else if (window < windows) counts.granted += 1;
      await sleep(wayMs(random));
      return jsonResponse(allowed ? { id: '1' } : {}, allowed ? 200 : 429, {
        'x-ratelimit-limit': String(quota.limit),
        'x-ratelimit-remaining': String(quota.remaining),
        ...(allowed ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) }),
      });
    };
    const client = createClient({
      baseUrl: 'https://books.example.com',
      apiKey: 'key',
      deadlineMs: Number.POSITIVE_INFINITY,
      rateLimiter: 'client',
      fetch,
    });
    return { client, counts };
  });
  const call = async ({ client, counts }: (typeof all)[number]) => {
    while (!stop.signal.aborted) {
      await client.accounts.get('1', { signal: stop.signal }).catch(() => {
        if (stop.signal.aborted) return;
        counts.failed += 1;
        // A call may fail at once, without being sent.
        return sleep(1_000);
      });
    }
  };
  const work = all.flatMap((each) => Array.from({ length: callers }, () => call(each)));
  setTimeout(() => stop.abort(), first + windows * windowMs - Date.now());
  await Promise.all(work);

  const sum = (of: 'granted' | 'failed') => all.reduce((total, { counts }) => total + counts[of], 0);
  return {
    share: sum('granted') / mostGranted(scenario, first),
    rejections: all.map(({ counts }) => counts.rejections),
    failed: sum('failed'),
  };
}

/** The calls of a client that sends each one when it is granted, to a thousandth of a window. */
function mostGranted(scenario: Scenario, first: number): number {
  const { windows = 16, windowMs } = scenario;
  const service = serviceOf(scenario);
  let granted = 0;
  for (let now = first; now < first + windows * windowMs; now += windowMs / 1_000) {
    while (service(now).retryAfterMs === undefined) granted += 1;
  }
  return granted;
}

/** Counts the calls of one key as the sandbox does. */
function serviceOf({ limiter: kind, limit, windowMs }: Scenario) {
  const limits = new RateLimits({ kind, limit, windowMs });
  return (now: number) => limits.count('key', now);
}

const sleep = async (ms: number) => {
  if (ms > 0) await new Promise<void>((resolve) => setTimeout(resolve, ms));
};

/** One way over the network: about 3 ms, and now and then a slow one. */
function wayMs(random: SeededRandom): number {
  return random.chance(0.01) ? random.int(4, 30) : random.int(2, 4);
}
