import type { RateLimit } from '../schemas/rate-limit.ts';

/** What a response says about the quota. */
export interface QuotaReport {
  readonly status: number;
  /** By its headers, if they are there and can be read. */
  readonly rateLimit: Pick<RateLimit, 'limit' | 'remaining'> | undefined;
  /** Retry-After, if the response carries a valid one. */
  readonly retryAfterMs: number | undefined;
}

export interface CallInFlight {
  readonly sentAt: number;
  /** After this time the call no longer counts, because its code may never report its end. */
  readonly expiresAt: number;
  /** What was left of the quota when it was sent, as far as known. */
  readonly remainingAtSend: number;
}

/** How long the calls in flight hold the others: the first of a key shows the quota, or every queued call could hit a 429. */
const LONGEST_HOLD_MS = 5_000;
/** With each success, so many more calls may be in flight: two processes that start together do not use up a quota at once. */
const GROWTH = 4;
/** The same after a 429, which may come from a quota that other processes use too. */
const GROWTH_AFTER_429 = 1;
/** After this time a call without a timeout has reached the service, or never will. */
const LONGEST_IN_FLIGHT_MS = 60_000;
/** After this number of successes in a row that report Remaining: 0, or nothing, the headers do not count calls. */
const MOST_UNCOUNTED = 16;

/** The pause after a 429 without Retry-After; it doubles with each 429 in a row up to the longest. */
const BACKOFF_MS = { first: 250, longest: 20_000 };
/** If the service names a longer pause, the next request is sent after a day. */
const LONGEST_PAUSE_MS = 24 * 3_600_000;
/** After this number of 429s in a row, other processes use the quota at the same moments: add jitter. */
const JITTER = { rejections: 2, longestMs: 1_000 };

/** Decides when the next call of a key may be sent. Gets the time as an argument; has no timer and no queue. */
export class Throttle {
  /** In the order in which they were sent. */
  readonly #inFlight = new Set<CallInFlight>();
  /** How many calls may be in flight by what the last responses have shown. */
  #most = 1;
  /** What is left of the quota: as last reported, less what later events imply. Infinity if no header counts it. */
  #remaining = Number.POSITIVE_INFINITY;
  #pauseUntil = 0;
  #lastSentAt = 0;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  /** When the quota was last seen to grow: a response to an earlier call may describe the window before. */
  #grownAt = Number.NEGATIVE_INFINITY;
  /** 429s in a row, and successes in a row that report nothing remaining. */
  #rejections = 0;
  #uncounted = 0;

  /** When a call may be sent, in whole ms: `now` or earlier for at once. */
  opensAt(now: number): number {
    if (now < this.#pauseUntil) return Math.ceil(this.#pauseUntil);

    this.#expire(now);
    const inFlight = this.#inFlight.size;
    if (inFlight === 0 || inFlight < Math.min(this.#most, this.#remaining)) return now;
    // A call that hangs holds the others for no longer.
    return Math.ceil(this.#lastSentAt + LONGEST_HOLD_MS);
  }

  /** When a call whose end is never reported stops counting. */
  get expiresAt(): number {
    const [oldest] = this.#inFlight;
    return oldest?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  /** Until when the service would reject a call: undefined if it would not, Infinity if that depends on a response. */
  closedUntil(now: number): number | undefined {
    if (now < this.#pauseUntil) return this.opensAt(now);
    const inFlight = this.#inFlight.size;
    return inFlight > 0 && inFlight >= this.#remaining ? Number.POSITIVE_INFINITY : undefined;
  }

  /** Nothing is in flight and no pause holds: a new limiter would be the same. */
  isIdle(now: number): boolean {
    this.#expire(now);
    return this.#inFlight.size === 0 && now >= this.#pauseUntil;
  }

  /** Counts a call that is sent now. */
  markSent(now: number, timeoutMs: number): CallInFlight {
    const expiresAt = now + Math.min(timeoutMs, LONGEST_IN_FLIGHT_MS);
    const call = { sentAt: now, expiresAt, remainingAtSend: this.#remaining };
    this.#lastSentAt = now;
    this.#inFlight.add(call);
    return call;
  }

  /** The call ended without a response. The service may have counted it; the next response corrects a mistake. */
  cancel(call: CallInFlight): void {
    if (this.#inFlight.delete(call)) this.#use();
  }

  settle(call: CallInFlight, { status, rateLimit, retryAfterMs }: QuotaReport, now: number): void {
    if (!this.#inFlight.delete(call)) return;
    if (status === 429) {
      if (rateLimit !== undefined || this.#remaining !== Number.POSITIVE_INFINITY) this.#remaining = 0;
      this.#reject(call, retryAfterMs, now);
      return;
    }
    this.#rejections = 0;
    // It was sent before the last 429, so it says nothing about what is left now.
    if (call.sentAt <= this.#rejectedAt) return;
    this.#count(call, rateLimit, now);
    const isNew = this.#rejectedAt === Number.NEGATIVE_INFINITY;
    if (isNew && this.#remaining === Number.POSITIVE_INFINITY) this.#most = Number.POSITIVE_INFINITY;
    else this.#most += isNew ? GROWTH : GROWTH_AFTER_429;
  }

  #count(call: CallInFlight, reported: QuotaReport['rateLimit'], now: number): void {
    const { remaining = 0, limit } = reported ?? {};
    // A limit of one call leaves zero each time.
    this.#uncounted = remaining > 0 || limit === 1 ? 0 : this.#uncounted + 1;
    if (this.#uncounted >= MOST_UNCOUNTED) {
      this.#remaining = Number.POSITIVE_INFINITY;
    } else if (reported === undefined || call.sentAt <= this.#grownAt) {
      // The response of a proxy, or perhaps of the window before: the call may have used a part of the quota.
      this.#use();
    } else if (remaining >= call.remainingAtSend) {
      this.#remaining = remaining;
      this.#grownAt = now;
    } else {
      // Responses overtake each other: the lowest counts.
      this.#remaining = Math.min(this.#remaining, remaining);
    }
  }

  #use(): void {
    this.#remaining = Math.max(0, this.#remaining - 1);
  }

  #reject({ sentAt }: CallInFlight, retryAfterMs: number | undefined, now: number): void {
    // Calls that were in flight together are rejected together, for the same reason.
    if (sentAt > this.#rejectedAt) this.#rejections += 1;
    this.#rejectedAt = now;
    const backoffMs = Math.min(BACKOFF_MS.first * 2 ** (this.#rejections - 1), BACKOFF_MS.longest);
    const jitterMs = this.#rejections > JITTER.rejections ? Math.random() * JITTER.longestMs : 0;
    const pauseMs = Math.min((retryAfterMs || backoffMs) + jitterMs, LONGEST_PAUSE_MS);
    this.#pauseUntil = Math.max(this.#pauseUntil, now + pauseMs);
    this.#uncounted = 0;
    this.#most = 1;
  }

  /** Stops counting calls whose end was never reported. */
  #expire(now: number): void {
    for (const call of this.#inFlight) {
      // Those after it are looked at later, at most LONGEST_IN_FLIGHT_MS: with each call, a search of all costs too much.
      if (now < call.expiresAt) return;
      this.cancel(call);
    }
  }
}
