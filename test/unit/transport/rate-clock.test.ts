import { afterEach, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/transport/rate-clock.ts';

afterEach(() => {
  vi.useRealTimers();
});

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
