/** One call, as the quota stood when the call was sent. */
export interface Sent {
  /** When the call was reserved; from `markSent` on, when it was sent. */
  sentAt: number;
  /** After this time the call no longer counts: its code may never report its end. */
  expiresAt: number;
  /** The remaining quota, as last reported, when the call was sent. */
  remainingAtSend: number;
  /** The epoch in which the call was sent. An epoch ends when the remaining quota is seen to grow. */
  epoch: number;
  /** How many responses had arrived when the call was sent. */
  responsesAtSend: number;
  /** The call was sent although no quota was left, to find out whether the service grants more. */
  isProbe: boolean;
  /** Nothing else was in flight when the call was sent. */
  isAlone: boolean;
}

/**
 * Initial concurrency after the first response, after a 429, and after an idle period. It doubles with each round trip,
 * so that another process on the same key is noticed before a whole burst can be rejected.
 */
const INITIAL_CONCURRENCY = 4;
/** After so long without a response, other processes may have used the quota meanwhile. */
const IDLE_MS = 10_000;
/** With other processes around, what is known is stale much sooner. */
const IDLE_SHARED_MS = 100;
/** Other use of the key is assumed to go on for so many windows. */
const SHARED_WINDOWS = 10;
/** Left unused on a shared key: a probe that comes a little early is then not rejected. */
const SPARE = 2;
/** The part of the remaining quota that one of several processes takes at once: up to four do not exceed it. */
const SHARED_PART = 1 / 4;
/** The same until a whole window has passed without a trace of another process. */
const UNPROVEN_PART = 1 / 2;
/** Services round, and a proxy may repeat a request: a difference of one proves nothing. */
const TOLERANCE = 1;
/** At least this share of the limit, and so many calls, come back at once only when a window opens. */
const LEAP = { share: 0.1, calls: 3 };
/** A call without a timeout has reached the service, or never will, after so long. */
const LONGEST_IN_FLIGHT_MS = 60_000;
/** Calls that never end are looked for at most this often: the search reads all calls in flight. */
const EXPIRY_CHECK_MS = 1_000;

/** Counts the calls of a key: the remaining quota as reported, and the calls in flight. Told the time, sets no timer. */
export class Quota {
  /** At most so many calls in flight. */
  concurrencyLimit = INITIAL_CONCURRENCY;
  /** As last reported, less what responses since then imply; Infinity until the first report. */
  remaining = Number.POSITIVE_INFINITY;
  /** The lowest report that our own calls explain: the first of this epoch, less all calls sent since. */
  #explained = Number.NEGATIVE_INFINITY;
  #limit: number | undefined;
  #epoch = 0;
  #responses = 0;
  #lastResponseAt = Number.NEGATIVE_INFINITY;
  #sharedWindows = 0;
  #windows = 0;
  /** Until then, so much is left to processes that have not been noticed yet. */
  #kept = { calls: 0, until: 0 };
  readonly #inFlight = new Set<Sent>();
  #checkExpiryAt = Number.POSITIVE_INFINITY;

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** Another process uses the same key. */
  get isShared(): boolean {
    return this.#sharedWindows > 0;
  }

  get hasRoom(): boolean {
    return this.#inFlight.size < this.concurrencyLimit;
  }

  /** When a call that never ends stops counting; Infinity when nothing is in flight. */
  get expiresAt(): number {
    return this.#inFlight.size > 0 ? this.#checkExpiryAt : Number.POSITIVE_INFINITY;
  }

