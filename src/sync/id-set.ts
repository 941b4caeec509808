/** Numbers up to here are exact, and their text is what `String` makes of them. */
const PLAIN = /^(?:0|[1-9]\d{0,14})$/;

/**
 * The ids of a local copy, and which of them were seen. Whole numbers take eight bytes and a bit, for a copy may hold
 * millions; other ids are kept as they are.
 */
export class IdSet {
  #numbers = new Float64Array(1024);
  #count = 0;
  #seen = new Uint8Array(0);
  readonly #others = new Map<string, boolean>();

  /** Takes an id in; all of them before the first is looked for. */
  add(id: string): void {
    if (!PLAIN.test(id)) {
      this.#others.set(id, false);
      return;
    }
    if (this.#count === this.#numbers.length) {
      const more = new Float64Array(this.#count * 2);
      more.set(this.#numbers);
      this.#numbers = more;
    }
    this.#numbers[this.#count++] = Number(id);
  }

  /** Ends the taking in: orders the ids and drops those that came twice. */
  seal(): void {
    const sorted = this.#numbers.subarray(0, this.#count).sort();
    let kept = 0;
    for (const number of sorted) {
      if (sorted[kept - 1] !== number) sorted[kept++] = number;
    }
    this.#count = kept;
    this.#seen = new Uint8Array(Math.ceil(kept / 8));
  }

  get size(): number {
    return this.#count + this.#others.size;
  }

  /** Notes that an id was seen; false where it is none of these. */
  see(id: string): boolean {
    if (!PLAIN.test(id)) {
      const known = this.#others.has(id);
      if (known) this.#others.set(id, true);
      return known;
    }
    const place = this.#placeOf(Number(id));
    // No place at all, which is -1, lies in no byte.
    const byte = this.#seen[place >> 3];
    if (byte === undefined) return false;
    this.#seen[place >> 3] = byte | (1 << (place & 7));
    return true;
  }

  /** The ids that were not seen. */
  *unseen(): Generator<string, void> {
    for (let place = 0; place < this.#count; place++) {
      const seen = ((this.#seen[place >> 3] ?? 0) >> (place & 7)) & 1;
      if (seen === 0) yield String(this.#numbers[place]);
    }
    for (const [id, seen] of this.#others) if (!seen) yield id;
  }

  /** How many were not seen. */
  countUnseen(): number {
    let count = 0;
    for (const _ of this.unseen()) count++;
    return count;
  }

  #placeOf(number: number): number {
    let low = 0;
    let high = this.#count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const there = this.#numbers[middle] ?? Number.NaN;
      if (there === number) return middle;
      if (there < number) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}
