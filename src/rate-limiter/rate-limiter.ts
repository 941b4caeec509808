/**
 * One rate limiter for each API key: it holds calls back before the service rejects them.
 *
 *              reserve()                   markSent()                settle(response)
 *   call ──▶ queued ───────▶ offered ───────────────────▶ in flight ──────────────────▶ done
 *              │  ▲            │ 50 ms                        │ cancel(), or its timeout
 *              │  └────────────┘ (its code no longer runs)    └──────────────────────▶ done
 *              └──▶ throttled: the quota is used up for longer than the call may wait
 *
 * What is known of the key decides when the next call may be sent (throttle.ts):
 *
 *   unknown ── headers ──▶ counted: while remaining − in flight > 0, then one probe when the quota comes back
 *      │                      │  ▲
 *      └── no headers ──▶ unlimited         429 ──▶ paused until Retry-After, whatever the state
 *
 * One window of 100 calls in 2 s, learned before, and 8 callers:
 *
 *   0 ms      one probe is sent: the window should be open     Remaining: 99 → the window is open
 *   6 ms      8 calls in flight; each response lets one more go
 *   70 ms     Remaining: 10; the rest is left to other processes for about half of the window
 *   1,000 ms  the rest is used, one call first: others may have used it meanwhile
 *   1,010 ms  Remaining: 0; later calls are queued; the head of the queue sets a timer for 2,005 ms
 *   2,005 ms  the head of the queue is the next probe
 */
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { MAX_TIMER_MS } from '../internal/sleep.ts';
import type { Sent } from './quota.ts';
import { type QuotaReport, Throttle } from './throttle.ts';
import { type LimitedCall, Waiter, WaitingQueue } from './waiting-queue.ts';

export type { QuotaReport } from './throttle.ts';
export type { LimitedCall } from './waiting-queue.ts';

/** The right to send one request. It is given back when the request ends; later reports are ignored. */
export interface Permit {
  /** The headers of a response have arrived: called before the body is read, so that the news is fresh. */
  settle(report: QuotaReport): void;
}

/** Time, timers and chance. */
export interface Clock {
  /** Ms of a clock that is never set. */
  now(): number;
  setTimeout(run: () => void, delayMs: number): unknown;
  clearTimeout(timer: unknown): void;
  random(): number;
}

/** The runtime's own, looked up at each use: fake timers may be installed later. */
const systemClock: Clock = {
  now: monotonicMs,
  setTimeout: (run, delayMs) => globalThis.setTimeout(run, delayMs),
  clearTimeout: (timer) => globalThis.clearTimeout(timer as ReturnType<typeof setTimeout>),
  random: () => Math.random(),
};

