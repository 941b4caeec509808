/** A timer of whichever runtime. */
export type TimerId = ReturnType<typeof setTimeout>;

/** Where the gate gets time, timers and chance from. */
export interface GateClock {
  /** Ms since the epoch. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): TimerId;
  clearTimeout(id: TimerId): void;
  /** From 0 up to, not including, 1. */
  random(): number;
}

/** The runtime's own, looked up at each call: fake timers may be installed later. */
export const systemClock: GateClock = {
  now: () => Date.now(),
  setTimeout: (run, delayMs) => globalThis.setTimeout(run, delayMs),
  clearTimeout: (id) => globalThis.clearTimeout(id),
  random: () => Math.random(),
};

/** A clock that is set back, by a time server or a test, goes on from where it was: no pause becomes longer. */
export function steady(clock: GateClock): GateClock {
  let seen = Number.NEGATIVE_INFINITY;
  let ahead = 0;
  return {
    now: () => {
      const now = clock.now();
      if (now < seen) ahead += seen - now;
      seen = now;
      return now + ahead;
    },
    setTimeout: (run, delayMs) => clock.setTimeout(run, delayMs),
    clearTimeout: (id) => clock.clearTimeout(id),
    random: () => clock.random(),
  };
}
