/**
 * What each mechanism is worth: what happens without it, measured in virtual time on the services of
 * test/client/rate-limiter/goals.test.ts with 12 seeds.
 *
 *   refill learning (window.ts)       share of a sliding counter .95 → .86
 *   KEPT_SHARE                        23 of 24 processes that start later fail
 *   SHARED_WINDOWS.first              48 of 96 runs of two processes exceed one 429 a window
 *   SHARED_WINDOWS.afterSign          76 of 96
 *   SHARED_PART                       96 of 96
 *   SPARE                             24 of 96 below .95
 *   LEAP                              16 of 48 fixed windows below .97
 *   small growth                      share of a sliding counter .95 → .78; 24 of 24 runs with a quiet time fail
 *   JITTER                            5 of 12 processes that start later starve
 *   MARGIN_MS (window.ts)             1.2 times as many 429s of two processes
 *   a lone call after the kept time   2.7 times as many 429s if a process starts later
 *   a lone call after IDLE_MS         up to 10 429s in a window instead of 2, if two processes pause in turn
 *   CONCURRENCY_GROWTH                up to 5 429s in a window instead of 2, if a process starts later
 *   MOST_MISSES (window.ts)           1.25 times as many 429s if a process starts later
 *   QuotaWindow.grown                 24 of 24 runs with a quiet time fail
 */
import type { RateLimit } from '../schemas/rate-limit.ts';
import { QuotaWindow } from './window.ts';

/** What a response says about the quota. */
export interface QuotaReport {
  readonly status: number;
  /** By its headers, if they are there and can be read. */
  readonly rateLimit: Quota | undefined;
  /** Retry-After, if the response carries a valid one. */
  readonly retryAfterMs: number | undefined;
}

type Quota = Pick<RateLimit, 'limit' | 'remaining'>;

/** A call in flight, with what was known about the quota when it was sent. */
export interface Sent {
  readonly sentAt: number;
  /** After this time the call no longer counts, because its code may never report its end. */
  readonly expiresAt: number;
  readonly remainingAtSend: number;
  /** An epoch ends when the quota is seen to grow. A response to a call of an earlier epoch may describe the window before. */
  readonly epoch: number;
  /** No quota was left for the call: it was sent to find out whether the quota is back. */
  readonly isProbe: boolean;
}

/** How long the first call of a key, or a probe, runs alone. Its headers tell us the limit; otherwise every queued call could hit a 429. */
const ALONE_MS = 5_000;
/** With each response, so many more calls may be in flight: two processes that start together do not use up a quota at once. */
const CONCURRENCY_GROWTH = 4;
/** After this time without a response, other processes may have used the quota: one call is sent alone first. */
const IDLE_MS = 10_000;
/** After this time a call without a timeout has reached the service, or never will. */
const LONGEST_IN_FLIGHT_MS = 60_000;

/** After this number of responses in a row without the headers, the service no longer sends them. */
const MOST_WITHOUT_HEADERS = 3;
/** A window without headers is taken to be no longer: calls that the service let through before say nothing about it. */
const LONGEST_WINDOW_MS = 60_000;
/** After this number of successes in a row that report Remaining: 0, the header does not count calls. */
const MOST_ZEROES = 16;

/** Growth by this share of the limit at once is the opening of a window, whatever else is in flight. */
const LEAP = 0.5;
/** This share of a new window is left for another process, which would otherwise find no quota and starve. */
const KEPT_SHARE = 0.1;
/** Until then, as a part of the window: Retry-After brings the other process within a second after the opening. */
const KEPT = { part: 0.5, longestMs: 1_000 };
/** A key counts as shared with other processes in its first windows, and for this number of windows after a sign of them. */
const SHARED_WINDOWS = { first: 2, afterSign: 16 };
/** On a shared key, the part of the remaining quota that is in flight at once: four processes do not exceed it. */
const SHARED_PART = 1 / 4;
/** Left unused on a shared key: a probe that comes a little early is then not rejected. */
const SPARE = 2;

/** The pause after a 429 without Retry-After; it doubles with each 429 in a row up to the longest. */
const BACKOFF_MS = { first: 250, longest: 20_000 };
/** If the service names a longer pause, the next request is sent after a day. */
const LONGEST_PAUSE_MS = 24 * 3_600_000;
/** After this number of 429s in a row the probes come at a bad time of each window: add jitter. */
const JITTER = { rejections: 2, longestMs: 1_000 };

