/** Random numbers that are the same for the same seed, on every machine (mulberry32). */
export class SeededRandom {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds would begin alike.
    this.#state = Math.imul(seed + 1, 0x9e3779b1);
  }

  /** At least 0, below 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<V>(values: readonly V[]): V {
    if (values.length === 0) throw new RangeError('Nothing to pick from.');
    return values[this.int(0, values.length - 1)] as V;
  }
}
