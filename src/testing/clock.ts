/** An instant: a Date, an ISO 8601 string, or milliseconds since the epoch. */
export type Instant = Date | string | number;

/** Where the time comes from, looked up at every call so that fake timers are honoured. */
export interface TimeSource {
  /** Milliseconds since the epoch. */
  now(): number;
}

/** The service's clock. It governs `Date`, `createdAt`, `updatedAt`, rate windows and the lifetime of idempotency keys. */
export interface SandboxClock extends TimeSource {
  /** Puts the clock at an instant. A running clock runs on from there, a still one stands there. */
  set(instant: Instant): void;
  /** Moves the clock by so many milliseconds; a negative number turns it back. */
  advance(ms: number): void;
  /** Stops the clock where it is; `advance` and `set` still move it. */
  freeze(): void;
}

/** What `createSandbox({ clock })` takes: an instant to stand still at, or a source that runs. */
export type ClockOption = Instant | TimeSource;

/** Milliseconds since the epoch; throws where an instant cannot be read, so that a typing error is no silent NaN. */
export function toMillis(instant: Instant): number {
  const millis = instant instanceof Date ? instant.getTime() : new Date(instant).getTime();
  if (!Number.isFinite(millis)) throw new RangeError(`Not an instant: ${String(instant)}`);
  return millis;
}

function toSource(option: ClockOption | undefined): TimeSource {
  // Not `Date.now` itself: a reference taken here would bypass a fake clock that is installed later.
  if (option === undefined) return { now: () => Date.now() };
  if (typeof option === 'object' && 'now' in option) return option;
  const stillAt = toMillis(option);
  return { now: () => stillAt };
}

/** A clock on top of a source; `offsetMs` is how far the service is ahead of it. */
export function createClock(option: ClockOption | undefined, offsetMs: number): SandboxClock {
  let source = toSource(option);
  let offset = offsetMs;

  return {
    now: () => source.now() + offset,
    set(instant) {
      offset = toMillis(instant) - source.now();
    },
    advance(ms) {
      offset += ms;
    },
    freeze() {
      const stillAt = source.now();
      source = { now: () => stillAt };
    },
  };
}
