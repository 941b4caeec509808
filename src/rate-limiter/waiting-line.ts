/** A call that waits. Its code sleeps until it is woken or its own timer fires. */
export interface Waiter {
  /** The call is sent then, even while the limits are unknown. */
  readonly sendAt: number;
  /** The call ends then if the quota is used up. */
  readonly giveUpAt: number;
  wake: () => void;
  /** When it was woken to be sent, until its code runs. */
  wokenAt: number | undefined;
  /** Where it is queued. */
  line: WaitingLine | undefined;
}

/** First come, first served; a call can leave from the middle. */
export class WaitingLine {
  // Not a Set: its first member is found by passing over all that were removed, which takes seconds for 100,000 calls.
  #waiters: Waiter[] = [];
  #firstAt = 0;
  #left = 0;

  get first(): Waiter | undefined {
    for (;;) {
      const waiter = this.#waiters[this.#firstAt];
      if (waiter === undefined || waiter.line === this) return waiter;
      this.#firstAt += 1;
    }
  }

  /** Changes nothing for a call that is in the line. */
  add(waiter: Waiter): void {
    if (waiter.line === this) return;
    waiter.line = this;
    this.#waiters.push(waiter);
  }

  remove(waiter: Waiter): void {
    if (waiter.line !== this) return;
    waiter.line = undefined;
    this.#left += 1;
    if (this.#left * 2 < this.#waiters.length) return;
    this.#waiters = [...this];
    this.#firstAt = 0;
    this.#left = 0;
  }

  *[Symbol.iterator](): Iterator<Waiter> {
    for (const waiter of this.#waiters) if (waiter.line === this) yield waiter;
  }
}
