/** The pause after a 429 that does not say how long; doubles while refused. */
const BACK_OFF_MS = 250;
const BACK_OFF_CAP_MS = 20_000;
/** A service that asks for more is asked again after this long. */
const CAP_MS = 24 * 3_600_000;
/** After so many refusals in a row, others with the same key may be probing at the same times. */
const CROWDED_AFTER = 2;
const CROWD_JITTER_MS = 1_000;

/** How long everyone with the key waits after a 429. Pure state: it is told the time. */
export class Pause {
  /** Nobody goes before this. */
  until = 0;
  /** Refusals in a row. */
  #refusals = 0;
  #refusedAt = Number.NEGATIVE_INFINITY;
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  /**
   * A call that was sent then was refused. Returns the pause that the service asked for, or that is taken where it
   * did not; undefined for a call that was already on its way at the last refusal.
   */
  refused(sentAt: number, retryAfterMs: number | undefined, now: number): number | undefined {
    const fresh = sentAt > this.#refusedAt;
    if (fresh) this.#refusals += 1;
    this.#refusedAt = now;
    const pauseMs = retryAfterMs !== undefined && retryAfterMs > 0 ? retryAfterMs : this.#backOffMs();
    const jitterMs = this.#refusals > CROWDED_AFTER ? this.#random() * CROWD_JITTER_MS : 0;
    this.until = Math.max(this.until, now + Math.min(pauseMs + jitterMs, CAP_MS));
    return fresh ? pauseMs : undefined;
  }

  /** A call was let through. */
  over(): void {
    this.#refusals = 0;
  }

  #backOffMs(): number {
    return Math.min(BACK_OFF_MS * 2 ** (this.#refusals - 1), BACK_OFF_CAP_MS);
  }
}
