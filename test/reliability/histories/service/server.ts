import type { IdBounds, PageQuery } from 'accounting-data-sdk';
import { Timeline } from '../../../../src/testing/connector/timeline.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { type IdStyle, idSequence, MAX_INT4, MAX_INT8 } from './ids.ts';
import { comparing, type Order, type Sortable } from './orders.ts';

/** A record of the model of the service. Its id and its version name a state of it. */
export type SimRecord = {
  readonly id: string;
  /** Counts the writes to this record. */
  readonly version: number;
  /** When it was written, to the second; not when it became visible. */
  readonly updatedAt: string;
};

/** Names a version of a record. */
export const versionOf = ({ id, version }: SimRecord): string => `${id}@${version}`;

export interface SimOptions {
  readonly seed: number;
  readonly order: Order;
  readonly pageSize: number;
  readonly ids: IdStyle;
  /** Records that are there from the beginning. */
  readonly records: number;
  /** The order `none` is another one at each request. */
  readonly reshuffles?: boolean;
  /** The share of rows that are hidden after a page was cut. */
  readonly hidden?: number;
  /** The length of a run of rows, by id, that are hidden as well. */
  readonly hiddenRun?: number;
  /** A response ends when its rows have so many bytes, each between 200 and 400. */
  readonly maxBytes?: number;
  /** The probability that a list shows no rows at this request and, of three, at up to two after it. */
  readonly emptyMoments?: number;
  /** Not at the request of page 1: nothing tells that from an empty list. */
  readonly showsFirst?: boolean;
  /** The probability that a list comes from a node that lacks the last writes: see `beginRead`. */
  readonly late?: number;
  /** Rows come without `updatedAt`. */
  readonly bare?: boolean;
  /** The type of the id column: a bound beyond it is a 500. */
  readonly column?: 'int4' | 'int8';
}

/** One response of the model. */
export interface SimResponse {
  readonly records: readonly SimRecord[];
  readonly ids: readonly string[];
  /** The `Date` header. */
  readonly serverTime: Date;
}

/** Sends one list request. */
export type FetchPage = (query: PageQuery) => Promise<SimResponse>;

interface Row extends Sortable {
  readonly record: SimRecord;
  readonly hidden: boolean;
}

type NewRow = Pick<Row, 'key' | 'day' | 'version' | 'hidden'>;

/** The service responds with 500. */
export class InternalError extends Error {}

/** The client sends no `between` of its own. */
type Bounds = Omit<IdBounds, 'between'>;

interface Commit {
  readonly atMs: number;
  readonly apply: () => void;
}

/**
 * A model of the service in memory, without HTTP: every run with the same seed is the same run. The clock is virtual
 * and only `advance` moves it. A write can become visible later than its timestamp says, as in a long transaction.
 */
export class SimServer {
  readonly options: SimOptions;
  /** Everything that was ever visible. */
  readonly timeline = new Timeline<SimRecord>();
  /** The virtual clock of the service, in ms since the epoch. */
  nowMs: number;
  /** May change at any time. */
  pageSize: number;
  /** The largest bound that was requested. */
  largestBound = 0n;
  /** From now on every list shows its rows, of the first node. */
  isCalm = false;
  /** The records of the last response to a list request. */
  lastResponse: readonly SimRecord[] = [];
  /** Requests that got a response: lists and single records. */
  requests = 0;
  /** Runs before a response is built. What it throws replaces the response: a 429, a reset. */
  beforeResponse: (() => void) | undefined;
  /** Runs when the response is built and not yet sent. If it throws, the response is lost. */
  afterResponse: (() => void) | undefined;

  readonly #random: SeededRandom;
  readonly #nextId: () => bigint;
  readonly #rows = new Map<string, Row>();
  readonly #writing = new Set<string>();
  #pending: Commit[] = [];
  #sorted: Row[] | undefined;
  #salt = 0;
  #emptyFor = 0;
  /** The rows of the other node: as they were some requests ago. */
  #late: ReadonlyMap<string, Row> = new Map();
  #written = 0;

