import { afterEach, expect, test, vi } from 'vitest';
import { type GateClock, steady, systemClock } from '../../../src/transport/rate-clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A clock that is set by hand. */
function handClock(start: number) {
  const clock = {
    time: start,
    now: () => clock.time,
    setTimeout: vi.fn(() => 7 as unknown as ReturnType<GateClock['setTimeout']>),
    clearTimeout: vi.fn(),
    random: () => 0.25,
  };
  return clock;
}

test('the time of the runtime is looked up at each use, so that fake timers count', () => {
  vi.useFakeTimers({ now: 5_000 });
  vi.spyOn(Math, 'random').mockReturnValue(0.75);
  expect([systemClock.now(), systemClock.random()]).toEqual([5_000, 0.75]);

  const [kept, cancelled] = [vi.fn(), vi.fn()];
  systemClock.setTimeout(kept, 100);
  systemClock.clearTimeout(systemClock.setTimeout(cancelled, 100));
  vi.advanceTimersByTime(99);
  expect(kept).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(kept).toHaveBeenCalledTimes(1);
  expect(cancelled).not.toHaveBeenCalled();
});

test('a clock that is set back goes on from where it was, each time', () => {
  const hand = handClock(10_000);
  const clock = steady(hand);
  const seen = [10_000, 10_500, 10_500, 4_000, 4_250, 1_000, 1_100, 60_000].map((time) => {
    hand.time = time;
    return clock.now();
  });
  expect(seen).toEqual([10_000, 10_500, 10_500, 10_500, 10_750, 10_750, 10_850, 69_750]);
});

test('timers and chance are those of the clock beneath', () => {
  const hand = handClock(0);
  const clock = steady(hand);
  const run = () => {};
  const id = clock.setTimeout(run, 40);
  clock.clearTimeout(id);
  expect(hand.setTimeout).toHaveBeenCalledWith(run, 40);
  expect(hand.clearTimeout).toHaveBeenCalledWith(id);
  expect(clock.random()).toBe(0.25);
});
