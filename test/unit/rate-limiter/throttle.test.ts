import { expect, test } from 'vitest';
import { Throttle } from '../../../src/rate-limiter/throttle.ts';

const LIMIT = 100;

/** A throttle that has seen two windows, in which no other process sent a call. */
function alone() {
  const throttle = new Throttle();
  let now = 0;
  let remaining = LIMIT;
  const call = (left: number) => {
    now += 10;
    remaining = left;
    throttle.settle(
      throttle.markSent(now, 30_000),
      { status: 200, rateLimit: { limit: LIMIT, remaining }, retryAfterMs: undefined },
      now,
    );
  };
  for (let window = 0; window < 3; window += 1) {
    for (let used = 1; used <= 60; used += 1) call(LIMIT - used);
    now += 2_000;
  }
  /** How many calls may be in flight at once. */
  const inFlight = () => {
    let sent = 0;
    while (throttle.opensAt(now) <= now && sent < LIMIT) {
      throttle.markSent(now, 30_000);
      sent += 1;
    }
    return sent;
  };
  return { call, inFlight };
}

test('a key that no other process uses may have all that remains in flight', () => {
  const { call, inFlight } = alone();
  call(39);
  expect(inFlight()).toBe(39);
});

test('the first call of another process makes a key shared: a quarter of what remains may be in flight', () => {
  const { call, inFlight } = alone();
  call(38);
  expect(inFlight()).toBe(9);
});
