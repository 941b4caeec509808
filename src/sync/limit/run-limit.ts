import { monotonicMs } from '../../internal/monotonic-clock.ts';
import { MAX_TIMER_MS } from '../../internal/sleep.ts';
import { CallStopped } from '../../transport/call-options.ts';
import type { StopAfter } from './stop-after.ts';

/** How much of the limit of a run is left. */
export interface LimitState {
  /** Until the limit of time; below 0 after it. */
  readonly leftMs: number;
  /** Requests. */
  readonly left: number;
  /** Whether the run has delivered a batch: one that never does makes no progress, however often it runs. */
  readonly hasBatch: boolean;
  /** How long the first batch is waited for beyond the limit of time. */
  readonly graceMs: number;
}

/** A collection that is about to send a request, or is in a wait. */
export interface LimitedRun {
  /** Whether the next run could resume it. */
  readonly canPause: boolean;
  /** Whether its last request failed as in an outage, which is no reason to go on beyond the limit. */
  readonly isFailing: boolean;
  /** Whether a request of the run has failed so since one has shown that the service works. */
  readonly isDown: boolean;
  /** How much longer its wait takes, in ms: 0 if it does not wait, Infinity if that is not known. */
  readonly waitMs: number;
}

/** Which limit is reached. */
export function exceededLimit({
  leftMs,
  left,
}: Pick<LimitState, 'leftMs' | 'left'>): keyof StopAfter | undefined {
  if (leftMs <= 0) return 'ms';
  return left <= 0 ? 'requests' : undefined;
}

/** Whether the limit ends the run of a collection, now or because its wait ends beyond it. */
export function mustPause(limit: LimitState, { canPause, isFailing, isDown, waitMs }: LimitedRun): boolean {
  const leftMs = limit.leftMs - (Number.isFinite(waitMs) ? waitMs : 0);
  const exceeded = exceededLimit({ ...limit, leftMs });
  if (exceeded === undefined || (exceeded === 'requests' && !limit.hasBatch)) return false;
  if (isFailing) return true;
  if (!canPause) return false;
  return limit.hasBatch || isDown || waitMs > 0 || leftMs < -limit.graceMs;
}

/** The limit of one sync, shared by its collections. */
export class RunLimit {
  readonly #endsAt: number;
  readonly graceMs: number;
  readonly #timers: readonly ReturnType<typeof setTimeout>[];
  readonly #over = new AbortController();
  /** Fires when the time is over. */
  readonly signal = this.#over.signal;
  /** Called when something may have to stop because time is over. */
  onTime: () => void = () => {};
  #left: number;
  #hasBatch = false;
  /** No other collection is read: one was paused at the limit, or the quota of the key comes back after it. */
  isGivenUp = false;
  readonly #first = Promise.withResolvers<void>();
  readonly firstBatch = this.#first.promise;

  /** `graceMs`: how long the first batch is waited for beyond the limit of time. */
  constructor(
    { ms = Number.POSITIVE_INFINITY, requests = Number.POSITIVE_INFINITY }: StopAfter,
    graceMs: number,
  ) {
    this.#endsAt = monotonicMs() + ms;
    this.graceMs = graceMs;
    this.#left = requests;
    const later = (at: number, work: () => void) =>
      // A timer may fire a little early.
      at > MAX_TIMER_MS ? [] : [setTimeout(work, at + 1)];
    const over = () => {
      this.#over.abort(new CallStopped('stopAfter'));
      this.onTime();
    };
    this.#timers = [...later(ms, over), ...later(ms + graceMs, () => this.onTime())];
  }

  /** The run has ended. */
  end(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  get state(): LimitState {
    return {
      leftMs: this.#endsAt - monotonicMs(),
      left: this.#left,
      hasBatch: this.#hasBatch,
      graceMs: this.graceMs,
    };
  }

  /** Whether another collection may be read: before the first batch one alone is read beyond the limit. */
  mayBegin(isDown: boolean): boolean {
    const { state } = this;
    return !this.isGivenUp && !mustPause(state, { canPause: true, isFailing: false, isDown, waitMs: 0 });
  }

  /** How many requests to plan for. What is retried before the first batch is not paused, so half is kept for that. */
  get forPart(): number {
    return this.#hasBatch ? this.#left : Math.ceil(this.#left / 2);
  }

  /** A request is sent. */
  request(): void {
    this.#left -= 1;
  }

  batch(): void {
    this.#hasBatch = true;
    this.#first.resolve();
  }
}
