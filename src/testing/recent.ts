/** The last entries of a log without an end. */
export class Recent<T> {
  readonly #limit: number;
  #entries: T[] = [];
  /** The number of all entries, also those that are no longer kept. */
  total = 0;

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  add(entry: T): void {
    this.total += 1;
    this.#entries.push(entry);
    // Not with every entry, because removing the first one moves all others.
    if (this.#entries.length > 2 * this.#limit) this.#entries = [...this.list()];
  }

  /** The last `limit` entries, oldest first, in a new array. */
  list(): readonly T[] {
    return this.#entries.slice(-this.#limit);
  }

  clear(): void {
    this.#entries = [];
    this.total = 0;
  }
}
