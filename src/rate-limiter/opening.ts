/** Window lengths that services choose, in seconds. */
const ROUND_SECONDS = [
  1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1_800, 3_600,
];
/** Retry-After names no shorter time. The first guess: one that is too short costs one 429, which corrects it. */
const SHORTEST_WINDOW_MS = 1_000;
/** Clocks and timers are exact to a few milliseconds. */
const TOLERANCE_MS = 3;
/** A probe comes this long after the expected opening: one that comes too early costs a 429. */
const MARGIN_MS = 5;
/** So many rejected probes do not change a window length that predicted as many openings. */
const MOST_TRUST = 3;
/** An opening that brings less than this share of the limit may be a bucket that fills little by little. */
export const WHOLE_WINDOW = 0.9;
/** A probe of a bucket is sent when so many calls, or this share of the limit, are expected back. */
const PROBE = { calls: 2, share: 0.05 };
/** The first probe of what may be a bucket is sent after this part of the time, or when enough calls are expected. */
const TRY_PART = 1 / 4;
/** Rejected probes in a row after which a bucket no longer counts as one. */
const MOST_MISSES = 3;

/** A response that shows that the quota has grown. */
interface Granted {
  readonly sentAt: number;
  readonly now: number;
  /** By how much the quota has grown, and what is left of it. */
  readonly grown: number;
  readonly left: number;
  readonly limit: number;
  /** Nothing was left when the call was sent. */
  readonly isProbe: boolean;
  /** Nothing else was in flight when the call was sent: the figures are exact. */
  readonly isAlone: boolean;
  /** Other processes use the key: what they took is missing. */
  readonly isShared: boolean;
}

/** A 429. */
interface Rejected {
  readonly sentAt: number;
  readonly now: number;
  readonly retryAfterMs: number;
  readonly isShared: boolean;
}

/** Learns when the quota comes back: at once (windows) or little by little (buckets). Told the time, sets no timer. */
export class Opening {
  /** The window length lies above the one and is at most the other, in ms. */
  #above = 0;
  #upTo = Number.POSITIVE_INFINITY;
  #windowMs = SHORTEST_WINDOW_MS;
  /** The last opening came after the one time, and not after the other. */
  #openedAfter = Number.NEGATIVE_INFINITY;
  #openedBy: number | undefined;
  /** The next opening comes after this. */
  #closedAfter = Number.NEGATIVE_INFINITY;
  /** A probe was rejected since the last opening. */
  #wasRejected = false;
  /** Openings in a row that came when expected, less rejected probes. */
  #trust = 0;
  #bucket: 'no' | 'trying' | 'yes' = 'no';
  /** Calls that come back in a millisecond. */
  #perMs = 0;
  #waitMs = 0;
  #misses = 0;
  /** Openings to let pass before the next try, and after the next failed one. */
  #skip = 0;
  #nextSkip = 2;
  /** What the last opening brought, and how many calls were granted since. */
  #brought = Number.POSITIVE_INFINITY;
  #granted = 0;
  #lastResponseAt = 0;

  /** The window length, as far as it is known. */
  get windowMs(): number {
    return this.#windowMs;
  }

  /** The quota is known to come back little by little. */
  get isBucket(): boolean {
    return this.#bucket === 'yes';
  }

