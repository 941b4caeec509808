/** Some services round what remains. */
const SLACK = 1;
/** After so many answers the fastest of them was as fast as they get. */
const ENOUGH = 20;
/** After so long any call has been counted. */
const SETTLED_AFTER_MS = 30_000;

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
    // Where no answer ever shows what remains, nothing else would forget them.
    this.#forget(now - SETTLED_AFTER_MS);
  }

  /** Whether own calls explain the figure in an answer to a call sent then. */
  explains(remaining: number, sentAt: number, now: number): boolean {
    this.#answers += 1;
    this.#fastestMs = Math.min(this.#fastestMs, now - sentAt);
    // A call that was counted before this answer left had to get there, and the answer to get here.
    this.#forget(now - Math.max(0, this.#fastestMs - 1));
    return remaining >= this.#least - SLACK;
  }

  /** Calls sent by then may have been counted. */
  #forget(before: number): void {
    while (this.#oldest < this.#recent.length && (this.#recent[this.#oldest] ?? 0) <= before) {
      this.#oldest += 1;
      this.#least -= 1;
    }
    if (this.#oldest <= Math.max(256, this.#recent.length / 2)) return;

    this.#recent = this.#recent.slice(this.#oldest);
    this.#oldest = 0;
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
