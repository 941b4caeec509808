import { expect, onTestFinished, test, vi } from 'vitest';
import { Pause } from '../../../src/sync/limit/pause.ts';
import { type EndedByLimit, endOfPause } from '../../../src/sync/limit/pause-end.ts';
import { type LimitedRun, type LimitState, mustPause, RunLimit } from '../../../src/sync/limit/run-limit.ts';

const left: LimitState = { leftMs: 5_000, left: 10, hasBatch: true, graceMs: 2_000 };
const reading: LimitedRun = { canPause: true, isFailing: false, isDown: false, waitMs: 0 };
const UNKNOWN = Number.POSITIVE_INFINITY;

test.each<[string, boolean, Partial<LimitState>, Partial<LimitedRun>]>([
  ['while something is left', false, {}, {}],
  ['when the time is over', true, { leftMs: 0 }, {}],
  ['when no request is left', true, { left: 0 }, {}],
  ['in a wait that ends in time', false, {}, { waitMs: 4_000 }],
  ['in a wait that ends too late', true, {}, { waitMs: 6_000 }],
  ['in a wait of unknown length, in time', false, {}, { waitMs: UNKNOWN }],
  ['in a wait of unknown length, when the time is over', true, { leftMs: -1 }, { waitMs: UNKNOWN }],
  ['if it cannot be resumed', false, { leftMs: -9_000 }, { canPause: false }],
  ['if it cannot be resumed and fails', true, { leftMs: 0 }, { canPause: false, isFailing: true }],
  ['if it fails, in time', false, {}, { isFailing: true }],
  ['before the first batch', false, { leftMs: -1_000, hasBatch: false }, {}],
  ['before the first batch, after the time of an attempt', true, { leftMs: -2_001, hasBatch: false }, {}],
  ['before the first batch, in a wait that ends too late', true, { hasBatch: false }, { waitMs: 6_000 }],
  ['before the first batch, if it fails', true, { leftMs: 0, hasBatch: false }, { isFailing: true }],
  ['before the first batch, if another one fails', true, { leftMs: 0, hasBatch: false }, { isDown: true }],
  ['before the first batch, without requests', false, { left: 0, hasBatch: false }, { isFailing: true }],
])('a collection is paused %s: %s', (_, isPaused, limit, run) => {
  expect(mustPause({ ...left, ...limit }, { ...reading, ...run })).toBe(isPaused);
});

test('a collection whose wait has ended is not paused before the first batch, while its request is in flight', () => {
  const limit = new RunLimit({ ms: 60_000 }, 60_000);
  const outage = { isFailing: false, isDown: false };
  const pause = new Pause(limit, undefined, { canPause: () => true, outage: () => outage });
  pause.waits(undefined, 'rate_limit');
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
  pause.beforeAttempt?.();
  pause.inTime();
  expect(pause.signal?.aborted).toBe(false);
  pause.waits(undefined, 'rate_limit');
  expect(pause.signal?.aborted).toBe(true);
  // How long it takes is not known.
  expect(pause.resumeAfterMs).toBe(0);
  limit.end();
});

test('a pause says how much longer the wait takes that it ended', () => {
  const limit = new RunLimit({ ms: 60_000 }, 60_000);
  const outage = { isFailing: false, isDown: false };
  const pause = new Pause(limit, undefined, { canPause: () => true, outage: () => outage });
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  pause.waits(20_000, 'rate_limit');
  expect(pause.resumeAfterMs).toBe(0);
  pause.waits(90_000, 'rate_limit');
  expect([pause.signal?.aborted, limit.isGivenUp, pause.resumeAfterMs]).toEqual([true, true, 90_000]);
  limit.end();
});

test('a limit of time fires once, and again after the time for the first batch, unless the run has ended', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const limits = [new RunLimit({ ms: 1_000 }, 500), new RunLimit({ ms: 1_000 }, 500)];
  const [limit, ended] = limits as [RunLimit, RunLimit];
  for (const each of limits) each.onTime = vi.fn();
  const fired = () =>
    limits.map(({ signal, onTime }) => [signal.aborted, vi.mocked(onTime).mock.calls.length]);
  vi.advanceTimersByTime(1_000);
  expect(fired()).toEqual([
    [false, 0],
    [false, 0],
  ]);
  ended.end();
  vi.advanceTimersByTime(1);
  expect(fired()).toEqual([
    [true, 1],
    [false, 0],
  ]);
  vi.advanceTimersByTime(500);
  expect(fired()).toEqual([
    [true, 2],
    [false, 0],
  ]);
  limit.end();
});

test('a limit that is longer than a timer can be does not fire at once', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const limit = new RunLimit({ ms: 2 ** 31 }, 60_000);
  limit.onTime = vi.fn();
  vi.advanceTimersByTime(60_000);
  expect([limit.signal.aborted, vi.mocked(limit.onTime).mock.calls]).toEqual([false, []]);
  limit.end();
});

const well: EndedByLimit = { lastFailure: undefined, isOutage: false, hasCommitted: true };
const failing: EndedByLimit = { ...well, lastFailure: new Error('503'), isOutage: true };
const stuck: EndedByLimit = { ...failing, hasCommitted: false };
const notBegun: EndedByLimit = { ...well, hasCommitted: false };
const waiting: EndedByLimit = { ...stuck, isOutage: false };
const UP = { isDown: false, hasCommitted: true, hasDone: false };
const DOWN = { ...UP, isDown: true };
const NOTHING = { ...UP, hasCommitted: false };

test.each<[string, string, EndedByLimit[], typeof UP]>([
  ['nothing failed', 'pause', [well, notBegun], UP],
  ['nothing failed, and nothing was read', 'pause', [notBegun], NOTHING],
  ['one failed, and others go on', 'pause', [stuck, well], UP],
  ['one failed, and others have not begun', 'pause', [stuck, notBegun], UP],
  ['one failed that has read something', 'pause', [failing], UP],
  ['one that is left always fails', 'failures', [stuck], UP],
  ['all that are left always fail', 'failures', [stuck, stuck], UP],
  ['the service is down', 'outage', [failing, notBegun], DOWN],
  [
    'the service seems down, and others were read to their end',
    'failures',
    [stuck],
    { ...DOWN, hasDone: true },
  ],
  ['it does, and another has not begun', 'outage', [stuck, notBegun], { ...DOWN, hasDone: true }],
  ['it does at one that has read something', 'outage', [failing], { ...DOWN, hasDone: true }],
  ['the service is down, but for one', 'failures', [failing, well], DOWN],
  ['nothing was read', 'outage', [stuck, notBegun], NOTHING],
  ['nothing was read, because a store did not answer', 'failures', [waiting, notBegun], NOTHING],
  ['a store did not answer in the end', 'pause', [{ ...waiting, hasCommitted: true }], UP],
])('at the limit %s: %s', (_, end, ended, rest) => {
  expect(endOfPause(ended, rest)).toBe(end);
});