/** An offer to a queued call passes on after this long: on Workers, the code of a cancelled request never runs again. */
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
  readonly #clock: Clock;
  readonly #throttle: Throttle;
  readonly #queue = new WaitingQueue();
  /** Waiters that were offered a permit and have not run since, in the order of the offers. */
  readonly #offered = new Set<Waiter>();

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
    this.#throttle = new Throttle(() => clock.random());
  }

  /** Nothing is queued or in flight, and no pause holds. */
  get isIdle(): boolean {
    return this.#queue.size === 0 && this.#throttle.isIdle(this.#clock.now());
  }

  /** Sends the call as soon as it may be sent. Rejects with {@link WaitEnded}, the signal's reason, or what `send` throws. */
  async run<T>(call: LimitedCall, send: (permit: Permit) => Promise<T>): Promise<T> {
    if (call.signal?.aborted) throw call.signal.reason;
    const now = this.#clock.now();
    const isOpen = this.#queue.size === 0 && this.#throttle.opensAt(now) <= now;
    const sent = isOpen ? this.#throttle.reserve(now) : await this.#wait(call, now);
    this.#throttle.quota.markSent(sent, this.#clock.now(), call.timeoutMs);
    let isSettled = false;
    try {
      return await send({
        settle: (report) => {
          if (isSettled) return;
          isSettled = true;
          const at = this.#clock.now();
          this.#throttle.settle(sent, report, at);
          if (report.status === 429) this.#wakeThrottled(at);
          this.#dispatch(at);
        },
      });
    } finally {
      if (!isSettled) {
        isSettled = true;
        this.#throttle.quota.cancel(sent);
        this.#dispatch(this.#clock.now());
      }
    }
  }

  /** Queues a call until it is offered a permit. */
  async #wait(call: LimitedCall, since: number): Promise<Sent> {
    const { signal } = call;
    const waiter = new Waiter(call, since);
    const wake = () => waiter.wake();
    let isTold = false;
    this.#queue.add(waiter);
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        const now = this.#clock.now();
        if (signal?.aborted) throw signal.reason;
        // It did not wake in time and lost its place: it goes on at the end of its lane.
        if (!waiter.isQueued && waiter.offer === undefined) this.#queue.add(waiter);
        if (waiter.offer === undefined) this.#dispatch(now);
        if (waiter.offer !== undefined) return this.#accept(waiter);

        const opensAt = this.#throttle.opensAt(now);
        if (this.#mustSend(waiter, now, opensAt)) return this.#throttle.reserve(now);

        if (!isTold) {
          isTold = true;
          call.onWait(Number.isFinite(opensAt) && opensAt > now ? opensAt - now : undefined);
        }
        await this.#sleep(waiter, now);
      }
    } finally {
      signal?.removeEventListener('abort', wake);
      this.#queue.remove(waiter);
      if (this.#offered.delete(waiter)) this.#throttle.quota.remove(waiter.offer as Sent);
      this.#dispatch(this.#clock.now());
    }
  }

  #accept(waiter: Waiter): Sent {
    this.#offered.delete(waiter);
    return waiter.offer as Sent;
  }

  /** Whether a call that has waited long enough is sent. It is, unless the service would reject it. */
  #mustSend({ call, sendAt, giveUpAt }: Waiter, now: number, opensAt: number): boolean {
    if (this.#throttle.isClosed(now)) {
      const isTooLate = Number.isFinite(opensAt) && opensAt > giveUpAt;
      if (!isTooLate && now < giveUpAt) return false;
      throw new WaitEnded('throttled', Number.isFinite(opensAt) ? Math.max(0, opensAt - now) : undefined);
    }
    if (now >= call.deadlineAt) throw new WaitEnded('deadline', undefined);
    return now >= sendAt;
  }

  /** Sleeps until it is woken, or until its own timer: every waiter has one, or Workers would cancel its request. */
  async #sleep(waiter: Waiter, now: number): Promise<void> {
    const place = this.#queue.firstTwo.indexOf(waiter);
    // The second watches the first: the code of the first may no longer run.
    const dueAt = place < 0 ? Number.POSITIVE_INFINITY : this.#dueAt(now) + place * OFFER_MS;
    const at = Math.min(dueAt, now < waiter.sendAt ? waiter.sendAt : waiter.giveUpAt);
    waiter.wakesAt = at;
    waiter.isWoken = false;
    let timer: unknown;
    await new Promise<void>((resolve) => {
      waiter.wake = resolve;
      timer = this.#clock.setTimeout(resolve, Math.min(Math.max(0, Math.ceil(at - now)), MAX_TIMER_MS));
    });
    this.#clock.clearTimeout(timer);
  }

  /** When the head of the queue looks again: at the next opening, or when a call stops counting. */
  #dueAt(now: number): number {
    const [offered] = this.#offered;
    const offerEndsAt = offered?.offer === undefined ? Number.POSITIVE_INFINITY : offered.wakesAt + OFFER_MS;
    return Math.min(this.#throttle.opensAt(now), this.#throttle.quota.expiresAt, offerEndsAt);
  }

  /** Offers what has become free to the queue, in order, and hands the timer of the next opening on. */
  #dispatch(now: number): void {
    for (const waiter of this.#offered) {
      if (now - waiter.wakesAt <= OFFER_MS) break;
      this.#offered.delete(waiter);
      this.#throttle.quota.remove(waiter.offer as Sent);
      waiter.offer = undefined;
    }
    while (this.#queue.size > 0 && this.#throttle.opensAt(now) <= now) {
      const waiter = this.#queue.shift() as Waiter;
      waiter.offer = this.#throttle.reserve(now);
      this.#offered.add(waiter);
      this.#wake(waiter, now);
    }
    if (this.#queue.size === 0) return;

    let dueAt = this.#dueAt(now);
    for (const waiter of this.#queue.firstTwo) {
      const overdueMs = now - waiter.wakesAt;
      // A timer may be late, because the event loop stalled: only one that was woken and does not run is gone.
      if (waiter.isWoken && overdueMs > OFFER_MS) this.#queue.remove(waiter);
      else if (waiter.wakesAt > dueAt || overdueMs > OFFER_MS) this.#wake(waiter, now);
      dueAt += OFFER_MS;
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
