import { expect, test } from 'vitest';
import { Throttle } from '../../../src/rate-limiter/throttle.ts';
import { LIMITERS } from '../../support/rate-limiters.ts';

// Where the behaviour of the throttle changes: each constant at its boundary.

const LIMIT = 100;
/** Longer than any test. */
const TIMEOUT_MS = 1e9;

/** A throttle whose calls a fixed window counts, one after the other and each with its response a ms later. */
function drivenThrottle(windowMs: number) {
  const throttle = new Throttle();
  const service = LIMITERS['fixed window']({ limit: LIMIT, windowMs });
  let now = 0;
  const call = (at: number) => {
    const sent = throttle.markSent(at, TIMEOUT_MS);
    const { allowed, limit, remaining, retryAfterS } = service(at);
    const retryAfterMs = retryAfterS === undefined ? undefined : retryAfterS * 1_000;
    throttle.settle(sent, { status: allowed ? 200 : 429, limit, remaining, retryAfterMs }, at + 1);
    now = at + 1;
  };
  return {
    throttle,
    /** A call of another process uses a part of the quota. */
    others: (at: number) => service(at),
    /** Uses the quota until a time. */
    runUntil(end: number) {
      for (let at = throttle.opensAt(now); at < end; at = throttle.opensAt(now)) call(Math.max(at, now));
      now = Math.max(now, end);
    },
    call,
  };
}

/** How many calls may be sent now without a response to any of them. */
function sendable(throttle: Throttle, now: number): number {
  let count = 0;
  while (throttle.opensAt(now) <= now) {
    throttle.markSent(now, TIMEOUT_MS);
    count += 1;
  }
  return count;
}

/** A window after twenty calls of it, and the time at which it was seen to open. */
function twentyCallsOf(window: number, windowMs: number, { othersIn }: { othersIn?: number } = {}) {
  const { throttle, runUntil, call, others } = drivenThrottle(windowMs);
  if (othersIn !== undefined) {
    runUntil(othersIn * windowMs);
    const opensAt = throttle.opensAt(othersIn * windowMs);
    call(opensAt);
    others(opensAt + 1);
    call(opensAt + 2);
  }
  runUntil(window * windowMs);
  const opensAt = throttle.opensAt(window * windowMs);
  for (let n = 0; n < 20; n++) call(opensAt + n);
  return { throttle, openedAt: opensAt + 1 };
}

// Of 80 calls, a tenth of the window is kept back: 70 are left. On a shared key a quarter of them is in flight.
const SHARED = 18;
const ALONE = 71;

test.each([
  [1, SHARED],
  [2, ALONE],
])('a key counts as shared in its first two windows: in window %d, %d calls go together', (window, calls) => {
  const { throttle, openedAt } = twentyCallsOf(window, 10_000);
  expect(sendable(throttle, openedAt + 20)).toBe(calls);
});

test.each([
  [20, SHARED],
  [21, ALONE],
])(
  'a key counts as shared in 16 windows from a sign on: in window %d, %d calls go together',
  (window, calls) => {
    const { throttle, openedAt } = twentyCallsOf(window, 10_000, { othersIn: 5 });
    expect(sendable(throttle, openedAt + 20)).toBe(calls);
  },
);

// After that time one call goes first, because another process may have used the rest.
test.each([
  [1_000, 499, ALONE],
  [1_000, 500, 1],
  [10_000, 999, ALONE],
  [10_000, 1_000, 1],
])('a window of %d ms has kept a tenth back for %d ms: %d calls go together', (windowMs, afterMs, calls) => {
  const { throttle, openedAt } = twentyCallsOf(3, windowMs);
  expect(sendable(throttle, openedAt + afterMs)).toBe(calls);
});

test.each([
  [88, 10],
  [89, 21],
])(
  'growth to %d is a new window if it is half of the limit, whatever else is in flight: %d calls go together',
  (remaining, calls) => {
    const throttle = new Throttle();
    const send = (at: number) => throttle.markSent(at, TIMEOUT_MS);
    const settle = (sent: ReturnType<typeof send>, left: number) =>
      throttle.settle(sent, { status: 200, limit: LIMIT, remaining: left, retryAfterMs: undefined }, 20);
    for (let left = 50; left >= 40; left--) settle(send(10), left);
    const [first, second] = [send(10), send(10)];
    settle(first, 39);
    settle(second, remaining);
    expect(sendable(throttle, 20)).toBe(calls);
  },
);
