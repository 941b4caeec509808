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
 * A queued call sleeps until it is woken or its own timer fires. Whatever changes the quota or the queue hands permits
 * to the first calls, for as long as there is quota, and wakes the next one if its timer would fire too late. On
 * Workers the code of a cancelled request never runs again: a permit that is not taken at once expires, and every
 * queued call looks now and then whether a permit can be handed over.
 */
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { MAX_TIMER_MS } from '../internal/sleep.ts';
import { type CallInFlight, type QuotaReport, Throttle } from './throttle.ts';
import { type LimitedCall, Waiter, WaitingQueue } from './waiting-queue.ts';

export type { QuotaReport } from './throttle.ts';
export type { LimitedCall } from './waiting-queue.ts';

/** The right to send one request. It is given back when the request ends; later reports are ignored. */
export interface Permit {
  /** The headers of a response have arrived: called before the body is read, so that other calls learn the quota early. */
  settle(report: QuotaReport): void;
}

/** A permit that is not taken within this time belongs to a cancelled request. In Node it is taken at once. */
const EXPIRY_MS = 100;
/** How often each queued call looks: the next in the queue, which has the timer of the opening, may be cancelled. */
const LOOK_MS = 800;

export class RateLimiter {
  readonly #throttle = new Throttle();
  readonly #queue = new WaitingQueue();
  /** Permits that were handed over and not taken yet, oldest first. */
  readonly #offers = new Map<Waiter, CallInFlight>();

  /** Nothing is queued or in flight, and no pause holds. */
  get isIdle(): boolean {
    return this.#queue.first === undefined && this.#throttle.isIdle(monotonicMs());
  }

  /** Sends the call as soon as it may be sent. Rejects with what `giveUp` returns, the signal's reason, or what `send` throws. */
  async run<T>(call: LimitedCall, send: (permit: Permit) => Promise<T>): Promise<T> {
    if (call.signal?.aborted) throw call.signal.reason;
    const now = monotonicMs();
    const isOpen = this.#queue.first === undefined && this.#throttle.opensAt(now) <= now;
    const sent = isOpen ? this.#throttle.markSent(now, call.timeoutMs) : await this.#wait(call, now);
    try {
      return await send({
        settle: (report) => {
          const at = monotonicMs();
          this.#throttle.settle(sent, report, at);
          if (report.status === 429) this.#wakeThrottled(at);
          this.#handOver(at);
        },
      });
    } finally {
      // Changes nothing after a response.
      this.#throttle.cancel(sent);
      this.#handOver(monotonicMs());
    }
  }

  /** Queues a call until it may be sent. */
  async #wait(call: LimitedCall, since: number): Promise<CallInFlight> {
    const { signal } = call;
    const waiter = new Waiter(call, since);
    const wake = () => waiter.wake();
    let isReported = false;
    signal?.addEventListener('abort', wake);
    try {
      for (;;) {
        const now = monotonicMs();
        waiter.wakesAt = now;
        if (signal?.aborted) throw signal.reason;
        // A new call, or one whose permit expired before its code ran.
        if (!this.#offers.has(waiter)) this.#queue.add(waiter);
        this.#handOver(now);
        const sent = this.#offers.get(waiter);
        if (sent !== undefined) {
          this.#offers.delete(waiter);
          return sent;
        }
        if (this.#mustSend(waiter, call, now)) return this.#throttle.markSent(now, call.timeoutMs);
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
      this.#queue.remove(waiter);
      this.#withdraw(waiter);
      this.#handOver(monotonicMs());
    }
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

  /** Sleeps until it is woken, or until its own timer: every waiter has one, or Workers would cancel its request. */
  async #sleep(waiter: Waiter, now: number): Promise<void> {
    const ownAt = now < waiter.sendAt ? waiter.sendAt : waiter.giveUpAt;
    const watches = waiter === this.#queue.first || this.#offers.size > 0;
    waiter.wakesAt = Math.min(ownAt, watches ? this.#dueAt(now) : now + LOOK_MS);
    const delayMs = Math.min(Math.max(0, Math.ceil(waiter.wakesAt - now)), MAX_TIMER_MS);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      waiter.wake = resolve;
      // Looked up at each use: fake timers may be installed later.
      timer = globalThis.setTimeout(resolve, delayMs);
    });
    globalThis.clearTimeout(timer);
  }

  /** When permits can be handed over next: at the next opening, or when a call or a permit stops counting. */
  #dueAt(now: number): number {
    const [offer] = this.#offers.values();
    const expiresAt = offer === undefined ? Number.POSITIVE_INFINITY : offer.sentAt + EXPIRY_MS;
    return Math.min(this.#throttle.opensAt(now), this.#throttle.expiresAt, expiresAt);
  }

  /** Hands a permit to each of the first calls that may be sent, and sees that the one after them wakes in time. */
  #handOver(now: number): void {
    for (const [waiter, { sentAt }] of this.#offers) {
      if (now < sentAt + EXPIRY_MS) break;
      this.#withdraw(waiter);
    }
    for (;;) {
      const { first } = this.#queue;
      if (first === undefined) return;
      if (this.#throttle.opensAt(now) > now) {
        if (first.wakesAt > this.#dueAt(now)) this.#wake(first, now);
        return;
      }
      this.#queue.remove(first);
      this.#offers.set(first, this.#throttle.markSent(now, first.timeoutMs));
      this.#wake(first, now);
    }
  }

  /** Ends a permit that was not taken. */
  #withdraw(waiter: Waiter): void {
    const sent = this.#offers.get(waiter);
    if (sent === undefined) return;

    this.#offers.delete(waiter);
    this.#throttle.cancel(sent);
  }

  #wake(waiter: Waiter, now: number): void {
    waiter.wakesAt = now;
    waiter.wake();
  }

  /** A pause has begun: calls that cannot outlast it end now. */
  #wakeThrottled(now: number): void {
    const closedUntil = this.#throttle.closedUntil(now) ?? now;
    for (const waiter of this.#queue) if (waiter.giveUpAt < closedUntil) this.#wake(waiter, now);
  }
}
