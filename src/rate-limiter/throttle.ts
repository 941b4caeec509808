import { Opening, WHOLE_WINDOW } from './opening.ts';
import { Quota, type Sent } from './quota.ts';

/** What a response says about the quota. Absent or unreadable headers are undefined. */
export interface QuotaReport {
  readonly status: number;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  /** Retry-After, if the response carries a valid one. */
  readonly retryAfterMs: number | undefined;
}

/** The first call of a key goes alone for so long. Its headers tell us the limit; otherwise every queued call could hit a 429. */
const ALONE_MS = 5_000;
/** So many responses without the headers in a row, and the service no longer sends them. */
const MOST_WITHOUT_HEADERS = 3;
/** So many successes in a row that say Remaining: 0, and the header does not count calls. */
const MOST_ZEROES = 4;
/** After a 429 the header counts again, and the next doubt takes so many times as many successes. */
const ZEROES_GROWTH = 4;
/** Concurrency while it is not certain that the service has no limit. */
const CAREFUL_CONCURRENCY = 4;
/** The pause after a 429 without Retry-After; it doubles with each 429 in a row up to the longest. */
const BACKOFF_MS = { first: 250, longest: 20_000 };
/** A service that names a longer pause is asked again after a day. */
const LONGEST_PAUSE_MS = 24 * 3_600_000;
/** After so many 429s in a row other processes may be probing at the same times: add jitter. */
const CROWDED = { rejections: 2, jitterMs: 1_000 };
/** Kept back for other processes in the first part of a window, so that they find quota and are noticed. */
const KEEP = { share: 0.1, sharedShare: 0.2, untilPart: 0.3, longestWindowMs: 10_000 };

