import { expect, test } from 'vitest';
import { Throttle } from '../../../src/rate-limiter/throttle.ts';

const TIMEOUT_MS = 30_000;

/** A throttle, and its calls by name. */
function throttle() {
  const own = new Throttle();
  const calls = new Map<string, ReturnType<Throttle['markSent']>>();
  return {
    own,
    send: (at: number, ...names: readonly string[]) => {
      for (const name of names) calls.set(name, own.markSent(at, TIMEOUT_MS));
    },
    respond: (at: number, name: string, remaining?: number, status = 200) => {
      const call = calls.get(name);
      if (call === undefined) throw new Error(`${name} was not sent`);
      const rateLimit = remaining === undefined ? undefined : { limit: 100, remaining };
      const retryAfterMs = status === 429 ? 1_000 : undefined;
      own.settle(call, { status, rateLimit, retryAfterMs }, at);
    },
  };
}

test.each([
  ['more is left than before a call', 99],
  // The call has used one.
  ['as much is left as before a call', 5],
])('a response to an earlier call says nothing of a new window, which begins if %s', (_, left) => {
  const { own, send, respond } = throttle();
  send(0, 'first', 'slow');
  respond(10, 'first', 5);
  send(20, 'next');
  respond(30, 'next', left);
  respond(40, 'slow', 1);
  send(50, 'x', 'y');
  expect(own.closedUntil(60)).toBeUndefined();
});

test('of the responses of one window the lowest counts', () => {
  const { own, send, respond } = throttle();
  send(0, 'a', 'b');
  respond(10, 'b', 1);
  respond(20, 'a', 7);
  send(30, 'c');
  expect(own.closedUntil(40)).toBe(Number.POSITIVE_INFINITY);
});

test.each([
  [[0], Number.POSITIVE_INFINITY],
  [[50, undefined], Number.POSITIVE_INFINITY],
  // A service that reports no quota.
  [[undefined, undefined], undefined],
] as const)(
  'after a 429 nothing is left until a response says more, if headers have counted: %j',
  (reports, closed) => {
    const { own, send, respond } = throttle();
    const rejected = reports.at(-1);
    if (reports.length > 1) {
      send(0, 'before');
      respond(10, 'before', reports[0]);
    }
    send(20, 'rejected');
    respond(30, 'rejected', rejected, 429);
    expect([own.closedUntil(40), own.opensAt(40)]).toEqual([1_030, 1_030]);
    expect(own.closedUntil(1_030)).toBeUndefined();
    send(1_030, 'probe');
    expect(own.closedUntil(1_040)).toBe(closed);
  },
);

test('a call that hangs holds the others for five seconds after the last one, and counts for a minute', () => {
  const { own, send, respond } = throttle();
  send(0, 'first');
  respond(10, 'first', 2);
  own.markSent(100, Number.POSITIVE_INFINITY);
  own.markSent(3_100, Number.POSITIVE_INFINITY);
  expect([own.opensAt(3_200), own.expiresAt]).toEqual([8_100, 60_100]);
  // Nothing is left, and one of them is still in flight.
  expect([own.opensAt(60_200), own.closedUntil(60_200)]).toEqual([8_100, Number.POSITIVE_INFINITY]);
  expect(own.isIdle(60_200)).toBe(false);
  expect([own.isIdle(63_100), own.opensAt(63_100)]).toEqual([true, 63_100]);
});

test.each([
  ['16 successes in a row report nothing left', 'count no calls', [200], undefined],
  ['a 429 comes between them', 'may count calls', [429, 200], Number.POSITIVE_INFINITY],
])('if %s, the headers %s', (_, __, last, closed) => {
  const { own, send, respond } = throttle();
  for (const [n, status] of [...Array.from({ length: 15 }, () => 200), ...last].entries()) {
    send(2_000 * n, 'call');
    respond(2_000 * n + 10, 'call', 0, status);
  }
  send(40_000, 'next');
  expect(own.closedUntil(40_010)).toBe(closed);
});
