/**
 * One rate limiter for each API key: it holds calls back before the service rejects them.
 *
 *             gets a permit when         the headers
 *             there is quota             have arrived
 *   queued ───────────────────▶ in flight ──────────▶ settled
 *     │                             │ no response, or none within its timeout
 *     │                             └───────────────▶ cancelled
 *     └──▶ rejected: the quota is used up for longer than the call may wait
 *
 * What is known of the key decides when the next call may be sent (throttle.ts):
 *
 *   alone    one call finds out the quota: the first of a key, the first after a pause, and one when nothing is left
 *   counted  calls in flight stay below what remains, and below a bound that grows with each success
 *   paused   a 429 pauses every call until its Retry-After
 *
 * One window of 100 calls in 2 s with 8 callers:
 *
 *   0 ms      the pause ends, one call is sent     Remaining: 99; now two may be in flight, and one more each time
 *   25 ms     8 calls in flight; each response lets one more go
 *   80 ms     Remaining: 0; one call is sent and gets a 429 with Retry-After: 2, which pauses every call
 *
 * A queued call sleeps until it is woken or its own timer fires. The first of the queue has the timer of the opening;
 * whatever changes the quota or the queue wakes it. If it may be sent, it takes its place and wakes the one after it. On
 * Workers the code of a cancelled request never runs again: each call has a timer of its own, looks now and then, and
 * passes over a first one that was woken and did not run.
 */
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { type CallInFlight, type QuotaReport, Throttle } from './throttle.ts';
import { type Waiter, WaitingLine } from './waiting-line.ts';

export type { QuotaReport } from './throttle.ts';

export interface LimitedCall {
  /** The call got a 429 before: it goes to the front of the queue. */
  readonly wasRejected: boolean;
  readonly signal: AbortSignal | undefined;
  /** The deadline of the call, in ms of the monotonic clock; Infinity for none. */
  readonly deadlineAt: number;
  /** The longest wait that the caller accepts; Infinity for any. */
  readonly maxWaitMs: number;
  /** The time within which an attempt ends: after that it no longer counts as in flight. */
  readonly timeoutMs: number;
  /** Called once, before a wait. `waitMs` is undefined if it depends on a response. */
  readonly onWait: (waitMs: number | undefined) => void;
  /**
   * The error for a call that gets no permit in time. `limit` is set if its deadline ran out while the limits were unknown.
   * Otherwise the quota is used up for longer than the call may wait: for `retryAfterMs`, if that is known.
   */
  readonly giveUp: (limit: 'deadline' | undefined, retryAfterMs: number | undefined) => Error;
}

/** The right to send one request. It is given back when the request ends; later reports are ignored. */
export interface Permit {
  /** The headers of a response have arrived: called before the body is read, so that other calls learn the quota early. */
  settle(report: QuotaReport): void;
}

/** A call that was woken and does not run within this time belongs to a cancelled request. In Node it runs at once. */
const EXPIRY_MS = 100;
/** How often each queued call looks: the first of the queue, which has the timer of the opening, may be cancelled. */
const LOOK_MS = 800;
/** A pause of a minute that begins a moment after the call still fits into a `maxWaitMs` of a minute: both are common. */
const GRACE = { share: 0.05, longestMs: 1_000 };

export class RateLimiter {
  readonly #throttle = new Throttle();
  /** Calls that got a 429, and behind them the others. */
  readonly #rejected = new WaitingLine();
  readonly #others = new WaitingLine();

  /** Nothing is queued or in flight, and no pause holds: a new limiter would be the same. */
  get isIdle(): boolean {
    return this.#first === undefined && this.#throttle.isIdle(monotonicMs());
  }

