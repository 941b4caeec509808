import { isAccountingError, isApiError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { OutageGuard, OutageWaits } from '../internal/outage.ts';
import { sleep } from '../internal/sleep.ts';
import { tell } from '../internal/tell.ts';

/** Longer than a deployment and most incidents; short enough for a job that runs by the hour. */
export const DEFAULT_MAX_OUTAGE_MS = 120_000;

const BASE_DELAY_MS = 1_000;
const MAX_DELAY_MS = 10_000;

/** What a gateway responds while the service behind it is down. */
const OUTAGE_STATUSES: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Outlasts an outage of the service, for all calls of one tenant. A call that has failed after its own retries is made
 * again, until it succeeds or has failed for `maxOutageMs`.
 */
export class OutageClock implements OutageGuard {
  readonly #maxOutageMs: number;
  /** When the first call failed since one succeeded, by the monotonic clock. */
  #downSince: number | undefined;
  #isOver = false;

  constructor(maxOutageMs: number) {
    this.#maxOutageMs = maxOutageMs;
  }

  /** Whether no call at all succeeded for `maxOutageMs`: then there is no point in trying another one. */
  get isOver(): boolean {
    return this.#isOver;
  }

  async run<V>(call: () => Promise<V>, { signal, onWait, maxWaitMs }: OutageWaits): Promise<V> {
    let failingSince: number | undefined;
    for (let failures = 1; ; failures++) {
      try {
        const value = await call();
        this.#downSince = undefined;
        return value;
      } catch (error) {
        if (signal?.aborted || !isOutage(error)) throw error;

        const now = monotonicMs();
        failingSince ??= now;
        this.#downSince ??= now;
        const leftMs = failingSince + this.#maxOutageMs - now;
        const askedMs = isApiError(error) ? (error.retryAfterMs ?? 0) : 0;
        if (leftMs <= 0 || askedMs > maxWaitMs) {
          // While other calls succeed, it is not the service that is down.
          this.#isOver = now - this.#downSince >= this.#maxOutageMs;
          throw error;
        }
        // maxWaitMs limits what the service asks for: a shorter delay would only ask a service that is down more often.
        const waitMs = Math.max(askedMs, Math.min(delayMs(failures), leftMs));
        tell(onWait, waitMs);
        await sleep(waitMs, signal);
      }
    }
  }
}

/** At least half of the exponential delay: the service has just failed five attempts. */
function delayMs(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (failures - 1));
}

function isOutage(error: unknown): boolean {
  if (isApiError(error)) return OUTAGE_STATUSES.has(error.status);
  const noResponse = isAccountingError(error, 'connection_failed') || isAccountingError(error, 'timeout');
  return noResponse && error.retryable;
}

/** The option of a sync or a reconcile, with its default. */
export function resolveMaxOutage(maxOutageMs: number = DEFAULT_MAX_OUTAGE_MS): number {
  if (typeof maxOutageMs !== 'number' || !(maxOutageMs >= 0)) {
    throw new InvalidInputError('maxOutageMs', 'must be a number of milliseconds, at least 0');
  }
  return maxOutageMs;
}
