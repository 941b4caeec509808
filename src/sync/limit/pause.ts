import { monotonicMs } from '../../internal/monotonic-clock.ts';
import { CallStopped, type WaitReason } from '../../transport/call-options.ts';
import { exceededLimit, type LimitedRun, mustPause, type RunLimit } from './run-limit.ts';
import type { StopAfter } from './stop-after.ts';

/** What a collection tells of itself. */
interface PausedRun {
  /** Whether the next run could resume it. */
  canPause(): boolean;
  /** What the outage clock shows. */
  outage(): Pick<LimitedRun, 'isFailing' | 'isDown'>;
}

/** How the limit of a sync pauses one of its collections. Without a limit it never does. */
export class Pause {
  /** Ends requests and waits of the collection: the signal of the run, or the pause. */
  readonly signal: AbortSignal | undefined;
  /** The limit after which requests were sent. */
  exceededLimit: keyof StopAfter | undefined;
  /** Undefined without a limit. */
  readonly beforeAttempt: (() => void) | undefined;
  readonly #limit: RunLimit | undefined;
  readonly #run: PausedRun;
  readonly #requests = new AbortController();
  /** When the wait ends that the collection is in, until its next request. */
  #waitsUntil: number | undefined;

  constructor(limit: RunLimit | undefined, signal: AbortSignal | undefined, run: PausedRun) {
    this.#limit = limit;
    this.#run = run;
    const signals = signal === undefined ? [] : [signal];
    this.signal = limit === undefined ? signal : AbortSignal.any([this.#requests.signal, ...signals]);
    this.beforeAttempt = limit && (() => this.#beforeAttempt(limit));
  }

  #beforeAttempt(limit: RunLimit): void {
    this.#waitsUntil = undefined;
    if (this.#mustPause) throw new CallStopped();
    this.exceededLimit ??= exceededLimit(limit.state);
    limit.request();
  }

  /** The collection is going to wait: for so many ms, if that is known. */
  waits(waitMs: number | undefined, reason: WaitReason): void {
    this.#waitsUntil = monotonicMs() + (waitMs ?? Number.POSITIVE_INFINITY);
    // The quota is that of every collection.
    if (this.#limit && this.#mustPause && reason === 'rate_limit') this.#limit.isGivenUp = true;
    this.inTime();
  }

  /** Pauses the collection if the limit ends it. */
  inTime(): void {
    const limit = this.#limit;
    if (limit === undefined || !this.#mustPause) return;
    if (limit.state.leftMs <= 0) limit.isGivenUp = true;
    this.#requests.abort(new CallStopped());
  }

  /** How much longer the wait takes that was ended; 0 if there was none, or if its end is not known. */
  get resumeAfterMs(): number {
    return this.#requests.signal.aborted && Number.isFinite(this.#waitMs) ? Math.ceil(this.#waitMs) : 0;
  }

  get #mustPause(): boolean {
    if (this.#limit === undefined) return false;
    const run = { canPause: this.#run.canPause(), ...this.#run.outage(), waitMs: this.#waitMs };
    return mustPause(this.#limit.state, run);
  }

  get #waitMs(): number {
    return Math.max(0, (this.#waitsUntil ?? 0) - monotonicMs());
  }
}
