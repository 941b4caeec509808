/** Runs at most a given number of tasks at a time, in the order in which they came. */
export class Semaphore {
  #free: number;
  readonly #queue: (() => void)[] = [];

  constructor(concurrency: number) {
    this.#free = concurrency;
  }

  async run<V>(task: () => Promise<V>): Promise<V> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#queue.push(resolve));
    try {
      return await task();
    } finally {
      // Passed to the next in the queue: a task that has just come must not overtake those that wait.
      const next = this.#queue.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
