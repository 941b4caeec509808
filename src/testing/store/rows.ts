import { compareIds } from './compare-ids.ts';
import type { Row, RowSource } from './row.ts';
import { at, firstIndex } from './search.ts';

/** A write that readers do not see yet. */
interface PendingWrite {
  readonly id: string;
  /** Undefined: a deletion. */
  readonly row: Row | undefined;
  readonly visibleAt: number;
}

/** What readers see of a collection: generated rows nobody touched, and real ones. Two rising sequences, no id in both. */
export interface VisibleRows {
  readonly source: RowSource;
  /** Indexes of generated rows that were changed or deleted, rising: they are no longer read from the source. */
  readonly departed: readonly number[];
  /** Rows that were written, by rising id. */
  readonly written: readonly Row[];
  /** Grows with every visible change. */
  readonly version: number;
}

/**
 * The rows of one collection of one company. A million generated rows cost nothing until one is written, which then
 * moves from the source into `written`.
 */
export class CollectionRows implements VisibleRows {
  readonly source: RowSource;
  departed: number[] = [];
  written: Row[] = [];
  version = 0;
  #pending: PendingWrite[] = [];
  /** Of each record the last write that is pending. */
  readonly #lastPending = new Map<string, PendingWrite>();
  #nextDue = Infinity;
  #nextIndex: number;

  constructor(source: RowSource) {
    this.source = source;
    this.#nextIndex = source.count;
  }

  /** How many records readers see. */
  get count(): number {
    return this.source.count - this.departed.length + this.written.length;
  }

  /** Makes the writes visible whose time has come. Every reader calls this first. */
  settle(now: number): void {
    if (now < this.#nextDue) return;
    const due = this.#pending.filter((write) => write.visibleAt <= now);
    this.#pending = this.#pending.filter((write) => write.visibleAt > now);
    this.#nextDue = this.#pending.reduce((next, { visibleAt }) => Math.min(next, visibleAt), Infinity);
    for (const write of due) {
      if (this.#lastPending.get(write.id) === write) this.#lastPending.delete(write.id);
      this.#apply(write.id, write.row);
    }
  }

  /** What a reader sees under an id. */
  visible(id: string): Row | undefined {
    const place = this.#placeOf(id);
    const row = this.written[place];
    if (row?.id === id) return row;

    const index = this.#sourceIndex(id);
    return index === -1 || this.#isDeparted(index) ? undefined : this.source.rowAt(index);
  }

  /** What a writer sees under an id: the last write, visible or not. */
  latest(id: string): Row | undefined {
    const pending = this.#lastPending.get(id);
    return pending === undefined ? this.visible(id) : pending.row;
  }

  /** Puts a row under its id, or deletes it. `visibleAt` beyond `now` keeps it from readers until then. */
  write(id: string, row: Row | undefined, time: { now: number; visibleAt: number }): void {
    this.#nextIndex = Math.max(this.#nextIndex, this.source.indexOf(id) + 1);
    // A later write never overtakes an earlier one of the same record.
    const visibleAt = Math.max(time.visibleAt, this.#lastPending.get(id)?.visibleAt ?? -Infinity);
    if (visibleAt <= time.now) {
      this.#apply(id, row);
      return;
    }
    const write = { id, row, visibleAt };
    this.#pending.push(write);
    this.#lastPending.set(id, write);
    this.#nextDue = Math.min(this.#nextDue, visibleAt);
  }

  /** The next id that nobody has. An id is not given out twice, also when its record was deleted. */
  nextId(): string {
    return this.source.idAt(this.#nextIndex);
  }

  /** Removes every record, the pending ones too. */
  clear(): void {
    this.departed = Array.from({ length: this.source.count }, (_, index) => index);
    this.written = [];
    this.#pending = [];
    this.#lastPending.clear();
    this.#nextDue = Infinity;
    this.version += 1;
  }

  #apply(id: string, row: Row | undefined): void {
    this.version += 1;
    const index = this.#sourceIndex(id);
    if (index !== -1) this.#depart(index);

    const place = this.#placeOf(id);
    const there = this.written[place]?.id === id ? 1 : 0;
    if (row === undefined) this.written.splice(place, there);
    // The common case, a new record at the end, without moving an array of a hundred thousand.
    else if (place === this.written.length) this.written.push(row);
    else if (there === 1) this.written[place] = row;
    else this.written.splice(place, 0, row);
  }

  #sourceIndex(id: string): number {
    const index = this.source.indexOf(id);
    return index < this.source.count ? index : -1;
  }

  #placeOf(id: string): number {
    return firstIndex(0, this.written.length, (i) => compareIds(at(this.written, i).id, id) >= 0);
  }

  #departedPlace(index: number): number {
    return firstIndex(0, this.departed.length, (i) => at(this.departed, i) >= index);
  }

  #isDeparted(index: number): boolean {
    return this.departed[this.#departedPlace(index)] === index;
  }

  #depart(index: number): void {
    const place = this.#departedPlace(index);
    if (this.departed[place] !== index) this.departed.splice(place, 0, index);
  }
}
