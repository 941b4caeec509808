import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { group, is, type Named, type OptionInputs, optional } from '../internal/options.ts';
import { CallStopped, type WaitReason } from '../transport/call-options.ts';

const limits = {
  /** After this time no request is sent, and those in flight are aborted. Default: no limit. */
  ms: optional(is.durationFrom(1)),
  /** The most requests, with retries and the lookups of deletions. Default: no limit. */
  requests: optional(is.integerFrom(1)),
};

/** When a sync pauses: at the limit that is reached first. */
export interface StopAfter extends OptionInputs<typeof limits>, Named {}

export const stopAfter = {
  ...optional(group<typeof limits, never, StopAfter>(limits)),
  verify({ ms, requests }: StopAfter, name: string) {
    if (ms === undefined && requests === undefined) {
      throw new InvalidInputError(name, 'must have ms or requests');
    }
  },
};

/**
 * The limit of one sync, shared by its collections. It applies from the first batch on: a sync that is paused before it
 * would make no progress, however often it runs.
 */
export class RunLimit {
  /** How many requests are left. */
  left: number;
  hasBatch = false;
  /** No collection can be read before the limit: not even a first batch is waited for. */
  isGivenUp = false;
  readonly #first = Promise.withResolvers<void>();
  readonly firstBatch = this.#first.promise;
  readonly #endsAt: number;

  constructor({ ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY }: StopAfter) {
    this.#endsAt = monotonicMs() + ms;
    this.left = requests;
  }

  /** Whether no further request may be sent. */
  get isReached(): boolean {
    return this.isGivenUp || (this.hasBatch && this.isOver);
  }

  /** Whether a further request passes the limit. */
  get isOver(): boolean {
    return this.left <= 0 || this.leftMs <= 0;
  }

  /** How many requests to plan for. What is retried before the first batch is not paused, so half is kept for that. */
  get forPart(): number {
    return this.hasBatch ? this.left : Math.ceil(this.left / 2);
  }

  get leftMs(): number {
    return this.#endsAt - monotonicMs();
  }

  batch(): void {
    this.hasBatch = true;
    this.#first.resolve();
  }
}

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
