/** Integers up to here are exact as numbers, and `String` turns them back into the same id. */
const INTEGER = /^(?:0|[1-9]\d{0,14})$/;

/**
 * The ids of a local copy, and which of them a read has listed. An integer id takes nine bytes, because a copy may have
 * millions of records; other ids are kept as strings.
 */
export class IdSet {
  #integers = new Float64Array(1024);
  #count = 0;
  /** 1 for each integer that was listed, at its position. */
  #seen = new Uint8Array(0);
  readonly #others = new Map<string, boolean>();

  /** Adds an id. All ids are added before the first one is marked. */
  add(id: string): void {
    if (!INTEGER.test(id)) {
      this.#others.set(id, false);
      return;
    }
    if (this.#count === this.#integers.length) {
      const longer = new Float64Array(this.#count * 2);
      longer.set(this.#integers);
      this.#integers = longer;
    }
    this.#integers[this.#count++] = Number(id);
  }

  /** Sorts the ids and removes duplicates. Called once, after the last `add`. */
  sort(): void {
    const sorted = this.#integers.subarray(0, this.#count).sort();
    let kept = 0;
    for (const integer of sorted) {
      if (sorted[kept - 1] !== integer) sorted[kept++] = integer;
    }
    this.#count = kept;
    this.#seen = new Uint8Array(kept);
  }

  get size(): number {
    return this.#count + this.#others.size;
  }

  /** Marks an id as listed; false if it is not in the set. */
  markSeen(id: string): boolean {
    if (!INTEGER.test(id)) {
      const known = this.#others.has(id);
      if (known) this.#others.set(id, true);
      return known;
    }
    const index = this.#indexOf(Number(id));
    if (index < 0) return false;
    this.#seen[index] = 1;
    return true;
  }

  *unseen(): Generator<string, void> {
    for (let index = 0; index < this.#count; index++) {
      if (this.#seen[index] === 0) yield String(this.#integers[index]);
    }
    for (const [id, seen] of this.#others) if (!seen) yield id;
  }

  countUnseen(): number {
    let count = 0;
    for (const _ of this.unseen()) count++;
    return count;
  }

  /** By binary search; -1 if it is not there. */
  #indexOf(integer: number): number {
    let low = 0;
    let high = this.#count - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#integers[middle] ?? Number.NaN;
      if (found === integer) return middle;
      if (found < integer) low = middle + 1;
      else high = middle - 1;
    }
    return -1;
  }
}
