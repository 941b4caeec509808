import { checkMs } from '../errors/check-input.ts';
import { isAccountingError, isApiError } from '../errors/guards.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { notify } from '../internal/notify.ts';
import type { RequestGuard, RequestWaits } from '../internal/request-guard.ts';
import { sleep } from '../internal/sleep.ts';

/** Longer than a deployment and most incidents; short enough for a job that runs by the hour. */
export const DEFAULT_MAX_OUTAGE_MS = 120_000;

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 10_000;

/** What a gateway returns while the service behind it is down. */
const OUTAGE_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/** How many calls of a tenant the service has responded to, shared by all its collections. */
export interface ServedCalls {
  count: number;
}

/**
 * Outlasts an outage of the service, for the calls of one collection. A call that has failed after its own retries is
 * sent again, until it succeeds or `maxOutageMs` have passed since its first failed attempt.
 */
export class Outage implements RequestGuard {
  readonly #maxOutageMs: number;
  readonly #served: ServedCalls;
  /** The count when the last failed call of this collection began to fail, and at the last failure. */
  #countAtFirstFailure: number | undefined;
  #countAtLastFailure: number | undefined;
  #gaveUp = false;

  constructor(maxOutageMs: number, served: ServedCalls = { count: 0 }) {
    this.#maxOutageMs = maxOutageMs;
    this.#served = served;
  }

  /** Whether the service has responded to no call of the tenant since this collection last failed. */
  get isDown(): boolean {
    return this.#countAtLastFailure === this.#served.count;
  }

  /** Whether a call has failed for `maxOutageMs`, and the service has responded to no call of the tenant since it began. */
  get isOver(): boolean {
    return this.#gaveUp && this.#countAtFirstFailure === this.#served.count;
  }

  async run<V>(
    call: (onWait: RequestWaits['onWait']) => Promise<V>,
    { signal, onWait, maxWaitMs }: RequestWaits,
  ): Promise<V> {
    const served = this.#served;
    let firstFailureAt: number | undefined;
    const onFailedAttempt = () => {
      if (firstFailureAt === undefined) this.#countAtFirstFailure = served.count;
      firstFailureAt ??= monotonicMs();
      this.#countAtLastFailure = served.count;
      return firstFailureAt;
    };
    const onOwnWait: RequestWaits['onWait'] = (waitMs, reason) => {
      if (reason === 'retry') onFailedAttempt();
      onWait?.(waitMs, reason);
    };
    for (let failures = 1; ; failures++) {
      try {
        const value = await call(onOwnWait);
        served.count++;
        return value;
      } catch (error) {
        if (signal?.aborted) throw error;
        if (!isOutage(error)) {
          if (isApiError(error)) served.count++;
          throw error;
        }

        const leftMs = onFailedAttempt() + this.#maxOutageMs - monotonicMs();
        const retryAfterMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
        if (leftMs <= 0 || retryAfterMs > maxWaitMs) {
          this.#gaveUp = true;
          throw error;
        }

        // maxWaitMs limits what the service asks for: a shorter delay would send more requests to a service that is down.
        const waitMs = Math.max(retryAfterMs, Math.min(outageDelayMs(failures), leftMs));
        notify((ms: number) => onWait?.(ms, 'outage'), waitMs);
        await sleep(waitMs, signal);
      }
    }
  }
}

/** At least half of the exponential delay: the service has just failed several attempts. */
export function outageDelayMs(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (failures - 1));
}

/** Whether an error says that the service is down. */
export function isOutage(error: unknown): boolean {
  if (isApiError(error)) return OUTAGE_STATUSES.has(error.status);
  const noResponse = isAccountingError(error, 'connection_failed') || isAccountingError(error, 'timeout');
  return noResponse && error.retryable;
}

/** The option of a sync or a reconcile, with its default. */
export function resolveMaxOutage(maxOutageMs: number = DEFAULT_MAX_OUTAGE_MS): number {
  return checkMs(maxOutageMs, 'maxOutageMs', 0);
}