/** Decides when the next call of a key may be sent. Gets the time as an argument; has no timer and no queue. */
export class Throttle {
  #state: 'unknown' | 'unlimited' | 'counted' = 'unknown';
  readonly #window = new QuotaWindow();
  /** In the order in which they were sent. */
  readonly #inFlight = new Set<Sent>();
  /** How many calls may be in flight by what the last responses have shown. */
  #concurrencyLimit = 1;
  #lastSentAt = 0;
  #lastIsProbe = false;
  /** As last reported, less what later events imply. */
  #remaining = 0;
  /** The lowest report that our own calls explain: that of the last growth, less all calls sent since. */
  #explained = 0;
  #epoch = 0;
  #sharedWindows = SHARED_WINDOWS.first;
  /** Not used before this time. */
  #kept = { calls: 0, until: 0 };
  #pauseUntil = 0;
  /** 429s in a row. */
  #rejections = 0;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  /** Without the headers: how many calls the service let through since the last 429, and before it since the one before. */
  #through = { calls: 0, since: Number.NEGATIVE_INFINITY };
  #throughBefore = 0;
  /** Responses in a row without the headers, and successes in a row that report nothing remaining. */
  #withoutHeaders = 0;
  #zeroes = 0;
  #lastResponseAt = Number.NEGATIVE_INFINITY;

