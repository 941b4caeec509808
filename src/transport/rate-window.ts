/** Lengths that services choose, in seconds. Between them, the middle of what is possible is taken. */
const ROUND_SECONDS = [
  1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30, 45, 60, 90, 120, 180, 300, 600, 900, 1800, 3600,
];
/** Clocks and timers are not exact to the millisecond. */
const TOLERANCE_MS = 3;
/** A call that comes this long after the predicted opening finds the window open. */
const MARGIN_MS = 5;
/** So many refusals of a length that has often been right do not count against it. */
const MOST_TRUST = 3;
/** Openings known to within less are known well enough. */
const VAGUE_MS = 40;

/** What is learned of a window from the times at which it opened. Pure state: it is told the time. */
export class WindowLength {
  /** The length, once it can be told. */
  #lengthMs: number | undefined;
  /** The length lies above the one and not above the other. */
  #above = 0;
  #upTo = Number.POSITIVE_INFINITY;
  /** The last opening lay after the one time and not after the other. */
  #openedAfter = Number.NEGATIVE_INFINITY;
  #openedBy: number | undefined;
  /** The last time at which the budget was seen to grow, if only a little. */
  #grewBy = 0;
  /** The next opening to be seen lies after this. */
  #closedAfter = 0;
  /** The same before the first refusal: after it, another user of the key may find an opening that is not seen here. */
  #firstClosedAfter: number | undefined;
  /** Since the last opening a call was refused: the next opening lies not after this. */
  #closedUntil: number | undefined;
  /** Openings in a row that came when they were predicted: each makes up for one that did not. */
  #trust = 0;
  #forgiven = false;
  /** In this window no call is sent early any more. */
  #triedEarly = false;

  /** The length, 0 until it is known. */
  get lengthMs(): number {
    return this.#lengthMs ?? 0;
  }

  /**
   * When a call can tell whether the next window has opened; 0 for at once. A call that would not be refused if it
   * came too early is spent on finding out whether windows open earlier than they were seen to.
   */
  probeAt(canSpare: boolean): number {
    if (this.#lengthMs === undefined || this.#openedBy === undefined || this.#closedUntil !== undefined)
      return 0;

    const latest = this.#openedBy + this.#lengthMs;
    const earliest = Math.max(this.#closedAfter, this.#openedAfter + this.#lengthMs);
    if (canSpare && latest - earliest > VAGUE_MS && !this.#triedEarly) return (earliest + latest) / 2;
    return latest + MARGIN_MS;
  }

  /** An answer to a call sent at that time showed the same window. */
  same(sentAt: number, probe: boolean): void {
    this.#closedAfter = Math.max(this.#closedAfter, sentAt);
    if (probe) this.#triedEarly = true;
  }

  /** The budget grew by so little that it may be no opening. */
  grew(by: number): void {
    this.#grewBy = by;
  }

  /** It was an opening after all. */
  rolled(): void {
    if (this.#openedBy !== undefined) this.#openedBy = Math.max(this.#openedBy, this.#grewBy);
  }

  /** A call was refused. Retry-After is rounded up to whole seconds. */
  refused(sentAt: number, now: number, retryAfterMs: number): void {
    this.#closedAfter = Math.max(this.#closedAfter, sentAt, sentAt + retryAfterMs - 1_000);
    this.#closedUntil = now + retryAfterMs;
    if (this.#firstClosedAfter !== undefined) return;

    this.#firstClosedAfter = this.#closedAfter;
    this.#forgiven = this.#isDue(sentAt) && this.#trust > 0;
    if (this.#forgiven) this.#trust -= 1;
  }

  /** A call sent then was the first to see the window open; one sent at `by` would have seen it too. */
  opened(sentAt: number, by: number): void {
    const wasRefused = this.#closedUntil !== undefined;
    if (this.#openedBy !== undefined && !this.#forgiven) {
      const closedAfter = this.#firstClosedAfter ?? this.#closedAfter;
      const openedBy = Math.min(by, this.#closedUntil ?? by);
      this.#narrow(closedAfter - Math.max(this.#openedBy, this.#grewBy), openedBy - this.#openedAfter);
      if (wasRefused || this.#lengthMs === undefined) this.#choose();
      else if (this.#isDue(sentAt)) this.#trust = Math.min(this.#trust + 1, MOST_TRUST);
    }
    const atLeast = this.#openedAfter + this.lengthMs;
    this.#openedAfter =
      this.#openedBy === undefined
        ? Number.NEGATIVE_INFINITY
        : Math.max(this.#closedAfter, Math.min(atLeast, sentAt));
    this.#openedBy = by;
    // A length that has not yet predicted an opening may be wrong: no reason to look for a better time.
    this.#triedEarly = wasRefused;
    this.#closedAfter = sentAt;
    this.#closedUntil = undefined;
    this.#firstClosedAfter = undefined;
    this.#forgiven = false;
  }

  /** Whether a call sent then should have found the next window open. */
  #isDue(sentAt: number): boolean {
    return this.#lengthMs !== undefined && sentAt >= (this.#openedBy ?? 0) + this.#lengthMs;
  }

  #narrow(above: number, upTo: number): void {
    this.#above = Math.max(this.#above, above - TOLERANCE_MS);
    this.#upTo = Math.min(this.#upTo, upTo + TOLERANCE_MS);
    if (this.#above < this.#upTo) return;

    // The service has changed its mind, or its windows are no windows: only the latest counts.
    this.#above = above - TOLERANCE_MS;
    this.#upTo = upTo + TOLERANCE_MS;
  }

  /** The smallest round length that is possible: one too small costs a refusal and is corrected by it. */
  #choose(): void {
    const round = ROUND_SECONDS.find((seconds) => seconds * 1_000 > this.#above);
    if (round !== undefined && round * 1_000 <= this.#upTo) this.#lengthMs = round * 1_000;
    else this.#lengthMs = Math.min((this.#above + this.#upTo) / 2, this.#above + 500);
  }
}
