/**
 * One rate limiter for each API key: it holds calls back before the service rejects them.
 *
 *             it is next, and            the headers
 *             a call may be sent         have arrived
 *   queued ───────────────────▶ in flight ──────────▶ settled
 *     │                             │ no response, or none within its timeout
 *     │                             └───────────────▶ cancelled
 *     └──▶ WaitEnded: the quota is used up for longer than the call may wait
 *
 * What is known of the key decides when the next call may be sent (throttle.ts, window.ts):
 *
 *   unknown ── headers ──▶ counted: while in flight < remaining, then one probe when the quota is expected back
 *      │                      │  ▲
 *      └── no headers ──▶ unlimited         429 ──▶ paused until Retry-After, whatever the state
 *
 * One window of 100 calls in 2 s, after the first windows, with 8 callers:
 *
 *   0 ms      one probe is sent: the window should be open     Remaining: 99 → the window is open
 *   6 ms      8 calls in flight; each response lets one more go
 *   70 ms     Remaining: 10; these are left to other processes for a second
 *   1,000 ms  the rest is used, one call first: others may have used it meanwhile
 *   1,010 ms  Remaining: 0; later calls are queued; the first in the queue sets a timer for 2,005 ms
 *   2,005 ms  the first in the queue is the next probe
 *
 * A queued call sleeps until it is woken or its own timer fires. Whatever changes the front of the queue or the quota
 * wakes the first two calls: the first is sent, or sets the timer of the next opening; the second watches the first,
 * because on Workers the code of a cancelled request never runs again.
 */
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { MAX_TIMER_MS } from '../internal/sleep.ts';
import { type QuotaReport, type Sent, Throttle } from './throttle.ts';
import { type LimitedCall, Waiter, WaitingQueue } from './waiting-queue.ts';

export type { QuotaReport } from './throttle.ts';
export type { LimitedCall } from './waiting-queue.ts';

/** The right to send one request. It is given back when the request ends; later reports are ignored. */
export interface Permit {
  /** The headers of a response have arrived: called before the body is read, so that the news is fresh. */
  settle(report: QuotaReport): void;
}

/** After this time a woken call that has not run is skipped. */
const OFFER_MS = 50;

/** Why a wait ended without a permit. Recognised across copies of the package by its brand. */
export class WaitEnded extends Error {
  /** `throttled`: the quota is used up for longer than the call may wait. `deadline`: the limits are unknown. */
  readonly reason: 'throttled' | 'deadline';
  /** How long until the quota is back, if known. */
  readonly retryAfterMs: number | undefined;

  constructor(reason: 'throttled' | 'deadline', retryAfterMs: number | undefined) {
    super('The rate limiter cannot send this call in time.');
    this.reason = reason;
    this.retryAfterMs = retryAfterMs;
    Object.defineProperty(this, BRAND, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}
const BRAND = Symbol.for('accounting-data-sdk.wait-ended');

export class RateLimiter {
  readonly #throttle = new Throttle();
  readonly #queue = new WaitingQueue();

  /** Nothing is queued or in flight, and no pause holds. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && this.#throttle.isIdle(monotonicMs());
  }

  /** Sends the call as soon as it may be sent. Rejects with {@link WaitEnded}, the signal's reason, or what `send` throws. */
  async run<T>(call: LimitedCall, send: (permit: Permit) => Promise<T>): Promise<T> {
    if (call.signal?.aborted) throw call.signal.reason;
    const now = monotonicMs();
    const isOpen = this.#queue.size === 0 && this.#throttle.opensAt(now) <= now;
    const sent = isOpen ? this.#throttle.markSent(now, call.timeoutMs) : await this.#wait(call, now);
    try {
      return await send({
        settle: (report) => {
          const at = monotonicMs();
          this.#throttle.settle(sent, report, at);
          if (report.status === 429) this.#wakeThrottled(at);
          this.#wakeFront();
        },
      });
    } finally {
      // Changes nothing after a response.
      this.#throttle.cancel(sent);
      this.#wakeFront();
    }
  }

  /** Queues a call until it is sent. */
  async #wait(call: LimitedCall, since: number): Promise<Sent> {
    const { signal } = call;
    const waiter = new Waiter(call, since);
    const wake = () => waiter.wake();
    let isReported = false;
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        const now = monotonicMs();
        waiter.wakesAt = now;
        // It runs, so that it must not be passed over.
        waiter.isWoken = false;
        if (signal?.aborted) throw signal.reason;
        // A new call, or one that was passed over because it did not run in time.
        if (!waiter.isQueued) this.#queue.add(waiter);
        const opensAt = this.#throttle.opensAt(now);
        const isNext = opensAt <= now && this.#first(now) === waiter;
        if (isNext || this.#mustSend(waiter, call, now)) {
          this.#queue.shift(waiter);
          return this.#throttle.markSent(now, call.timeoutMs);
        }
        if (!isReported) {
          isReported = true;
          call.onWait(Number.isFinite(opensAt) && opensAt > now ? opensAt - now : undefined);
        }
        // The timer of the first should have fired: it runs now, or is passed over.
        if (opensAt <= now) this.#wakeFront();
        await this.#sleep(waiter, now);
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      this.#queue.remove(waiter);
      this.#wakeFront();
    }
  }