/** Decides when the next call may be sent. Told the time; sets no timer and knows no queue. */
export class Throttle {
  readonly quota = new Quota();
  #state: 'unknown' | 'unlimited' | 'counted' = 'unknown';
  readonly #opening = new Opening();
  readonly #random: () => number;
  #pauseUntil = 0;
  #rejections = 0;
  #rejectedAt = Number.NEGATIVE_INFINITY;
  #withoutHeaders = 0;
  #zeroes = 0;
  #mostZeroes = MOST_ZEROES;
  #aloneSince = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** When a call may be sent: `now` or earlier for at once, Infinity if only a response can tell. */
  opensAt(now: number): number {
    if (now < this.#pauseUntil) return this.#pauseUntil;

    const { quota } = this;
    quota.expire(now);
    if (this.#state === 'unlimited') return quota.hasRoom ? now : Number.POSITIVE_INFINITY;
    if (this.#state === 'unknown') {
      if (quota.inFlight === 0) return now;
      return quota.inFlight < CAREFUL_CONCURRENCY ? this.#aloneSince + ALONE_MS : Number.POSITIVE_INFINITY;
    }
    if (quota.hasRoom && quota.allowed(now) > quota.inFlight) return now;
    if (quota.inFlight > 0) return Number.POSITIVE_INFINITY;
    return quota.keptUntil(now) ?? this.#opening.probeAt;
  }

  /** The quota is known to be used up, or a pause holds: a call sent now would be rejected. */
  isClosed(now: number): boolean {
    if (now < this.#pauseUntil) return true;
    return this.#state === 'counted' && this.quota.remaining <= this.quota.inFlight;
  }

  /** Nothing is in flight and no pause holds: a new limiter would do as well. */
  isIdle(now: number): boolean {
    this.quota.expire(now);
    return this.quota.inFlight === 0 && now >= this.#pauseUntil;
  }

  reserve(now: number): Sent {
    if (this.quota.inFlight === 0) this.#aloneSince = now;
    if (this.#state === 'counted') this.quota.doubt(now);
    return this.quota.reserve(now);
  }

  settle(sent: Sent, report: QuotaReport, now: number): void {
    const remaining = amount(report.remaining);
    if (report.status === 429) {
      this.#reject(sent, report.retryAfterMs, now);
      if (remaining !== undefined) this.#state = 'counted';
      return;
    }
    this.#rejections = 0;
    if (remaining === undefined) this.#settleWithoutHeaders(sent, report.status);
    else this.#settleCounted(sent, { remaining, limit: amount(report.limit) ?? remaining + 1 }, now);
  }

  #settleCounted(sent: Sent, report: { remaining: number; limit: number }, now: number): void {
    const { quota } = this;
    this.#withoutHeaders = 0;
    // A limit of one call leaves zero each time.
    this.#zeroes = report.remaining > 0 || report.limit === 1 ? 0 : this.#zeroes + 1;
    if (this.#zeroes >= this.#mostZeroes) {
      this.#ignoreHeaders(sent);
      return;
    }
    this.#state = 'counted';
    const grown = quota.settle(sent, report, now);
    const isFull = report.remaining >= WHOLE_WINDOW * report.limit;
    const isOpening = sent.isProbe || isFull || quota.isLeap(grown);
    // One zero after another may mean that the header does not count: no reason to wait longer each time.
    const isDoubtful = this.#zeroes > 1 && !this.#opening.isBucket;
    if (grown > 0 && isOpening && !isDoubtful) this.#opened(sent, { ...report, grown }, now);
    else if (sent.isProbe) this.#opening.missed();
    this.#opening.count(now);
  }

  #opened(
    sent: Sent,
    { limit, remaining: left, grown }: { limit: number; remaining: number; grown: number },
    now: number,
  ): void {
    const { quota } = this;
    const opening = this.#opening;
    const { sentAt, isProbe, isAlone } = sent;
    opening.granted({ sentAt, now, grown, left, limit, isProbe, isAlone, isShared: quota.isShared });
    const isWindow =
      (quota.isShared || grown >= WHOLE_WINDOW * limit) &&
      !opening.isBucket &&
      opening.windowMs <= KEEP.longestWindowMs;
    const calls = isWindow ? quota.remaining * (quota.isShared ? KEEP.sharedShare : KEEP.share) : 0;
    quota.open({ calls, until: now + opening.windowMs * KEEP.untilPart * (0.7 + 0.6 * this.#random()) });
  }

  #reject(sent: Sent, retryAfterMs: number | undefined, now: number): void {
    // Calls that were in flight together are rejected together, for the same reason.
    const isFirst = sent.sentAt > this.#rejectedAt;
    if (isFirst) this.#rejections += 1;
    this.#rejectedAt = now;
    const backoffMs = Math.min(BACKOFF_MS.first * 2 ** (this.#rejections - 1), BACKOFF_MS.longest);
    const pauseMs = retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : backoffMs;
    const jitterMs = this.#rejections > CROWDED.rejections ? this.#random() * CROWDED.jitterMs : 0;
    this.#pauseUntil = Math.max(this.#pauseUntil, now + Math.min(pauseMs + jitterMs, LONGEST_PAUSE_MS));
    if (isFirst)
      this.#opening.rejected({
        sentAt: sent.sentAt,
        retryAfterMs: pauseMs,
        now,
        isShared: this.quota.isShared,
      });
    this.quota.reject(sent, now);
    if (this.#zeroes >= this.#mostZeroes) {
      this.#mostZeroes *= ZEROES_GROWTH;
      this.#state = 'counted';
    }
    this.#zeroes = 0;
  }

  /** A response of a proxy says nothing about the quota; a service without the headers has none to keep. */
  #settleWithoutHeaders(sent: Sent, status: number): void {
    const { quota } = this;
    this.#withoutHeaders += 1;
    if (this.#state === 'counted') quota.cancel(sent);
    else quota.remove(sent);
    quota.concurrencyLimit += 1;
    if (this.#state === 'unknown' && status < 500) {
      this.#state = 'unlimited';
      quota.concurrencyLimit = Number.POSITIVE_INFINITY;
    } else if (this.#state !== 'unlimited' && this.#withoutHeaders >= MOST_WITHOUT_HEADERS) {
      this.#state = 'unlimited';
      quota.concurrencyLimit = CAREFUL_CONCURRENCY;
    }
  }

  #ignoreHeaders(sent: Sent): void {
    this.quota.remove(sent);
    this.quota.concurrencyLimit =
      this.#state === 'unlimited' ? this.quota.concurrencyLimit + 1 : CAREFUL_CONCURRENCY;
    this.#state = 'unlimited';
  }
}

/** A figure of a header, if it is one. */
function amount(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) ? Math.max(0, value) : undefined;
}