  get #first(): Waiter | undefined {
    return this.#rejected.first ?? this.#others.first;
  }

  /** Sends the call as soon as it may be sent. Rejects with what `giveUp` returns, the signal's reason, or what `send` throws. */
  async run<T>(call: LimitedCall, send: (permit: Permit) => Promise<T>): Promise<T> {
    if (call.signal?.aborted) throw call.signal.reason;
    const now = monotonicMs();
    const isOpen = this.#first === undefined && this.#throttle.opensAt(now) <= now;
    const sent = isOpen ? this.#throttle.markSent(now, call.timeoutMs) : await this.#wait(call, now);
    try {
      return await send({
        settle: (report) => {
          this.#throttle.settle(sent, report, monotonicMs());
          if (report.status === 429) this.#wakeThrottled();
          this.#wakeFirst();
        },
      });
    } finally {
      // Changes nothing after a response.
      this.#throttle.cancel(sent);
      this.#wakeFirst();
    }
  }

  /** Queues a call until it may be sent. */
  async #wait(call: LimitedCall, since: number): Promise<CallInFlight> {
    const { signal, maxWaitMs, deadlineAt } = call;
    const graceMs = Math.min(GRACE.longestMs, GRACE.share * maxWaitMs);
    const waiter: Waiter = {
      sendAt: Math.min(deadlineAt, since + maxWaitMs),
      giveUpAt: Math.min(deadlineAt, since + maxWaitMs + graceMs),
      wake: () => {},
      wokenAt: undefined,
      line: undefined,
    };
    const line = call.wasRejected ? this.#rejected : this.#others;
    const wake = () => waiter.wake();
    let isReported = false;
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        const now = monotonicMs();
        waiter.wokenAt = undefined;
        if (signal?.aborted) throw signal.reason;
        // A new call, or one that was passed over and runs after all.
        line.add(waiter);
        if (this.#isNext(waiter, now) || this.#mustSend(waiter, call, now)) {
          return this.#throttle.markSent(now, call.timeoutMs);
        }
        if (!isReported) {
          isReported = true;
          const closedUntil = this.#throttle.closedUntil(now) ?? Number.POSITIVE_INFINITY;
          call.onWait(Number.isFinite(closedUntil) ? closedUntil - now : undefined);
          // The caller may abort in it: nothing sleeps yet that the signal could wake.
          if (signal?.aborted) throw signal.reason;
        }
        await this.#sleep(waiter, now);
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      line.remove(waiter);
      // The one behind it has no timer for the opening yet.
      this.#wakeFirst();
    }
  }

  /** Whether a call may be sent now, because it is the first that runs if it is woken. */
  #isNext(waiter: Waiter, now: number): boolean {
    if (this.#throttle.opensAt(now) > now) return false;
    if (this.#firstAlive(now) === waiter) return true;
    this.#wakeFirst();
    return false;
  }

  #firstAlive(now: number): Waiter | undefined {
    for (;;) {
      const first = this.#first;
      if (first === undefined || now < (first.wokenAt ?? now) + EXPIRY_MS) return first;
      first.line?.remove(first);
    }
  }

  /** Wakes the first call: it is sent if it may be, or sets its timer to the opening. */
  #wakeFirst(): void {
    if (this.#first === undefined) return;
    const now = monotonicMs();
    const first = this.#firstAlive(now);
    if (first === undefined) return;
    if (this.#throttle.opensAt(now) <= now) first.wokenAt ??= now;
    first.wake();
  }

  /** A pause has begun: calls that cannot outlast it end now. */
  #wakeThrottled(): void {
    const now = monotonicMs();
    const closedUntil = this.#throttle.closedUntil(now) ?? now;
    for (const line of [this.#rejected, this.#others])
      for (const waiter of line) if (waiter.giveUpAt < closedUntil) waiter.wake();
  }

  /** Whether a call that has waited long enough is sent. It is, unless the service would reject it. */
  #mustSend({ sendAt, giveUpAt }: Waiter, { deadlineAt, giveUp }: LimitedCall, now: number): boolean {
    const closedUntil = this.#throttle.closedUntil(now);
    if (closedUntil === undefined) {
      if (now >= deadlineAt) throw giveUp('deadline', undefined);
      return now >= sendAt;
    }
    const isKnown = Number.isFinite(closedUntil);
    if (now < giveUpAt && !(isKnown && closedUntil > giveUpAt)) return false;
    throw giveUp(undefined, isKnown ? Math.max(0, closedUntil - now) : undefined);
  }

  /** Sleeps until it is woken, or until its own timer: every call has one, or Workers would cancel its request. */
  async #sleep(waiter: Waiter, now: number): Promise<void> {
    const ownAt = now < waiter.sendAt ? waiter.sendAt : waiter.giveUpAt;
    const first = this.#first;
    const lookAt = now + (first?.wokenAt === undefined ? LOOK_MS : EXPIRY_MS);
    const openingAt = Math.min(this.#throttle.opensAt(now), this.#throttle.expiresAt);
    const wakesAt = Math.min(ownAt, waiter === first ? openingAt : lookAt);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      waiter.wake = resolve;
      // Looked up at each use: fake timers may be installed later.
      timer = globalThis.setTimeout(resolve, Math.max(0, Math.ceil(wakesAt - now)));
    });
    globalThis.clearTimeout(timer);
  }
}
