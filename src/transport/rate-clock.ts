import { monotonicMs } from '../internal/monotonic-clock.ts';

/** A timer of whichever runtime. */
export type TimerId = ReturnType<typeof setTimeout>;

/** Where the gate gets time, timers and chance from. */
export interface GateClock {
  /** Ms of a clock that is never set. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): TimerId;
  clearTimeout(id: TimerId): void;
  /** From 0 up to, not including, 1. */
  random(): number;
}

/** The runtime's own, looked up at each call: fake timers may be installed later. */
export const systemClock: GateClock = {
  now: monotonicMs,
  setTimeout: (run, delayMs) => globalThis.setTimeout(run, delayMs),
  clearTimeout: (id) => globalThis.clearTimeout(id),
  random: () => Math.random(),
};