  /** How many calls may be in flight. */
  allowed(now: number): number {
    const kept = now < this.#kept.until ? this.#kept.calls : 0;
    if (this.isShared) return (this.remaining - Math.max(SPARE, kept)) * SHARED_PART;
    return (this.remaining - kept) * (this.#windows > 1 ? 1 : UNPROVEN_PART);
  }

  /** When the part that was kept back may be used; undefined if nothing is kept back now. */
  keptUntil(now: number): number | undefined {
    return now < this.#kept.until && this.allowed(this.#kept.until) > 0 ? this.#kept.until : undefined;
  }

  /** Takes the place of a call. What is known about the quota is noted when it is sent. */
  reserve(now: number): Sent {
    const isAlone = this.#inFlight.size === 0;
    const isProbe = this.allowed(now) <= this.#inFlight.size;
    const unsent = {
      sentAt: now,
      expiresAt: Number.POSITIVE_INFINITY,
      remainingAtSend: 0,
      epoch: 0,
      responsesAtSend: 0,
    };
    const sent = { ...unsent, isProbe, isAlone };
    this.#inFlight.add(sent);
    return sent;
  }

  /** If nothing is in flight, what is known may be old: many calls at once may be rejected. */
  doubt(now: number): void {
    if (this.#inFlight.size > 0) return;

    const idleMs = now - this.#lastResponseAt;
    const keptEnded = now >= this.#kept.until && this.#lastResponseAt < this.#kept.until;
    if (keptEnded || (this.isShared && idleMs > IDLE_SHARED_MS)) this.concurrencyLimit = 1;
    else if (idleMs > IDLE_MS) this.limitConcurrency(INITIAL_CONCURRENCY);
  }

  /** The call leaves now: what was known when it was reserved may be out of date. */
  markSent(sent: Sent, now: number, timeoutMs: number): void {
    sent.sentAt = now;
    sent.expiresAt = now + Math.min(timeoutMs, LONGEST_IN_FLIGHT_MS);
    sent.remainingAtSend = this.remaining;
    sent.epoch = this.#epoch;
    sent.responsesAtSend = this.#responses;
    this.#explained -= 1;
    this.#checkExpiryAt = Math.min(this.#checkExpiryAt, sent.expiresAt);
  }

  /** The call was never sent, or its response says nothing about the quota. */
  remove(sent: Sent): boolean {
    return this.#inFlight.delete(sent);
  }

  /** The call ended without a report. The service may have counted it; the next response corrects a mistake. */
  cancel(sent: Sent): void {
    if (this.#inFlight.delete(sent) && sent.epoch === this.#epoch)
      this.remaining = Math.max(0, this.remaining - 1);
  }

  /** A response with a report. Returns by how much the quota has grown since the call was sent. */
  settle(sent: Sent, report: { readonly remaining: number; readonly limit: number }, now: number): number {
    const { remaining, limit } = report;
    if (!this.#inFlight.delete(sent)) return 0;

    const sameLimit = limit === this.#limit;
    this.#limit = limit;
    this.#lastResponseAt = now;
    this.#responses += 1;
    this.concurrencyLimit += 1;
    if (sent.epoch !== this.#epoch) {
      this.remaining = Math.max(0, this.remaining - 1);
      return 0;
    }
    if (remaining < sent.remainingAtSend) {
      if (remaining < this.#explained - TOLERANCE) {
        if (sameLimit) this.#share();
        this.#explained = remaining - this.#inFlight.size;
      } else if (!Number.isFinite(this.remaining)) this.#explained = remaining - this.#inFlight.size;
      this.remaining = Math.min(this.remaining, remaining);
      return 0;
    }
    return this.#grow(sent, remaining);
  }

  #grow(sent: Sent, remaining: number): number {
    const grown = remaining + 1 - sent.remainingAtSend;
    const isLeap = this.isLeap(grown);
    const wasAlone = sent.isAlone && this.#responses - 1 === sent.responsesAtSend;
    // A small growth may be used already by other calls in flight: only a call that was alone proves it.
    if ((isLeap || wasAlone) && remaining >= this.remaining) {
      this.#epoch += 1;
      this.remaining = remaining;
      this.#explained = this.remaining - this.#inFlight.size;
    }
    return grown;
  }

  /** Whether growth by so much at once can only be the opening of a window. */
  isLeap(grown: number): boolean {
    return grown >= Math.max(LEAP.calls, LEAP.share * (this.#limit ?? 0));
  }

  /** A 429: nothing is left. A call that had quota and is rejected shows that another process used it. */
  reject(sent: Sent, now: number): void {
    this.#lastResponseAt = now;
    this.#responses += 1;
    const hadQuota = !sent.isProbe && sent.epoch === this.#epoch && Number.isFinite(sent.remainingAtSend);
    if (this.#inFlight.delete(sent) && hadQuota) this.#share();
    this.remaining = 0;
    this.limitConcurrency(INITIAL_CONCURRENCY);
  }

  /** A window has opened. Keeps a part back for other processes until then, so that they find quota and are noticed. */
  open(keep: { readonly calls: number; readonly until: number }): void {
    this.#windows += 1;
    if (this.isShared) {
      this.#sharedWindows -= 1;
      this.limitConcurrency(INITIAL_CONCURRENCY);
    }
    this.#kept = keep;
  }

  #share(): void {
    this.#sharedWindows = SHARED_WINDOWS;
  }

  limitConcurrency(limit: number): void {
    this.concurrencyLimit = Math.min(this.concurrencyLimit, limit);
  }

  /** Stops counting calls whose end was never reported. */
  expire(now: number): void {
    if (now < this.#checkExpiryAt) return;

    let next = Number.POSITIVE_INFINITY;
    for (const sent of this.#inFlight) {
      if (sent.expiresAt <= now) this.cancel(sent);
      else next = Math.min(next, sent.expiresAt);
    }
    this.#checkExpiryAt = Math.max(next, now + EXPIRY_CHECK_MS);
  }
}
