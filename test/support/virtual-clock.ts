import { createClient } from 'accounting-data-sdk';
import { afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { eventLoopTurn, settle } from './scripted-server.ts';
import { SeededRandom } from './seeded-random.ts';

/**
 * Stops timers and dates in every test of this file until the test advances them. Sockets and promises still work, so a
 * test never depends on the speed of the machine.
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
  const client = createClient({
    baseUrl: 'https://load.example',
    apiKey: 'key',
    fetch,
    validation: 'report',
  });
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
    timer = setInterval(() => vi.advanceTimersByTime(stepMs), 2);
  });
  afterEach(() => {
    clearInterval(timer);
    stopVirtualClock();
  });
}

/** Starts a virtual clock. With a seed, `Math.random` is seeded too, so that jitter is the same in every run. */
export function startVirtualClock(seed?: number): void {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'],
    now: Date.parse('2026-01-31T12:00:00Z'),
  });
  if (seed === undefined) return;
  const seeded = new SeededRandom(-seed);
  Math.random = () => seeded.next();
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
  let state: 'pending' | 'resolved' | 'rejected' = 'pending';
  promise.then(
    () => {
      state = 'resolved';
    },
    () => {
      state = 'rejected';
    },
  );
  await settle();
  return state;
}

/** Event loop turns without a timer after which `runToEnd` assumes that the work never ends. */
const MAX_IDLE_TURNS = 100_000;

/** Advances the clock from timer to timer until the work has ended and no timer is left. Ends as the work does. */
export function runToEnd<V>(work: Promise<V>): Promise<V> {
  return advanceWhile(work, () => vi.getTimerCount() > 0);
}

/** Advances the clock from timer to timer until the work has ended. Ends as the work does. */
export function runUntilSettled<V>(work: Promise<V>): Promise<V> {
  return advanceWhile(work, () => false);
}

/** Advances the clock from timer to timer until the work has ended, and then while there is more. */
async function advanceWhile<V>(work: Promise<V>, hasMore: () => boolean): Promise<V> {
  let ended = false;
  const end = () => {
    ended = true;
  };
  work.then(end, end);
  for (let idle = 0; idle < MAX_IDLE_TURNS; idle += 1) {
    await eventLoopTurn();
    if (ended && !hasMore()) return await work;
    if (vi.getTimerCount() > 0) {
      vi.advanceTimersToNextTimer();
      idle = 0;
    }
  }
  throw new Error('The work has not ended and nothing is left that could end it.');
}
