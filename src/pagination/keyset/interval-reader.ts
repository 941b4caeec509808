import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { NotFoundError } from '../../errors/not-found-error.ts';
import { BELOW_ALL, type IdRange, integerId, outsideBounds } from '../id-bounds.ts';
import { type FetchPage, type IdBounds, type PageResponse, type ResumePosition, rowCount } from '../page.ts';
import type { AfterLastPage, ReadOptions } from '../read-options.ts';
import {
  boundsOf,
  contains,
  type Interval,
  type Key,
  keyOf,
  largestBound,
  outerInterval,
} from './interval.ts';
import { positionOf, type ReadState } from './position.ts';

/** Far more than any collection needs in a row without a record: the service ignores the bounds. */
const MAX_FRUITLESS_REQUESTS = 1_000;
/** Splits of one interval after which it is halved, because the rows seen do not tell enough. */
const HALVING_AFTER = 2;
/** A read of so many pages can afford to look behind its end. */
const LONG_READ_PAGES = 10;
/** How many pages behind an empty one are looked at for rows that a run of hidden ones precedes. */
const LAST_PAGE_BEHIND = 4;
/** How many pages are looked at once rows are known to follow. */
const MAX_HIDDEN_PAGES = 100;

export interface IntervalReaderOptions {
  readonly bounds: IdBounds | undefined;
  readonly range: IdRange;
  readonly resumeFrom: ReadState | undefined;
  readonly pageSizeHint: number;
  readonly afterLastPage: AfterLastPage;
  readonly facts: ReadOptions['facts'];
}

/** An interval that was read completely, or a response with an id that is not an integer. */
export type IntervalResult<T> =
  | {
      readonly kind: 'interval';
      readonly response: PageResponse<T>;
      readonly position: ResumePosition;
      readonly complete: 'certain' | 'likely';
      readonly restarted: boolean;
      readonly longestPage: number;
      readonly last: boolean;
    }
  | { readonly kind: 'other_ids'; readonly response: PageResponse<T>; readonly isFirstPage: boolean };

/** The integer ids of a response. */
interface Keys {
  /** All rows, even those without a readable id: they fill the page too. */
  readonly rows: number;
  /** Each key once, ascending. */
  readonly sorted: readonly Key[];
}

/** Reads one interval of ids after the other: see `keyset.ts` for how and why. */
export class IntervalReader<T> {
  readonly #fetchPage: FetchPage<T>;
  readonly #signal: AbortSignal;
  readonly #options: IntervalReaderOptions;

  // The interval to request next. Undefined: as far as the caller's bounds go.
  #after: Key | undefined;
  #through: Key | undefined;
  /** A single row, before which everything is requested first: the interval after that ends with it. */
  #pin: Key | undefined;
  #width: bigint | undefined;

  #descending = false;
  /** Whether a response had two rows, so that the direction is known. */
  #directionKnown = false;
  #inOrder = true;
  #shortPages = false;
  #unconfirmed = false;
  #restarted = false;
  /** Outside id order: whether every short response is checked, and how many there were. */
  #checkAll = false;
  #shortResponses = 0;

  /** The longest page of this read, and that of an earlier one as long as it is trusted. */
  #longest = 0;
  #hint: number;
  /** Whether a response was delivered because it was shorter than the hint. */
  #reliedOnHint = false;
  #highestId = BELOW_ALL;
  #largest: bigint | undefined;
  #highestKey: Key | undefined;
  /** A short response was delivered up to its last row: any row up to here now was left out of it. */
  #rest: { readonly through: Key | undefined } | undefined;
  #rows: number;
  #fruitless = 0;

