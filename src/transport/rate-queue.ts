/** Calls at the front go first; then interactive ones, which pass background walks. */
export type Lane = 'front' | 'interactive' | 'background';

/** Who waits: in which lane, and the place in the order of arrival. */
export interface Queued {
  readonly lane: Lane;
  readonly number: number;
}

/** While both wait, background calls keep one slot in five: four may pass. */
const MAY_PASS = 4;

/** Who is next. Within a lane, first come, first served. */
export class RateQueue<T extends Queued> {
  /** Interactive calls that have passed a waiting background call in a row. */
  #passed = 0;
  readonly #lanes: Record<Lane, Set<T>> = { front: new Set(), interactive: new Set(), background: new Set() };

  get size(): number {
    return this.#lanes.front.size + this.#lanes.interactive.size + this.#lanes.background.size;
  }

  add(waiter: T): void {
    this.#lanes[waiter.lane].add(waiter);
  }

  /** Puts one back who had been taken out, where it was. */
  restore(waiter: T): void {
    const lane = this.#lanes[waiter.lane];
    const later = [...lane].filter(({ number }) => number > waiter.number);
    for (const other of later) lane.delete(other);
    for (const each of [waiter, ...later]) lane.add(each);
  }

  remove(waiter: T): void {
    this.#lanes[waiter.lane].delete(waiter);
  }

  /** The one whose turn it is, without taking it out; undefined when nobody waits. */
  get head(): T | undefined {
    const { front, interactive, background } = this.#lanes;
    const [second, third] = this.#passed >= MAY_PASS ? [background, interactive] : [interactive, background];
    return first(front) ?? first(second) ?? first(third);
  }

  /** Takes out the one whose turn it is. */
  next(): T | undefined {
    const waiter = this.head;
    if (waiter === undefined) return undefined;

    this.remove(waiter);
    if (waiter.lane === 'background') this.#passed = 0;
    if (waiter.lane === 'interactive') this.#passed = this.#lanes.background.size > 0 ? this.#passed + 1 : 0;
    return waiter;
  }
}

function first<T>(lane: Set<T>): T | undefined {
  return lane.size === 0 ? undefined : lane.values().next().value;
}
