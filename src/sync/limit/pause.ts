import { monotonicMs } from '../../internal/monotonic-clock.ts';
import { CallStopped, type WaitReason } from '../../transport/call-options.ts';
import type { RunLimit } from './run-limit.ts';

/** How the limit of a sync pauses one of its collections. Without a limit it never does. */
export class Pause {
  /** Ends requests and waits of the collection: the signal of the run, or the pause. */
  readonly signal: AbortSignal | undefined;
  /** Whether requests were sent after the limit. */
  exceededLimit = false;
  /** Undefined without a limit. */
  readonly beforeAttempt: (() => void) | undefined;
  readonly #limit: RunLimit | undefined;
  readonly #canPause: () => boolean;
  readonly #requests = new AbortController();
  /** The wait that the collection is in, until its next request. */
  #wait: { readonly until: number; readonly reason: WaitReason } | undefined;

  /** `canPause`: whether the next run could resume the collection. */
  constructor(limit: RunLimit | undefined, signal: AbortSignal | undefined, canPause: () => boolean) {
    this.#limit = limit;
    this.#canPause = canPause;
    const signals = signal === undefined ? [] : [signal];
    this.signal = limit === undefined ? signal : AbortSignal.any([this.#requests.signal, ...signals]);
    this.beforeAttempt = limit && (() => this.#beforeAttempt(limit));
  }

  #beforeAttempt(limit: RunLimit): void {
    this.#wait = undefined;
    if (limit.isReached && this.#canPause()) throw new CallStopped();
    if (limit.isOver) this.exceededLimit = true;
    limit.left -= 1;
  }

  /** The collection is going to wait: for so many ms, if that is known. */
  waits(waitMs: number | undefined, reason: WaitReason): void {
    this.#wait = { until: monotonicMs() + (waitMs ?? Number.POSITIVE_INFINITY), reason };
    this.inTime(waitMs);
  }

  /** Pauses if the time is over, or will be after a wait. A first batch is waited for, but not for the service. */
  inTime(waitMs = 0): void {
    const limit = this.#limit;
    if (limit === undefined || !this.#canPause() || limit.leftMs > waitMs) return;
    if (!limit.hasBatch && !this.#isWaiting) return;
    // After a failed attempt another collection may be read anyway.
    if (this.#isWaiting && this.#wait?.reason !== 'retry') limit.isGivenUp = true;
    this.#requests.abort(new CallStopped());
  }

  /** Whether the collection was paused in a wait after a failed attempt. */
  get endedRetries(): boolean {
    return this.#requests.signal.aborted && this.#wait?.reason === 'retry';
  }

  /** How much longer the wait takes that was ended; 0 if there was none, or if its end is not known. */
  get resumeAfterMs(): number {
    if (!this.#requests.signal.aborted || this.#wait === undefined) return 0;
    const leftMs = Math.ceil(this.#wait.until - monotonicMs());
    return Number.isFinite(leftMs) ? Math.max(0, leftMs) : 0;
  }

  get #isWaiting(): boolean {
    return this.#wait !== undefined && monotonicMs() < this.#wait.until;
  }
}
