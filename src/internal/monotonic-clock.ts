/**
 * Whole milliseconds on a clock that is never set, unlike `Date.now()`: for deadlines, waits and durations. Starts near
 * the epoch's count, so that a fresh process is not at 0. Looked up at call time, so that fake timers are honoured.
 */
export function monotonicMs(): number {
  return Math.floor(performance.timeOrigin + performance.now());
}
