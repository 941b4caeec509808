import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Limiter, limitersFor } from '../../../src/rate-limiter/limiters.ts';
import { type LimitedCall, WaitEnded } from '../../../src/rate-limiter/rate-limiter.ts';

const ORIGIN = 'https://books.example.com';
const SLOT = Symbol.for('accounting-data-sdk.rate-limiters');
const MINUTE_MS = 60_000;
const CALL: LimitedCall = {
  priority: 'interactive',
  wasRejected: false,
  signal: undefined,
  deadlineAt: Number.POSITIVE_INFINITY,
  maxWaitMs: 1_000,
  timeoutMs: 30_000,
  onWait: () => {},
};

const shared = (key: string, origin = ORIGIN) => limitersFor('shared')(origin, key);
const pause = (limiter: Limiter, retryAfterMs: number) =>
  limiter.run(CALL, async (permit) => {
    permit.settle({ status: 429, limit: 100, remaining: 0, retryAfterMs });
  });
/** What a call comes to: `sent`, or the error. */
const outcomeOf = (limiter: Limiter) =>
  limiter
    .run(CALL, async (permit) => {
      permit.settle({ status: 200, limit: 100, remaining: 50, retryAfterMs: undefined });
      return 'sent';
    })
    .catch((error: unknown) => error);

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-03-01T12:00:00Z') });
  Reflect.deleteProperty(globalThis, SLOT);
});
afterEach(() => {
  vi.useRealTimers();
});

test('two installed copies of the package share the limiter of a key, and know the error of each other', async () => {
  vi.resetModules();
  const copy = await import('../../../src/rate-limiter/limiters.ts');
  expect(copy.limitersFor).not.toBe(limitersFor);
  await pause(copy.limitersFor('shared')(ORIGIN, 'one'), 30_000);
  const error = await outcomeOf(shared('one'));
  expect(error).toBeInstanceOf(WaitEnded);
  expect(error).toMatchObject({ reason: 'throttled', retryAfterMs: 30_000 });
  const other = await import('../../../src/rate-limiter/rate-limiter.ts');
  expect(other.WaitEnded).not.toBe(WaitEnded);
  expect(error).toBeInstanceOf(other.WaitEnded);
  expect(new Error('something else')).not.toBeInstanceOf(WaitEnded);
});

test.each([
  ['another key', () => shared('two')],
  ['another origin', () => shared('one', 'https://other.example.com')],
  ['a client with a limiter of its own', () => limitersFor('client')(ORIGIN, 'one')],
  ['a client without one', () => limitersFor(false)(ORIGIN, 'one')],
])('the pause of a key does not hold %s', async (_name, limiter) => {
  await pause(shared('one'), 30_000);
  expect(await outcomeOf(limiter())).toBe('sent');
});

test('a limiter is dropped after ten idle minutes, when another is asked for and not by a timer', async () => {
  const before = shared('one');
  await outcomeOf(before);
  expect(vi.getTimerCount()).toBe(0);
  await vi.advanceTimersByTimeAsync(9 * MINUTE_MS);
  shared('two');
  expect(shared('one')).toBe(before);
  await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
  shared('two');
  expect(shared('one')).not.toBe(before);
});

test('a limiter whose pause holds is not dropped', async () => {
  const paused = shared('paused');
  await pause(paused, 30 * MINUTE_MS);
  await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
  shared('two');
  expect(shared('paused')).toBe(paused);
});

test('no inspection of the registry or of a limiter shows a key', async () => {
  const key = 'k-0123456789-secret';
  const limiter = shared(key);
  await outcomeOf(limiter);
  for (const value of [Reflect.get(globalThis, SLOT), limiter, limitersFor('client')(ORIGIN, key)]) {
    const shown = inspect(value, { depth: 10, showHidden: true, getters: true, showProxy: true });
    expect(shown.length).toBeGreaterThan(5);
    expect(shown).not.toContain(key);
    expect(JSON.stringify(value) ?? '').not.toContain(key);
  }
  expect(Object.keys(globalThis)).not.toContain(String(SLOT));
});
