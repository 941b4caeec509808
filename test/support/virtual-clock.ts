import { inspect } from 'node:util';
import { createClient } from 'accounting-data-sdk';
import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { eventLoopTurn, settle } from './scripted-server.ts';
import { SeededRandom } from './seeded-random.ts';
import { ignoreThreadPool, threadPoolIsBusy, watchThreadPool } from './thread-pool.ts';

/**
 * Stops timers and dates in every test of this file until the test advances them. Sockets, promises and the thread pool
 * still work; no time passes while the thread pool is busy.
 */
export function useVirtualClock(): void {
  beforeAll(loadTransport);
  beforeEach(() => startVirtualClock());
  afterEach(stopVirtualClock);
}

/**
 * Reads a record that is invalid. ky, p-retry and the whole schema load with it, which takes real time that a virtual
 * clock does not wait for.
 */
export async function loadTransport(): Promise<void> {
  const fetch = async () => Response.json([{}]);
  const options = { baseUrl: 'https://load.example', apiKey: 'key', validation: 'report' } as const;
  const client = createClient({ ...options, fetch });
  await client.accounts.list().pages().next();
}

const random = Math.random;

/**
 * Lets time pass fifty times as fast in every test of this file, for waits of work that uses sockets. A timeout of 30 s
 * still leaves 0.6 s, and a busy machine slows this clock as well. Without sockets a step of 1,000 ms is long enough.
 */
export function useFastClock(stepMs = 100): void {
  let timer: NodeJS.Timeout;
  beforeAll(loadTransport);
  beforeEach(() => {
    startVirtualClock();
    timer = setInterval(() => {
      if (!threadPoolIsBusy()) vi.advanceTimersByTime(stepMs);
    }, 2);
  });
  afterEach(() => {
    clearInterval(timer);
    stopVirtualClock();
  });
}

/** Starts a virtual clock. With a seed, `Math.random` is seeded too, so that jitter is the same in every run. */
export function startVirtualClock(seed?: number): void {
  watchThreadPool();
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    now: Date.parse('2026-01-31T12:00:00Z'),
  });
  if (seed === undefined) return;
  const seeded = new SeededRandom(-seed);
  Math.random = () => seeded.next();
}

/**
 * Starts a virtual clock on which every delay is in the middle of its range, and forgets the rate limiters of the process:
 * what is recorded depends neither on how many random numbers were drawn before, nor on what other tests did at the same
 * address.
 */
export function startEvenClock(): void {
  startVirtualClock();
  Math.random = () => 0.5;
  Reflect.deleteProperty(globalThis, Symbol.for('accounting-data-sdk.rate-limiters'));
}

/** For the tests of a file that play histories: plays each on a clock of its own, with the seed of the history. */
export function onVirtualClock<Options extends readonly unknown[], V>(
  play: (seed: number, ...options: Options) => V,
): (seed: number, ...options: Options) => V {
  beforeEach(loadTransport);
  afterEach(stopVirtualClock);
  return (seed, ...options) => {
    startVirtualClock(seed);
    return play(seed, ...options);
  };
}

export function stopVirtualClock(): void {
  vi.useRealTimers();
  ignoreThreadPool();
  Math.random = random;
}

/** Advances the clock, then waits for everything that follows from it. */
export async function advance(ms: number): Promise<void> {
  await settle();
  await vi.advanceTimersByTimeAsync(ms);
  await settle();
}

/** The state of a promise now. */
export async function stateOf(promise: Promise<unknown>): Promise<'pending' | 'resolved' | 'rejected'> {
  promise.catch(() => {});
  await settle();
  const [, state] = /^Promise \{\s*<(pending|rejected)>/.exec(inspect(promise)) ?? [];
  return (state as 'pending' | 'rejected' | undefined) ?? 'resolved';
}

/** Real time without a timer after which `runUntilSettled` assumes that the work never ends. */
const MAX_IDLE_MS = 100_000;

/** What a turn of the event loop counts for at most: a machine that stands still for a minute ends no work. */
const MAX_TURN_MS = 50;

/** Timers after which `runUntilSettled` assumes that one of them sets itself again for ever: perhaps one of another file. */
const MAX_TIMERS = 1_000_000;
const MAX_TIMERS_AFTER_END = 10_000;

/** Advances the clock from timer to timer until the work has ended and no timer is left. Ends as the work does. */
export function runToEnd<V>(work: Promise<V>): Promise<V> {
  return runUntilSettled(work, () => vi.getTimerCount() > 0);
}

/** Advances the clock from timer to timer until the work has ended, and then while there is more. Ends as the work does. */
export async function runUntilSettled<V>(work: Promise<V>, hasMore = () => false): Promise<V> {
  let ended = false;
  let left = MAX_TIMERS;
  const end = () => {
    ended = true;
    left = MAX_TIMERS_AFTER_END;
  };
  work.then(end, end);
  let idleMs = 0;
  while (idleMs < MAX_IDLE_MS) {
    const beganAt = process.hrtime.bigint();
    await eventLoopTurn();
    if (ended && (left === 0 || !hasMore())) return await work;
    idleMs += Math.min(Number(process.hrtime.bigint() - beganAt) / 1e6, MAX_TURN_MS);
    // The thread pool takes no virtual time, however long a busy machine makes it wait.
    if (threadPoolIsBusy() || vi.getTimerCount() === 0) continue;
    if (left-- === 0)
      throw new Error(
        'The work has not ended, and a timer sets itself again for ever: of this test, or of one before it.',
      );
    vi.advanceTimersToNextTimer();
    idleMs = 0;
  }
  throw new Error('The work has not ended, and no timer is left that could end it.');
}