  constructor(options: SimOptions) {
    this.options = options;
    this.pageSize = options.pageSize;
    this.nowMs = Date.UTC(2026, 0, 5, 8);
    this.#random = new SeededRandom(options.seed);
    this.#nextId = idSequence(options.ids, this.#random);
    for (let count = 0; count < options.records; count++) {
      // Written over weeks, so that the orders by date have something to go by.
      this.#write(this.#newRow(), {
        stampMs: this.nowMs - this.#random.int(60, 5_000_000) * 1000,
        delayMs: 0,
      });
    }
    this.#hideRun(options.hiddenRun ?? 0);
    this.beginRead();
  }

  /** The visible records, in no particular order. */
  get records(): SimRecord[] {
    return [...this.#rows.values()].filter((row) => !row.hidden).map((row) => row.record);
  }

  /** The ids of all rows, hidden ones too, in no particular order. */
  get ids(): string[] {
    return [...this.#rows.keys()];
  }

  #hideRun(length: number): void {
    if (length === 0) return;
    const rows = [...this.#rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const from = this.#random.int(0, rows.length - 1);
    for (const row of rows.slice(from, from + length)) {
      if (!row.hidden) this.timeline.set(row.record.id, undefined);
      this.#rows.set(row.record.id, { ...row, hidden: true });
    }
  }

  /** Both nodes have the same rows. */
  beginRead(): void {
    this.#late = new Map(this.#rows);
  }

  /** Moves the clock; commits whose time has come become visible. */
  advance(ms: number): void {
    // No node is later than that.
    if (ms > LATEST_MS) this.beginRead();
    this.nowMs += ms;
    const due = this.#pending.filter((commit) => commit.atMs <= this.nowMs);
    this.#pending = this.#pending.filter((commit) => commit.atMs > this.nowMs);
    for (const commit of due.sort((a, b) => a.atMs - b.atMs)) commit.apply();
  }

  /** Writes a new record, stamped now and visible after `delayMs`. */
  insert(delayMs = 0): void {
    this.#write(this.#newRow(), { stampMs: this.nowMs, delayMs });
  }

  /** Writes to a record, stamped now and visible after `delayMs`. A record that is being written to stays as it is. */
  update(id: string, delayMs = 0): void {
    const row = this.#rows.get(id);
    if (row === undefined || this.#writing.has(id)) return;
    this.#write({ ...row, version: row.version + 1 }, { stampMs: this.nowMs, delayMs });
  }

  delete(id: string): void {
    if (this.#writing.has(id) || !this.#rows.delete(id)) return;
    this.#sorted = undefined;
    this.timeline.set(id, undefined);
  }

  /** Lists what was updated since a date. */
  fetchPage(updatedSince?: Date): FetchPage {
    return async (query) => this.#serve(() => this.#list(query, updatedSince));
  }

  /** GET of one record: undefined is a 404. */
  async get(id: string): Promise<SimRecord | undefined> {
    return this.#serve(() => {
      const row = this.#rows.get(id);
      return row?.hidden === false ? row.record : undefined;
    });
  }

  #serve<V>(respond: () => V): V {
    this.beforeResponse?.();
    this.requests++;
    const value = respond();
    this.afterResponse?.();
    return value;
  }

  #list({ page: number, id: bounds = {} }: PageQuery, updatedSince: Date | undefined): SimResponse {
    const { pageSize } = this;
    const from = ((number ?? 1) - 1) * pageSize;
    this.#checkColumn(bounds);
    const inBounds = boundsCheck(bounds);
    const since = updatedSince?.getTime() ?? Number.NEGATIVE_INFINITY;
    const rows = this.#listed().filter((row) => row.updatedAtMs >= since && inBounds(row.key));
    const page = this.#isEmptyMoment(number) ? [] : this.#cut(rows.slice(from, from + pageSize));
    const records = page.filter((row) => !row.hidden).map((row) => row.record);
    this.lastResponse = records;
    return {
      records,
      ids: records.map((record) => record.id),
      serverTime: new Date(this.nowMs - (this.nowMs % 1000)),
    };
  }

  #isEmptyMoment(page: number | undefined): boolean {
    const { emptyMoments = 0, showsFirst = false } = this.options;
    if (emptyMoments === 0 || this.isCalm || (showsFirst && page === 1)) return false;
    if (this.#emptyFor === 0 && this.#random.chance(emptyMoments)) this.#emptyFor = this.#random.int(1, 3);
    if (this.#emptyFor === 0) return false;
    this.#emptyFor -= 1;
    return true;
  }

  /** The first rows, as many as fit. */
  #cut(page: readonly Row[]): readonly Row[] {
    const { maxBytes } = this.options;
    if (maxBytes === undefined) return page;
    let left = maxBytes;
    const fits = page.findIndex(({ key }) => {
      left -= 200 + ((Number(key % 997n) * 7919) % 200);
      return left < 0;
    });
    return fits < 0 ? page : page.slice(0, Math.max(1, fits));
  }

  #listed(): readonly Row[] {
    const { order, reshuffles, late = 0 } = this.options;
    if (late > 0 && !this.isCalm && this.#random.chance(late))
      return [...this.#late.values()].sort(comparing(order, this.#salt));
    if (late > 0 && this.#random.chance(0.3)) this.#late = new Map(this.#rows);
    if (reshuffles === true) {
      this.#salt++;
      this.#sorted = undefined;
    }
    this.#sorted ??= [...this.#rows.values()].sort(comparing(order, this.#salt));
    return this.#sorted;
  }

  #checkColumn(bounds: Bounds): void {
    const { column } = this.options;
    for (const bound of Object.values(bounds)) {
      const id = BigInt(bound ?? 0);
      if (id > this.largestBound) this.largestBound = id;
      if (column !== undefined && id > (column === 'int4' ? MAX_INT4 : MAX_INT8)) {
        throw new InternalError(`500: ${bound} is out of range for type ${column}`);
      }
    }
  }

  #newRow(): NewRow {
    this.#written++;
    // A service that hides a run of rows hides some of the new ones as well.
    const { hiddenRun = 0, hidden = hiddenRun > 0 && this.#written > this.options.records ? 0.05 : 0 } =
      this.options;
    return {
      key: this.#nextId(),
      day: this.#written + this.#random.int(0, 8),
      version: 1,
      hidden: hidden > 0 && this.#random.chance(hidden),
    };
  }

  #write(
    { key, day, version, hidden }: NewRow,
    { stampMs, delayMs }: { stampMs: number; delayMs: number },
  ): void {
    const id = String(key);
    // The stamp has no fraction, like the timestamps of many services.
    const updatedAtMs = stampMs - (stampMs % 1000);
    const record: SimRecord = { id, version, updatedAt: stamp(updatedAtMs) };
    const apply = () => {
      this.#writing.delete(id);
      this.#show({ key, day, version, hidden, updatedAtMs, record });
    };
    if (delayMs > 0) {
      this.#writing.add(id);
      this.#pending.push({ atMs: this.nowMs + delayMs, apply });
    } else apply();
  }

  #show(row: Row): void {
    this.#rows.set(row.record.id, row);
    this.#sorted = undefined;
    if (!row.hidden) this.timeline.set(row.record.id, row.record);
  }
}

function stamp(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** The range filter as the service applies it: operators combine with AND. */
function boundsCheck({ gt, gte, lt, lte }: Bounds): (key: bigint) => boolean {
  const [above, least] = [BigInt(gt ?? -1), BigInt(gte ?? 0)];
  const [below, most] = [BigInt(lt ?? MAX_INT8 + 1n), BigInt(lte ?? MAX_INT8)];
  return (key) => key > above && key >= least && key < below && key <= most;
}

/** How late a node is at most, in ms. */
const LATEST_MS = 30_000;

/** How many of the writes are visible only later, by up to a minute. */
const LATE = 0.3;

/** Advances the clock, and with a probability of `rate` changes, adds or, with `deletes`, deletes a record. */
export function churn(server: SimServer, random: SeededRandom, rate: number, deletes = true): void {
  server.advance(random.int(0, 3_000));
  if (!random.chance(rate)) return;

  const delayMs = random.chance(LATE) ? random.int(1, 60) * 1000 : 0;
  const { ids } = server;
  const kind = ids.length === 0 ? 0 : random.next();
  if (kind < 0.25) server.insert(delayMs);
  else if (kind < 0.65 && deletes) server.delete(random.pick(ids));
  else server.update(random.pick(ids), delayMs);
}
