// The pushes that run in this process: one for each tenant of a service.

import { ConcurrentRunError } from '../errors/concurrent-run-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';

/** Where every copy of the package in the process looks. */
const SLOT = Symbol.for('accounting-data-sdk.pushes');

/** Whole seconds in `createdAt` and in `Date` hide which of two products of so short a time is older. */
const CLOSE_MS = 3_000;

/** When the last push of each tenant ended, by a monotonic clock; undefined while it runs. */
type Runs = Map<string, number | undefined>;

function allRuns(): Runs {
  const holder = globalThis as { [SLOT]?: Runs };
  if (holder[SLOT] === undefined) {
    Object.defineProperty(globalThis, SLOT, { value: new Map(), configurable: true });
  }
  return holder[SLOT] ?? new Map();
}

/** A push that has the place of its tenant. */
export interface PushRun {
  /** Whether another push of the tenant ended so shortly before that `createdAt` cannot tell their products apart. */
  isClose(): boolean;
  end(): void;
}

/** Takes the place of the one push of a tenant in this process. In other processes the store notices a second one. */
export function beginRun(name: string): PushRun {
  const runs = allRuns();
  const endedAt = runs.get(name);
  if (runs.has(name) && endedAt === undefined) {
    throw new ConcurrentRunError('Another push of this tenant is running in this process.', {
      retryable: true,
      hint: 'Wait for it to end.',
    });
  }
  for (const [other, at] of runs) if (at !== undefined && monotonicMs() - at >= CLOSE_MS) runs.delete(other);
  runs.set(name, undefined);
  return {
    isClose: () => endedAt !== undefined && monotonicMs() - endedAt < CLOSE_MS,
    end: () => void runs.set(name, monotonicMs()),
  };
}