  /** When a probe is worth it; 0 for at once. */
  get probeAt(): number {
    if (this.#bucket !== 'no') return this.#lastResponseAt + this.#waitMs;
    if (this.#openedBy === undefined || this.#wasRejected) return 0;
    return this.#openedBy + this.#windowMs + MARGIN_MS;
  }

  /** A call was granted. */
  count(now: number): void {
    this.#lastResponseAt = now;
    this.#granted += 1;
  }

  /** A probe was granted nothing more: other processes were faster. */
  missed(): void {
    if (this.#bucket === 'trying') this.#noBucket();
  }

  /** A 429. Retry-After is rounded up to whole seconds, so that the next opening lies within a second. */
  rejected({ sentAt, retryAfterMs, now, isShared }: Rejected): void {
    this.#lastResponseAt = now;
    this.#closedAfter = Math.max(this.#closedAfter, sentAt, sentAt + retryAfterMs - 1_000);
    // A window of which other processes have used everything is no sign of a longer one.
    const isSign = !isShared || !Number.isFinite(this.#upTo);
    if (!this.#wasRejected && this.#trust > 0) this.#trust -= 1;
    else if (!this.#wasRejected && isSign && this.#openedBy !== undefined) {
      this.#narrow(this.#closedAfter - this.#openedBy, now + retryAfterMs - this.#openedAfter);
    }
    this.#wasRejected = true;
    if (this.#bucket === 'no') return;

    this.#misses += 1;
    this.#perMs /= 2;
    this.#waitMs *= 2;
    if (this.#bucket === 'trying' || this.#misses >= MOST_MISSES) this.#noBucket();
  }

  /** A response shows that the quota has grown. */
  granted({ sentAt, now, grown, left, limit, isProbe, isAlone, isShared }: Granted): void {
    if (isProbe && this.#bucket === 'no' && !this.#wasRejected)
      this.#trust = Math.min(this.#trust + 1, MOST_TRUST);
    if (isAlone && (!isShared || this.#bucket === 'yes')) {
      const elapsedMs = Math.max(1, (sentAt + now) / 2 - this.#lastResponseAt);
      // More calls were granted than the last opening brought: a bucket fills while it is used.
      const isSurplus = isProbe && this.#granted > this.#brought;
      this.#learnBucket(grown, elapsedMs, limit, left >= WHOLE_WINDOW * limit && !isSurplus);
    }
    // In the middle of a burst it is unknown which calls the window before still paid for.
    this.#brought = isProbe ? grown : Number.POSITIVE_INFINITY;
    this.#granted = 0;
    this.#openedAfter = this.#closedAfter;
    this.#openedBy = now;
    this.#closedAfter = sentAt;
    this.#wasRejected = false;
  }

  #narrow(above: number, upTo: number): void {
    this.#above = Math.max(this.#above, above - TOLERANCE_MS);
    this.#upTo = Math.min(this.#upTo, upTo + TOLERANCE_MS);
    if (this.#above >= this.#upTo) {
      // The service has changed its window, or has none: only the latest observation counts.
      this.#above = above - TOLERANCE_MS;
      this.#upTo = upTo + TOLERANCE_MS;
    }
    // The smallest round length: one that is too small costs one 429, which corrects it.
    const round = ROUND_SECONDS.find((seconds) => seconds * 1_000 > this.#above) ?? Number.POSITIVE_INFINITY;
    if (round * 1_000 <= this.#upTo) this.#windowMs = round * 1_000;
    else if (Number.isFinite(this.#upTo)) this.#windowMs = (this.#above + this.#upTo) / 2;
  }

  #learnBucket(grown: number, elapsedMs: number, limit: number, isWindow: boolean): void {
    this.#misses = 0;
    const measured = grown / elapsedMs;
    if (this.#bucket === 'no') {
      if (isWindow) return;
      if (this.#skip > 0) {
        this.#skip -= 1;
        return;
      }
      // One try after a quarter of the time: an even refill has brought a quarter by then.
      this.#bucket = 'trying';
      this.#perMs = measured;
      this.#waitMs = elapsedMs * Math.min(1, Math.max(TRY_PART, PROBE.calls / grown));
      return;
    }
    if (this.#bucket === 'trying' && measured < this.#perMs / 2) {
      this.#noBucket();
      return;
    }
    this.#perMs = this.#bucket === 'trying' ? measured : (this.#perMs + measured) / 2;
    this.#bucket = 'yes';
    this.#waitMs = Math.min(Math.max(PROBE.calls, PROBE.share * limit) / this.#perMs, 2 * elapsedMs);
  }

  #noBucket(): void {
    this.#bucket = 'no';
    this.#misses = 0;
    this.#skip = this.#nextSkip;
    this.#nextSkip *= 2;
  }
}