  /** When a call may be sent, in whole ms: `now` or earlier for at once, Infinity if it depends on a response. */
  opensAt(now: number): number {
    return Math.ceil(this.#exactlyOpensAt(now));
  }

  #exactlyOpensAt(now: number): number {
    if (now < this.#pauseUntil) return this.#pauseUntil;

    this.#expire(now);
    const inFlight = this.#inFlight.size;
    const hasQuota = this.#state !== 'counted' || inFlight < this.#allowed(now);
    if (hasQuota && inFlight < this.#concurrencyLimit) return now;
    if (hasQuota || (inFlight > 0 && this.#lastIsProbe)) return this.#lastSentAt + ALONE_MS;
    if (inFlight > 0) return Number.POSITIVE_INFINITY;
    if (now < this.#kept.until && this.#allowed(this.#kept.until) > 0) return this.#kept.until;
    return this.#window.opensAt(this.#lastResponseAt);
  }

  /** When a call whose end is never reported stops counting. */
  get expiresAt(): number {
    const [oldest] = this.#inFlight;
    return oldest?.expiresAt ?? Number.POSITIVE_INFINITY;
  }

  /** Until when the service would reject a call: undefined if it would not, Infinity if that depends on a response. */
  closedUntil(now: number): number | undefined {
    if (now < this.#pauseUntil) return this.opensAt(now);
    if (this.#state !== 'counted' || this.#inFlight.size < this.#remaining) return undefined;
    return this.#inFlight.size > 0 ? Number.POSITIVE_INFINITY : this.opensAt(now);
  }

  /** Nothing is in flight and no pause holds: a new limiter would do as well. */
  isIdle(now: number): boolean {
    this.#expire(now);
    return this.#inFlight.size === 0 && now >= this.#pauseUntil;
  }

  /** Counts a call that is sent now. */
  markSent(now: number, timeoutMs: number): Sent {
    const inFlight = this.#inFlight.size;
    if (inFlight === 0 && this.#state === 'counted' && this.#isStale(now)) this.#concurrencyLimit = 1;
    const sent = {
      sentAt: now,
      expiresAt: now + Math.min(timeoutMs, LONGEST_IN_FLIGHT_MS),
      remainingAtSend: this.#remaining,
      epoch: this.#epoch,
      isProbe: this.#allowed(now) <= inFlight,
    };
    this.#lastSentAt = now;
    this.#lastIsProbe = sent.isProbe;
    this.#explained -= 1;
    this.#inFlight.add(sent);
    return sent;
  }

  /** The call ended without a response. The service may have counted it; the next response corrects a mistake. */
  cancel(sent: Sent): void {
    if (this.#inFlight.delete(sent)) this.#use();
  }

  /** The response to a call. */
  settle(sent: Sent, { status, rateLimit, retryAfterMs }: QuotaReport, now: number): void {
    if (!this.#inFlight.delete(sent)) return;

    const elapsedMs = (sent.sentAt + now) / 2 - this.#lastResponseAt;
    this.#lastResponseAt = now;
    if (status === 429) {
      this.#reject(sent, retryAfterMs, now);
      if (rateLimit !== undefined) this.#state = 'counted';
      // Without the headers a pause teaches nothing about the quota: a few calls go first.
      else if (this.#state === 'unlimited') this.#concurrencyLimit = 1;
      return;
    }
    this.#rejections = 0;
    if (rateLimit === undefined) this.#settleWithoutHeaders(status);
    else this.#count(sent, { ...rateLimit, elapsedMs }, now);
    if (this.#state === 'counted') this.#concurrencyLimit += CONCURRENCY_GROWTH;
    else if (this.#state === 'unlimited') this.#letThrough(sent, now);
  }

  /**
   * A success without the headers. After a 429 one call is sent alone, then as many as the last window let through, and
   * then twice as many each time.
   */
  #letThrough(sent: Sent, now: number): void {
    if (sent.sentAt <= this.#rejectedAt) {
      this.#throughBefore += 1;
      return;
    }
    if (now - this.#through.since > LONGEST_WINDOW_MS) this.#through = { calls: 0, since: now };
    this.#through.calls += 1;
    if (this.#rejectedAt === Number.NEGATIVE_INFINITY) {
      this.#concurrencyLimit = Number.POSITIVE_INFINITY;
      return;
    }
    const left = this.#throughBefore - this.#through.calls;
    if (left > 0) this.#concurrencyLimit = left;
    else this.#concurrencyLimit = left === 0 ? 1 : this.#concurrencyLimit + 1;
  }

  #count(sent: Sent, report: Quota & { elapsedMs: number }, now: number): void {
    const { remaining, limit } = report;
    this.#withoutHeaders = 0;
    // A limit of one call leaves zero each time.
    this.#zeroes = remaining > 0 || limit === 1 ? 0 : this.#zeroes + 1;
    if (this.#zeroes >= MOST_ZEROES) {
      this.#state = 'unlimited';
      return;
    }
    if (this.#state !== 'counted') {
      this.#state = 'counted';
      this.#begin(remaining);
      return;
    }
    if (sent.epoch !== this.#epoch) {
      this.#use();
      return;
    }
    const grown = remaining + 1 - sent.remainingAtSend;
    const isLeap = grown >= LEAP * limit;
    // Small growth may be out of date, if another response has arrived since the call was sent.
    if (grown > 0 && (isLeap || sent.remainingAtSend === this.#remaining)) {
      this.#begin(remaining);
      if (sent.isProbe && !this.#isShared) this.#window.learnRefill({ ...report, grown });
      if (sent.isProbe || isLeap) this.#open(sent, now);
      else this.#window.grown();
      return;
    }
    if (remaining < this.#explained) this.#share(remaining);
    this.#remaining = Math.min(this.#remaining, remaining);
  }

  /** The first report, or one that shows that the quota has grown. */
  #begin(remaining: number): void {
    this.#epoch += 1;
    this.#remaining = remaining;
    this.#explained = remaining - this.#inFlight.size;
  }

  #open(sent: Sent, now: number): void {
    // One zero after another may mean that the header does not count calls: that is no reason to wait longer each time.
    if (this.#zeroes > 1 && !this.#window.isRefill) return;

    this.#window.opened(sent.sentAt, now);
    if (this.#isShared) this.#sharedWindows -= 1;
    this.#kept = {
      calls: KEPT_SHARE * this.#remaining,
      until: now + Math.min(KEPT.longestMs, KEPT.part * this.#window.lengthMs),
    };
  }

  /** Another process uses the same key. */
  get #isShared(): boolean {
    return this.#sharedWindows > 0;
  }

  #share(explained: number): void {
    this.#sharedWindows = SHARED_WINDOWS.afterSign;
    this.#explained = explained - this.#inFlight.size;
  }

  /** How many calls may be in flight. */
  #allowed(now: number): number {
    const kept = now < this.#kept.until ? this.#kept.calls : 0;
    if (!this.#isShared) return this.#remaining - kept;
    return (this.#remaining - Math.max(SPARE, kept)) * SHARED_PART;
  }

  /** Other processes may have used what was last reported. */
  #isStale(now: number): boolean {
    const wasKept = this.#lastResponseAt < this.#kept.until && this.#kept.until <= now;
    return wasKept || now - this.#lastResponseAt > IDLE_MS;
  }

  #reject(sent: Sent, retryAfterMs: number | undefined, now: number): void {
    // Calls that were in flight together are rejected together, for the same reason.
    const isFirst = sent.sentAt > this.#rejectedAt;
    if (isFirst) {
      this.#rejections += 1;
      // None if the pause was too short for the window.
      if (this.#through.calls > 0) this.#throughBefore = this.#through.calls;
      this.#through = { calls: 0, since: now };
    }
    this.#rejectedAt = now;
    const backoffMs = Math.min(BACKOFF_MS.first * 2 ** (this.#rejections - 1), BACKOFF_MS.longest);
    const pauseMs = retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : backoffMs;
    const jitterMs = this.#rejections > JITTER.rejections ? Math.random() * JITTER.longestMs : 0;
    this.#pauseUntil = Math.max(this.#pauseUntil, now + Math.min(pauseMs + jitterMs, LONGEST_PAUSE_MS));
    if (isFirst) this.#window.rejected(sent.sentAt, now, pauseMs);
    this.#remaining = 0;
    this.#zeroes = 0;
  }

  /** The response of a proxy says nothing about the quota; a service that never sends the headers has none. */
  #settleWithoutHeaders(status: number): void {
    this.#use();
    this.#withoutHeaders += 1;
    const hasNone = this.#state === 'unknown' && status < 500;
    if (hasNone || this.#withoutHeaders >= MOST_WITHOUT_HEADERS) this.#state = 'unlimited';
  }

  /** A call may have used a part of the quota that was not reported. */
  #use(): void {
    this.#remaining = Math.max(0, this.#remaining - 1);
  }

  /** Stops counting calls whose end was never reported. */
  #expire(now: number): void {
    for (const sent of this.#inFlight) {
      // Those after it are looked at later, at most LONGEST_IN_FLIGHT_MS: with each call, a search of all costs too much.
      if (now < sent.expiresAt) return;
      this.cancel(sent);
    }
  }
}
