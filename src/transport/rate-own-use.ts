/** Some services round what remains. */
const SLACK = 1;
/** After so many answers the fastest of them was as fast as they get. */
const ENOUGH = 20;

/**
 * Tells whether this process' own calls explain what an answer says remains. If they do not, somebody else uses the
 * key. Pure state.
 */
export class OwnUse {
  /** The lowest figure that calls explain which may have been counted by now. */
  #least = 0;
  /** The shortest time that a call and its answer have taken. */
  #fastestMs = Number.POSITIVE_INFINITY;
  #answers = 0;
  /** When the latest calls were sent: too recently to have been counted before an answer that arrives now. */
  #recent: number[] = [];
  #oldest = 0;

  /** 0 until enough calls were answered: the first of a connection are slow. */
  get fastestMs(): number {
    return this.#answers < ENOUGH ? 0 : this.#fastestMs;
  }

  sent(now: number): void {
    this.#recent.push(now);
  }

  /** Whether own calls explain the figure in an answer to a call sent then. */
  explains(remaining: number, sentAt: number, now: number): boolean {
    this.#answers += 1;
    this.#fastestMs = Math.min(this.#fastestMs, now - sentAt);
    // A call that was counted before this answer left had to get there, and the answer to get here.
    const before = now - Math.max(0, this.#fastestMs - 1);
    while (this.#oldest < this.#recent.length && (this.#recent[this.#oldest] ?? 0) <= before) {
      this.#oldest += 1;
      this.#least -= 1;
    }
    if (this.#oldest > 256) {
      this.#recent = this.#recent.slice(this.#oldest);
      this.#oldest = 0;
    }
    return remaining >= this.#least - SLACK;
  }

  /** Begins anew from a figure, of which calls still on their way may have been taken already or not. */
  restart(remaining: number, inFlight: number): void {
    this.#least = remaining - Math.max(0, inFlight - (this.#recent.length - this.#oldest));
  }

  /** The lowest figure that own calls explain, all calls on their way included. */
  get least(): number {
    return this.#least - (this.#recent.length - this.#oldest);
  }
}