  /** Whether a call that has waited long enough is sent. It is, unless the service would reject it. */
  #mustSend({ sendAt, giveUpAt }: Waiter, { deadlineAt }: LimitedCall, now: number): boolean {
    if (this.#throttle.isClosed(now)) {
      const opensAt = this.#throttle.opensAt(now);
      const isTooLate = Number.isFinite(opensAt) && opensAt > giveUpAt;
      if (!isTooLate && now < giveUpAt) return false;
      throw new WaitEnded('throttled', Number.isFinite(opensAt) ? Math.max(0, opensAt - now) : undefined);
    }
    if (now >= deadlineAt) throw new WaitEnded('deadline', undefined);
    return now >= sendAt;
  }

  /** Sleeps until it is woken, or until its own timer: every waiter has one, or Workers would cancel its request. */
  async #sleep(waiter: Waiter, now: number): Promise<void> {
    const ownAt = now < waiter.sendAt ? waiter.sendAt : waiter.giveUpAt;
    const isFront = this.#queue.firstTwo.includes(waiter);
    waiter.wakesAt = isFront ? Math.min(ownAt, this.#dueAt(now)) : ownAt;
    waiter.isWoken = false;
    const delayMs = Math.min(Math.max(0, Math.ceil(waiter.wakesAt - now)), MAX_TIMER_MS);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      waiter.wake = resolve;
      // Looked up at each use: fake timers may be installed later.
      timer = globalThis.setTimeout(resolve, delayMs);
    });
    globalThis.clearTimeout(timer);
  }

  /** When the front of the queue looks again: at the next opening, or when a call stops counting. */
  #dueAt(now: number): number {
    const opensAt = this.#throttle.opensAt(now);
    // The first was woken: the second passes it over if it does not run.
    if (opensAt <= now) return now + OFFER_MS + 1;
    return Math.min(opensAt, this.#throttle.expiresAt);
  }

  /** The next call, after those that were woken and do not run. */
  #first(now: number): Waiter | undefined {
    for (;;) {
      const [first] = this.#queue.firstTwo;
      // Its timer may be late because the event loop stalled: only one that was woken and does not run is gone.
      if (!first?.isWoken || now - first.wakesAt <= OFFER_MS) return first;
      this.#queue.remove(first);
    }
  }

  /** Wakes the first two calls if one may be sent now, or if their timers would fire too late. */
  #wakeFront(): void {
    if (this.#queue.size === 0) return;

    const now = monotonicMs();
    if (this.#first(now) === undefined) return;

    const isOpen = this.#throttle.opensAt(now) <= now;
    const dueAt = this.#dueAt(now);
    for (const waiter of this.#queue.firstTwo) {
      if (!waiter.isWoken && (isOpen || waiter.wakesAt > dueAt)) this.#wake(waiter, now);
    }
  }

  #wake(waiter: Waiter, now: number): void {
    waiter.wakesAt = now;
    waiter.isWoken = true;
    waiter.wake();
  }

  /** A pause has begun: calls that cannot outlast it end now. */
  #wakeThrottled(now: number): void {
    const opensAt = this.#throttle.opensAt(now);
    for (const waiter of this.#queue) if (waiter.giveUpAt < opensAt) this.#wake(waiter, now);
  }
}
