import { at } from './checks.ts';

/** A time: a Date, an ISO 8601 string, or milliseconds since the epoch. */
export type Timestamp = Date | string | number;

/** Where the time comes from, read at every use so that fake timers are honoured. */
export interface TimeSource {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The service's clock. It governs `Date`, `createdAt`, `updatedAt`, rate limits and the lifetime of idempotency keys. */
export interface SandboxClock extends TimeSource {
  /** Sets the clock. A running clock continues from there, a stopped clock stays there. */
  set(timestamp: Timestamp): void;
  /** Moves the clock; a negative number turns it back. */
  advance(ms: number): void;
  /** Stops the clock; `advance` and `set` still move it. */
  freeze(): void;
}

/** The option `clock`: a timestamp at which the clock stands still, or a source that runs. */
export type ClockOption = Timestamp | TimeSource;

/** Milliseconds since the epoch. Throws a RangeError for an invalid timestamp. */
function toMillis(timestamp: Timestamp): number {
  const millis = new Date(timestamp).getTime();
  if (!Number.isFinite(millis)) throw at('clock', new RangeError(`${String(timestamp)} is not a timestamp.`));
  return millis;
}

function toSource(option: ClockOption | undefined): TimeSource {
  // Not `Date.now` itself: a reference taken here would bypass a fake clock that is installed later.
  if (option === undefined) return { now: () => Date.now() };
  if (typeof option === 'object' && 'now' in option) return option;
  const stoppedAt = toMillis(option);
  return { now: () => stoppedAt };
}

/** A clock on top of a source; the service is `offsetMs` ahead of it. */
export function createClock(option: ClockOption | undefined, offsetMs: number): SandboxClock {
  let source = toSource(option);
  let offset = offsetMs;

  return {
    now: () => source.now() + offset,
    set(timestamp) {
      offset = toMillis(timestamp) - source.now();
    },
    advance(ms) {
      offset += ms;
    },
    freeze() {
      const stoppedAt = source.now();
      source = { now: () => stoppedAt };
    },
  };
}
