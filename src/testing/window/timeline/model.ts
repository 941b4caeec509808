import { type Entry, endOf, waitAfter } from './entry.ts';

/** A request at its place: overlapping requests of a lane are in different rows. */
export interface Bar {
  entry: Entry;
  readonly row: number;
}

/** The requests of one key, in the order in which they arrived. */
export interface Lane {
  readonly name: string;
  readonly bars: readonly Bar[];
  /** How many rows have been needed. */
  readonly rows: number;
}

/** More simultaneous requests share the last row. */
const MOST_ROWS = 6;

/** Requests further apart do not belong together. */
const PAUSE_MS = 5_000;

/** The end of a request is measured after its client has it, and may have sent the next one. */
const SLACK_MS = 3;

export const NO_KEY = 'no valid key';

/** What the timeline shows, without a picture. */
export class TimelineModel {
  readonly #lanes = new Map<string, { name: string; bars: Bar[]; rowEnds: number[] }>();
  readonly #bars = new Map<number, Bar>();
  readonly #attempts = new Map<string, Bar[]>();
  readonly #retried = new Map<string, readonly Bar[]>();
  readonly #running = new Set<number>();
  #groupStart = 0;
  #lastEnd = 0;
  #firstStart = Infinity;

  get lanes(): readonly Lane[] {
    return [...this.#lanes.values()].map(({ name, bars, rowEnds }) => ({ name, bars, rows: rowEnds.length }));
  }

  get size(): number {
    return this.#bars.size;
  }

  get isRunning(): boolean {
    return this.#running.size > 0;
  }

  /** The time of all requests. */
  get extent(): { readonly start: number; readonly end: number } {
    return { start: Math.min(this.#firstStart, this.#lastEnd), end: this.#lastEnd };
  }

  /** When the last requests began that belong together, and when they ended, waits included. */
  get lastGroup(): { readonly start: number; readonly end: number } {
    return { start: this.#groupStart, end: this.#lastEnd };
  }

  /** The attempts of creates that were sent again under their idempotency key, each in order. */
  get retries(): Iterable<readonly Bar[]> {
    return this.#retried.values();
  }

  find(number: number): Bar | undefined {
    return this.#bars.get(number);
  }

  /** Adds a request, or replaces what is known of it. */
  put(entry: Entry): void {
    const known = this.#bars.get(entry.number);
    if (known !== undefined) {
      // An older form may come later than a newer one.
      if (known.entry.durationMs !== null && entry.durationMs === null) return;
      known.entry = entry;
    } else {
      this.#add(entry);
    }
    if (entry.durationMs === null) this.#running.add(entry.number);
    else this.#running.delete(entry.number);
    this.#lastEnd = Math.max(this.#lastEnd, endOf(entry, entry.startedAt) + waitAfter(entry));
    const rowEnds = this.#lanes.get(entry.key ?? NO_KEY)?.rowEnds ?? [];
    const { row = 0 } = this.#bars.get(entry.number) ?? {};
    const before = rowEnds[row] ?? 0;
    rowEnds[row] =
      entry.durationMs === null ? Infinity : Math.max(before === Infinity ? 0 : before, endOf(entry, 0));
  }

  clear(): void {
    this.#lanes.clear();
    this.#bars.clear();
    this.#attempts.clear();
    this.#retried.clear();
    this.#running.clear();
    this.#groupStart = 0;
    this.#lastEnd = 0;
    this.#firstStart = Infinity;
  }

  #add(entry: Entry): void {
    const name = entry.key ?? NO_KEY;
    const lane = this.#lanes.get(name) ?? { name, bars: [], rowEnds: [] };
    this.#lanes.set(name, lane);
    const free = lane.rowEnds.findIndex((end) => end <= entry.startedAt + SLACK_MS);
    const row = free < 0 ? Math.min(lane.rowEnds.length, MOST_ROWS - 1) : free;
    const bar = { entry, row };
    lane.bars.push(bar);
    this.#bars.set(entry.number, bar);
    if (entry.idempotencyKey !== null) {
      const attempts = this.#attempts.get(entry.idempotencyKey) ?? [];
      attempts.push(bar);
      this.#attempts.set(entry.idempotencyKey, attempts);
      if (attempts.length > 1) this.#retried.set(entry.idempotencyKey, attempts);
    }
    const isApart = entry.startedAt - this.#lastEnd > PAUSE_MS && !this.isRunning;
    if (isApart || this.#groupStart === 0) this.#groupStart = entry.startedAt;
    this.#firstStart = Math.min(this.#firstStart, entry.startedAt);
  }
}