  constructor(fetchPage: FetchPage<T>, options: IntervalReaderOptions, signal: AbortSignal) {
    const { resumeFrom: state, pageSizeHint } = options;
    this.#fetchPage = fetchPage;
    this.#signal = signal;
    this.#options = options;
    // Pages may have another size by now, which only a read in id order cannot be misled by.
    this.#hint =
      state === undefined ? pageSizeHint : state.inOrder ? Math.max(state.longest, pageSizeHint) : 0;
    this.#largest = state === undefined ? largestBound(BELOW_ALL) : state.largest;
    this.#rows = state?.rows ?? 0;
    if (state === undefined) return;

    this.#inOrder = state.inOrder;
    this.#shortPages = state.shortPages;
    this.#unconfirmed = state.unconfirmed;
    this.#checkAll = !state.inOrder && state.shortPages;
    this.#descending = state.descending;
    this.#after = state.after;
    this.#directionKnown = state.after !== undefined;
    this.#reliedOnHint = state.after !== undefined;
    this.#width = state.width;
    this.#through = state.width === undefined ? undefined : this.#next(state.width);
  }

  /** The next interval with rows, or the last one. Not called after the last one, nor during another call. */
  async next(): Promise<IntervalResult<T>> {
    for (let splits = 0; ; splits++) {
      const isFirstPage = this.#after === undefined && this.#through === undefined;
      const response = await this.#request(this.#interval);
      const keys = this.#keysOf(response);
      if (keys === undefined) return { kind: 'other_ids', response, isFirstPage };
      if (keys === 'restart') {
        splits = -1;
        continue;
      }
      if (!this.#isShort(keys)) {
        // Full, and yet no id to narrow the interval to.
        if (keys.sorted.length === 0) return { kind: 'other_ids', response, isFirstPage };
        if (this.#narrow(keys.sorted, splits)) continue;
      }
      const end = this.#inOrder ? await this.#advanceInOrder(keys) : await this.#advance(keys, splits);
      if (end === 'narrowed') continue;
      splits = -1;
      if (end === 'restart' || (keys.rows === 0 && end !== 'last')) continue;
      return this.#result(response, keys.rows, end === 'last');
    }
  }

  get #interval(): Interval {
    return { after: this.#after, through: this.#through };
  }

  get #outer(): Interval {
    return outerInterval(this.#options.range, this.#descending);
  }

  async #request(interval: Interval, page?: number): Promise<PageResponse<T>> {
    if (++this.#fruitless > MAX_FRUITLESS_REQUESTS) throw this.#filterIgnored();
    const id = boundsOf(interval, this.#descending, { caller: this.#options.bounds, largest: this.#largest });
    return await this.#fetchPage({ ...(page === undefined ? {} : { page }), id }, this.#signal);
  }

  /** Page n of an interval; undefined if it is empty. */
  async #pageOf(interval: Interval, page: number): Promise<readonly Key[] | undefined> {
    try {
      const response = await this.#request(interval, page);
      const ids = integerIds(response) ?? [];
      this.#checkBounds(ids, interval);
      const keys = ascending(ids.map((id) => keyOf(id, this.#descending)));
      return rowCount(response) === 0 ? undefined : keys;
    } catch (error) {
      if (this.#options.afterLastPage === 'not_found' && error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** Undefined: an id is not an integer. `restart`: the response shows that the read must start again. */
  #keysOf(response: PageResponse<T>): Keys | 'restart' | undefined {
    const ids = integerIds(response);
    if (ids === undefined) return undefined;

    this.#checkBounds(ids, this.#interval);
    for (const id of ids) if (id > this.#highestId) this.#highestId = id;
    const seen = largestBound(this.#highestId);
    if (this.#largest !== undefined && (seen === undefined || seen > this.#largest)) this.#largest = seen;

    // It is not known where an invalid row stood among the others, so it does not count for the order.
    const sent = ids.slice(0, response.ids.length);
    if (this.#learnsDirection(sent)) return this.#restart();
    const keys = ids.map((id) => keyOf(id, this.#descending));
    if (this.#inOrder && !isAscending(keys.slice(0, sent.length))) {
      this.#inOrder = false;
      this.#hint = 0;
      // In another order neither the hint nor a page that came short proves anything that was delivered so far.
      if (this.#reliedOnHint || this.#shortPages || this.#descending) return this.#restart();
    }
    const sorted = ascending(keys);
    const highest = sorted.at(-1);
    if (highest !== undefined && (this.#highestKey === undefined || highest > this.#highestKey))
      this.#highestKey = highest;
    this.#noticeShortPage(sorted);
    return { rows: rowCount(response), sorted };
  }

  #checkBounds(ids: readonly bigint[], interval: Interval): void {
    const outer = this.#outer;
    const isOutside = ids.some((id) => {
      const key = keyOf(id, this.#descending);
      return !contains(interval, key) || !contains(outer, key);
    });
    if (isOutside) throw outsideBounds(this.#options.facts);
  }

  /** Whether the rows go the other way than assumed, so that what was requested so far does not help. */
  #learnsDirection(sent: readonly bigint[]): boolean {
    if (this.#directionKnown || sent.length === 0) return false;
    if (sent.every((id) => id === sent[0])) {
      // One row per page: in ascending order, the pinned row would not have come before this lower one.
      if (this.#pin === undefined || this.#descending) return false;
      this.#descending = true;
    } else {
      this.#directionKnown = true;
      const goesDown = isAscending(sent.toReversed());
      if (goesDown === this.#descending) return false;
      this.#descending = goesDown;
    }
    // A response to nothing but the caller's bounds is the first page in either direction.
    return this.#after !== undefined || this.#through !== undefined;
  }

  /** A short response was taken as everything up to its last row, and now a row follows that it should have had. */
  #noticeShortPage(sorted: readonly Key[]): void {
    const [first] = sorted;
    if (first === undefined) return;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest === undefined || (rest.through !== undefined && first > rest.through)) return;
    this.#shortPages = true;
    this.#hint = 0;
  }

  #restart(): 'restart' {
    this.#restarted ||= this.#rows > 0;
    this.#after = this.#through = this.#pin = this.#width = this.#rest = this.#highestKey = undefined;
    this.#rows = 0;
    // Only in the order of ids does the direction save requests.
    if (!this.#inOrder) this.#descending = false;
    this.#reliedOnHint = false;
    return 'restart';
  }

  /** Whether a response has fewer rows than a page, so that the service did not cut it, or hides rows. */
  #isShort({ rows }: Keys): boolean {
    const before = this.#longest;
    this.#longest = Math.max(before, rows);
    const isSingleId =
      this.#through !== undefined && this.#after !== undefined && this.#through === this.#after + 1n;
    if (rows === 0 || rows < before || isSingleId) return true;
    if (rows >= this.#hint) return false;
    this.#reliedOnHint = true;
    return true;
  }

  /** Narrows the interval of a full response. False if it cannot be narrowed any more. */
  #narrow(sorted: readonly Key[], splits: number): boolean {
    const [first = 0n] = sorted;
    const after = this.#after ?? this.#outer.after;
    if (sorted.length === 1) {
      const isPinned = after !== undefined && after === first - 1n;
      const end = isPinned ? first : first - 1n;
      if (isPinned && this.#through === first) return false;
      this.#pin = isPinned ? undefined : first;
      this.#through = end;
      return true;
    }
    const middle = sorted[(sorted.length - 1) >> 1] ?? first;
    let end = this.#inOrder && splits <= HALVING_AFTER ? (sorted.at(-2) ?? first) : middle;
    if (splits >= HALVING_AFTER && !this.#inOrder && after !== undefined) {
      const half = (after + (this.#through ?? end)) / 2n;
      if (half < end && half > after) end = half;
    }
    this.#pin = undefined;
    this.#through = end;
    return true;
  }

  /** In id order a short response proves which rows exist up to its last one, and no further. */
  async #advanceInOrder({ rows, sorted }: Keys): Promise<'next' | 'last'> {
    const last = sorted.at(-1);
    const through = this.#through;
    if (last === undefined) {
      if (through === undefined) return rows > 0 || (await this.#isEnd()) ? 'last' : 'next';
      if (rows > 0) {
        // Rows without an id: they tell nothing about where they stand.
        this.#after = through;
        this.#through = undefined;
        return 'next';
      }
      if (this.#pin !== undefined) {
        // The pinned row was the first one of a wider response, and nothing is before it now.
        this.#after = through;
        this.#through = this.#pin;
        this.#pin = undefined;
        return 'next';
      }
      if (this.#width !== undefined) this.#width *= 4n;
      this.#through = undefined;
      return 'next';
    }
    this.#measure(sorted[0] ?? last, last, rows);
    this.#pin = undefined;
    this.#after = last;
    this.#rest = through === undefined || last < through ? { through } : undefined;
    // An open interval shows whether anything follows: after an open one that was short, and after the first interval
    // of a read of unknown page size, that is likely to be the end.
    const isFirst = this.#rows === 0 && this.#hint === 0;
    const isDense = rows * 2 >= this.#pageSize && through !== undefined && !isFirst;
    this.#through = isDense ? this.#next(this.#width ?? 1n) : undefined;
    return last === this.#outer.through ? 'last' : 'next';
  }

  /** In another order a short response is taken as complete, with spot checks. */
  async #advance({ rows, sorted }: Keys, splits: number): Promise<'next' | 'last' | 'narrowed' | 'restart'> {
    const through = this.#through;
    if (this.#isCheckDue()) {
      const more = await this.#pageOf(this.#interval, 2);
      if (more !== undefined) {
        this.#shortPages = true;
        if (!this.#checkAll) {
          this.#checkAll = true;
          return this.#restart();
        }
        if (this.#narrow(ascending([...sorted, ...more]), splits)) return 'narrowed';
      }
    }
    if (through === undefined) return 'last';

    this.#measure(sorted[0] ?? through, through, rows);
    this.#after = through;
    const pin = this.#pin === through + 1n ? this.#pin : undefined;
    this.#pin = undefined;
    const isPastAllSeen = this.#highestKey === undefined || through >= this.#highestKey;
    const isDense = rows * 2 >= this.#pageSize;
    this.#through = pin ?? (isPastAllSeen && !isDense ? undefined : this.#next(this.#width ?? 1n));
    return 'next';
  }

  #isCheckDue(): boolean {
    if (this.#through !== undefined && this.#after !== undefined && this.#through === this.#after + 1n)
      return false;
    const count = this.#shortResponses++;
    return this.#checkAll || this.#through === undefined || count < 3 || count % 8 === 0;
  }

  /** Estimates from an interval how wide the next one may be to fill four fifths of a page. */
  #measure(first: Key, end: Key, rows: number): void {
    // What lies before the first row of all tells nothing about how dense rows are.
    const span = end - (this.#after ?? first - 1n);
    const most = span * 4n;
    const fitting = rows === 0 ? most : (span * 4n * BigInt(this.#pageSize)) / (5n * BigInt(rows));
    const width = fitting < most ? fitting : most;
    const before = this.#width;
    const isSimilar = before !== undefined && rows > 0 && width < 2n * before && before < 2n * width;
    const next = isSimilar ? (before + width + 1n) / 2n : width;
    this.#width = next > 1n ? next : 1n;
  }

  get #pageSize(): number {
    return Math.max(this.#longest, this.#hint);
  }

  /** The end of the interval of this width; undefined if it would exceed what may be requested. */
  #next(width: bigint): Key | undefined {
    if (this.#after === undefined) return undefined;
    const { through } = this.#outer;
    const end = this.#after + width;
    if (through !== undefined && end >= through) return undefined;
    if (this.#descending || this.#largest === undefined || end <= this.#largest) return end;
    return this.#after < this.#largest ? this.#largest : undefined;
  }

  /**
   * Whether the read is over, after an empty response to an open interval. If the service hides rows, a whole page of
   * them looks the same: then the pages behind it are looked at, and ids further on.
   */
  async #isEnd(): Promise<boolean> {
    if (this.#after === undefined) return true;
    const open: Interval = { after: this.#after, through: undefined };
    for (const page of this.#pagesToCheck()) {
      if (await this.#readOn(open, page)) return false;
    }
    if (!this.#shortPages) return true;

    let width = this.#width ?? BigInt(Math.max(this.#pageSize, 1));
    for (let k = 1; k <= 5; k++) {
      width *= 4n;
      const after = this.#after + width;
      const { through } = this.#outer;
      if (through !== undefined && after >= through) return true;
      // Near the largest id of the type nothing further on may be requested.
      if (!this.#descending && this.#largest !== undefined && after > this.#largest) return true;
      const found = await this.#pageOf({ after, through: undefined }, 1);
      if (found === undefined) continue;
      for (let page = LAST_PAGE_BEHIND + 1; page <= MAX_HIDDEN_PAGES; page++) {
        if (await this.#readOn(open, page)) return false;
      }
      this.#unconfirmed = true;
      this.#after = after;
      return false;
    }
    return true;
  }

  #pagesToCheck(): readonly number[] {
    const isLong = this.#rows >= LONG_READ_PAGES * this.#pageSize;
    if (this.#shortPages || isLong || (this.#hint === 0 && this.#rows > this.#longest)) {
      return Array.from({ length: LAST_PAGE_BEHIND - 1 }, (_, index) => index + 2);
    }
    // A first read of less than a page gets one request more: the page that finds rows after the longest run.
    return this.#hint === 0 ? [LAST_PAGE_BEHIND] : [];
  }

  /** Looks at a page behind an empty one. If it has rows the read goes on just before them. */
  async #readOn(open: Interval, page: number): Promise<boolean> {
    const found = await this.#pageOf(open, page);
    if (found === undefined) return false;
    // A row that was deleted meanwhile moves every later one up: the first of this page may be on the page before now.
    const before = await this.#pageOf(open, page - 1);
    const [first] = ascending([...found, ...(before ?? [])]);
    if (first === undefined) return false;

    this.#shortPages = true;
    this.#hint = 0;
    this.#after = first - 1n;
    return true;
  }

  #result(response: PageResponse<T>, rows: number, last: boolean): IntervalResult<T> {
    if (rows > 0) this.#fruitless = 0;
    this.#rows += rows;
    const restarted = this.#restarted;
    this.#restarted = false;
    const longest = this.#pageSize;
    // A later read must not take a page that hides rows for the page size.
    const longestPage = this.#shortPages ? 0 : longest;
    // A row that is added behind the last one is not delivered yet, so the position is never behind the last row.
    const after = this.#after;
    const state = {
      after,
      descending: this.#descending,
      inOrder: this.#inOrder,
      shortPages: this.#shortPages,
    };
    const position = positionOf({
      ...state,
      unconfirmed: this.#unconfirmed,
      largest: this.#largest,
      longest,
      width: this.#width,
      rows: this.#rows,
    });
    const complete = this.#inOrder && !this.#unconfirmed ? 'certain' : 'likely';
    return { kind: 'interval', response, position, complete, restarted, longestPage, last };
  }

  #filterIgnored(): FilterIgnoredError {
    const { method = 'GET', path = 'a list' } = this.#options.facts ?? {};
    return new FilterIgnoredError(
      `${method} ${path} returned no complete interval of ids in ${MAX_FRUITLESS_REQUESTS} requests: the service ignored the bounds on id.`,
      this.#options.facts,
    );
  }
}

/** The integer ids of a response's records and then of its invalid rows; undefined if an id is not an integer. */
function integerIds(response: PageResponse<unknown>): readonly bigint[] | undefined {
  const ids: bigint[] = [];
  for (const text of response.ids) {
    const id = integerId(text);
    if (id === undefined) return undefined;
    ids.push(id);
  }
  for (const row of response.invalid) {
    // A row without an id tells nothing about the others.
    if (row.id === undefined) continue;
    const id = integerId(row.id);
    if (id === undefined) return undefined;
    ids.push(id);
  }
  return ids;
}

function isAscending(keys: readonly Key[]): boolean {
  return keys.every((key, index) => index === 0 || key >= (keys[index - 1] ?? key));
}

function ascending(keys: readonly Key[]): readonly Key[] {
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
}
