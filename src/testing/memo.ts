/** The last results of a computation, each with the version of the data that it was computed from. */
export class Memo<T> {
  readonly #results = new Map<string, { readonly version: number; readonly value: T }>();
  readonly #limit: number;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The stored result, or a new one if there is none of this version. */
  get(key: string, version: number, compute: () => T): T {
    const stored = this.#results.get(key);
    if (stored?.version === version) return stored.value;

    const value = compute();
    this.#results.delete(key);
    const oldest = this.#results.keys().next();
    if (this.#results.size >= this.#limit && oldest.done !== true) this.#results.delete(oldest.value);
    this.#results.set(key, { version, value });
    return value;
  }
}
