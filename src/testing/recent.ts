/** The last entries of something that may go on for ever. */
export class Recent<T> {
  readonly #limit: number;
  #entries: T[] = [];
  /** How many there were in all. */
  total = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(entry: T): void {
    this.total += 1;
    this.#entries.push(entry);
    // Cut now and then rather than with every entry: shifting a long array is not free.
    if (this.#entries.length >= 2 * this.#limit + 1)
      this.#entries = this.#entries.slice(-this.#limit || Infinity);
  }

  /** The last `limit` entries, oldest first: a list of its own that later entries do not change. */
  list(): readonly T[] {
    return this.#limit === 0 ? [] : this.#entries.slice(-this.#limit);
  }

  clear(): void {
    this.#entries = [];
    this.total = 0;
  }
}
