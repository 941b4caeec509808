import type { Clock } from '../../src/rate-limiter/rate-limiter.ts';

/** A seeded source of chance (mulberry32): the same seed gives the same run. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Scheduled {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

/** An event loop whose time passes at once: events run in the order of their times, promises settle in between. */
export class VirtualTime {
  /** The true time, with fractions of a millisecond, as a service would see it. */
  now = 0;
  #scheduled = 0;
  readonly #heap: Scheduled[] = [];

  /** Runs something after so many ms, exactly. */
  after(delayMs: number, run: () => void): void {
    push(this.#heap, { at: this.now + delayMs, order: this.#scheduled, run });
    this.#scheduled += 1;
  }

  /** Lets time pass until then. */
  async runUntil(endMs: number): Promise<void> {
    for (let event = this.#heap[0]; event !== undefined && event.at <= endMs; event = this.#heap[0]) {
      pop(this.#heap);
      this.now = event.at;
      event.run();
      // Enough turns for a promise that an event settled to reach its code.
      for (let turn = 0; turn < 12; turn += 1) await undefined;
    }
    this.now = endMs;
  }

  /** The clock of one process: whole milliseconds; timers a little late, and later while the process is busy. */
  clock(random: () => number, freeAt: () => number = () => 0): Clock {
    const lateness = () => (random() < 0.02 ? random() * 12 : random() * 1.5);
    return {
      now: () => Math.floor(this.now),
      setTimeout: (run, delayMs) => {
        const timer: Timer = { cancelled: false };
        const fire = () => {
          // At least a hundredth: smaller steps may get lost beside the size of the date.
          if (freeAt() > this.now) this.after(Math.max(0.01, freeAt() - this.now), fire);
          else if (!timer.cancelled) run();
        };
        this.after(Math.max(1, Math.trunc(delayMs)) + lateness(), fire);
        return timer;
      },
      clearTimeout: (id) => {
        (id as Timer).cancelled = true;
      },
      random,
    };
  }
}

interface Timer {
  cancelled: boolean;
}

const before = (a: Scheduled, b: Scheduled) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Scheduled[], event: Scheduled): void {
  let index = heap.length;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent] as Scheduled;
    if (!before(event, above)) break;

    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Scheduled[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;

  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const right = heap[child + 1];
    if (right !== undefined && before(right, heap[child] as Scheduled)) child += 1;
    const below = heap[child];
    if (below === undefined || !before(below, last)) break;

    heap[index] = below;
    index = child;
  }
  heap[index] = last;
}
