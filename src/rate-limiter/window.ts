/** Retry-After names no shorter time. The first guess: one that is too short costs one 429, which corrects it. */
const SHORTEST_MS = 1_000;
/** Clocks and timers are exact to a few milliseconds. */
const TOLERANCE_MS = 3;
/** A probe comes this long after the expected opening, because one that comes too early costs a 429. */
const MARGIN_MS = 5;
/** A probe that brings less than this share of the limit shows that the quota comes back little by little. */
const WHOLE_WINDOW = 0.9;
/** Such a quota is probed when this number of calls, or this share of the limit, is expected back. */
const REFILL = { calls: 2, share: 0.05 };
/** This number of rejected probes shows that the quota does come back in windows, of which others had used a part. */
const MOST_MISSES = 3;

/** What a probe brought that was alone in flight. */
interface Refill {
  /** By how much the quota has grown, and what is left of it. */
  readonly grown: number;
  readonly remaining: number;
  readonly limit: number;
  /** How long nothing was sent before. */
  readonly elapsedMs: number;
}

/** Learns when a used-up quota comes back: at once, in windows, or little by little. Gets the time as an argument; has no timer. */
export class QuotaWindow {
  /** The best guess of the length. It lies above `above`, and is at most `upTo`. */
  lengthMs = SHORTEST_MS;
  #above = 0;
  #upTo = Number.POSITIVE_INFINITY;
  /** The last opening came after the one time, and not after the other. */
  #openedAfter = Number.NEGATIVE_INFINITY;
  #openedBy = Number.NEGATIVE_INFINITY;
  /** The next opening comes after this. */
  #closedAfter = Number.NEGATIVE_INFINITY;
  /** False before the first opening, and after a 429 until the next one: a probe is worth it at once. */
  #canPredict = false;
  /** Whether no window has opened since then, as far as known: the next 429 then shows the length of a window. */
  #canMeasure = false;
  /** How long until a probe is worth it, if the quota comes back little by little. */
  #refillMs: number | undefined;
  #misses = 0;

  /** The quota comes back little by little, as in a token bucket. */
  get isRefill(): boolean {
    return this.#refillMs !== undefined;
  }

  /** When a probe is expected to be granted. */
  opensAt(lastResponseAt: number): number {
    if (this.#refillMs !== undefined) return lastResponseAt + this.#refillMs;
    return this.#canPredict ? this.#openedBy + this.lengthMs + MARGIN_MS : 0;
  }

  /** The response to a call sent at `sentAt` shows that the quota is back. */
  opened(sentAt: number, now: number): void {
    this.#openedAfter = this.#closedAfter;
    this.#openedBy = now;
    this.#closedAfter = sentAt;
    this.#canPredict = true;
    this.#canMeasure = true;
  }

  /** The quota has grown while calls were left: perhaps a window has opened, but it is unknown when. */
  grown(): void {
    this.#canMeasure = false;
  }

  /** Learns how fast the quota comes back. A single call proves nothing: the service may count in another way. */
  learnRefill({ grown, remaining, limit, elapsedMs }: Refill): void {
    if (grown < 2 && !this.isRefill) return;
    const isWindow = remaining + 1 >= WHOLE_WINDOW * limit || this.#misses >= MOST_MISSES;
    const part = Math.max(REFILL.calls, REFILL.share * limit) / grown;
    // Never longer than what has just sufficed: only a 429 makes it longer.
    this.#refillMs = isWindow ? undefined : elapsedMs * Math.min(1, part);
  }

  /** A 429. Retry-After is rounded up to whole seconds, so that the next opening lies within its last second. */
  rejected(sentAt: number, now: number, retryAfterMs: number): void {
    this.#closedAfter = Math.max(this.#closedAfter, sentAt, sentAt + retryAfterMs - 1_000);
    if (this.#canMeasure) {
      this.#narrow(this.#closedAfter - this.#openedBy, now + retryAfterMs - this.#openedAfter);
    }
    this.#canPredict = false;
    this.#canMeasure = false;
    if (this.isRefill) this.#misses += 1;
    this.#refillMs = undefined;
  }

  /** Two openings bound the length. */
  #narrow(above: number, upTo: number): void {
    this.#above = Math.max(this.#above, above - TOLERANCE_MS);
    this.#upTo = Math.min(this.#upTo, upTo + TOLERANCE_MS);
    if (this.#above >= this.#upTo) {
      // The service has changed its window, or has none: only the latest observation counts.
      this.#above = above - TOLERANCE_MS;
      this.#upTo = upTo + TOLERANCE_MS;
    }
    // Services choose whole seconds. The smallest: one that is too small costs one 429, which corrects it.
    const seconds = Math.max(1, Math.ceil(this.#above / 1_000));
    this.lengthMs = Math.min(seconds * 1_000, this.#upTo);
  }
}
