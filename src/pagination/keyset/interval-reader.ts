import type { FetchPage, ListHint, PageResponse } from '../page.ts';
import { findAfterEnd, firstRow, PAGES_BEHIND } from './end-check.ts';
import { ascending, type Interval, isAscending, type Key, keyOf, narrow, nextWidth } from './interval.ts';
import { IntervalRequests, type RequestOptions } from './interval-requests.ts';
import { type ReadState, stateAtStart } from './position.ts';

export interface IntervalReaderOptions extends RequestOptions {
  readonly resumeFrom: ReadState | undefined;
  readonly hint: ListHint | undefined;
  /** Whether only changes are listed, which are usually few, so that few requests may be spent on them. */
  readonly onlyChanges: boolean;
}

/** An interval that was read completely, or a response with an id that is not an integer. */
export type IntervalResult<T> =
  | {
      readonly kind: 'interval';
      readonly response: PageResponse<T>;
      /** What the read knew after this interval. */
      readonly state: ReadState;
      readonly restarted: boolean;
      readonly hint: ListHint | undefined;
      readonly last: boolean;
    }
  | { readonly kind: 'other_ids'; readonly response: PageResponse<T>; readonly isFirstPage: boolean };

/** The keys of one response. */
interface Keys {
  /** All rows, even those without a readable id: they fill the page too. */
  readonly rows: number;
  /** Each key once, ascending. */
  readonly sorted: readonly Key[];
}

/** From this number of pages on, a read can afford to look behind its end. */
const LONG_READ_PAGES = 10;

/** Timestamps this far apart say in which order they are: transactions may end in another order than they began. */
const CLEARLY_APART_MS = 600_000;

/** Reads one interval of ids after the other: see `keyset.ts` for how and why. */
export class IntervalReader<T> {
  readonly #requests: IntervalRequests<T>;
  readonly #options: IntervalReaderOptions;
  readonly #state: ReadState;

  /** The end of the interval to request next, which begins at `#state.after`. Undefined: as far as the bounds go. */
  #through: Key | undefined;
  /** A single row, before which everything is requested first: the interval after that ends with it. */
  #pin: Key | undefined;
  /** The page size of an earlier read, until this read contradicts it; 0 otherwise. */
  #hintedSize: number;
  /** Whether that read was in an order that was proven to be no order by date. */
  readonly #trustsHint: boolean;
  /** Whether a response was taken as short because of that page size alone. */
  #reliedOnHint: boolean;
  #highestKey: Key | undefined;
  /** A short response was delivered up to its last row: any row up to here now was left out of it. */
  #rest: { readonly through: Key | undefined } | undefined;
  /** In another order: the short responses so far, and whether each is checked because a check has found rows. */
  #shortResponses = 0;
  #checksEach: boolean;
  #restarted = false;

  constructor(fetchPage: FetchPage<T>, options: IntervalReaderOptions) {
    const { resumeFrom, hint } = options;
    this.#options = options;
    this.#state = resumeFrom ?? stateAtStart(hint);
    this.#requests = new IntervalRequests(fetchPage, options, this.#state);
    const { after, inOrder, proven, shortPages, longest, width } = this.#state;
    this.#trustsHint = proven;
    // Pages may have another size by now, which only a read in id order cannot be misled by.
    this.#hintedSize = inOrder ? Math.max(longest, hint?.pageSize ?? 0) : 0;
    this.#state.longest = 0;
    this.#reliedOnHint = after !== undefined;
    this.#checksEach = !inOrder && shortPages;
    // As long as the page size is unknown, an open interval shows it best.
    this.#through = width === undefined || this.#knownSize === 0 ? undefined : this.#endAfter(width);
  }

  /**
   * The next interval with rows, the last one, or an empty one if the read starts again after rows were delivered: its
   * position replaces that of the rows before. Not called after the last one, nor during another call.
   */
  async next(): Promise<IntervalResult<T>> {
    for (let splits = 0; ; splits++) {
      const isFirstPage = this.#state.after === undefined && this.#through === undefined;
      const response = await this.#requests.request(this.#interval);
      const keys = this.#read(response);
      if (keys === undefined) return { kind: 'other_ids', response, isFirstPage };
      if (keys === 'restart') {
        if (this.#restarted) return this.#result(withoutRows(response), 0, false);
        splits = -1;
        continue;
      }
      if (!this.#isShort(keys.rows) && !this.#isSingleId) {
        // Full, and yet no id to narrow the interval to.
        if (keys.sorted.length === 0) return { kind: 'other_ids', response, isFirstPage };
        if (this.#narrow(keys.sorted, splits)) continue;
      }
      const end = this.#state.inOrder ? await this.#advanceInOrder(keys) : await this.#advance(keys, splits);
      if (end === 'narrowed') continue;
      splits = -1;
      if (this.#restarted) return this.#result(withoutRows(response), 0, false);
      if (end === 'restart' || (keys.rows === 0 && end !== 'last')) continue;
      return this.#result(response, keys.rows, end === 'last');
    }
  }

  get #interval(): Interval {
    return { after: this.#state.after, through: this.#through };
  }

  /** Whether any response shows the interval completely, because it has room for one id. */
  get #isSingleId(): boolean {
    const { after } = this.#state;
    return after !== undefined && this.#through === after + 1n;
  }

  /** The page size that shows that a response is short; 0 if there is none. */
  get #knownSize(): number {
    return this.#trustsHint ? this.#hintedSize : 0;
  }

  get #pageSize(): number {
    return Math.max(this.#state.longest, this.#knownSize);
  }

  /** Whether a response has fewer rows than a page: then the service did not cut it, or it hides rows. */
  #isShort(rows: number): boolean {
    const before = this.#state.longest;
    this.#state.longest = Math.max(before, rows);
    if (rows === 0 || rows < before) return true;
    if (rows >= this.#knownSize) return false;
    this.#reliedOnHint = true;
    return true;
  }

  /** Undefined: an id is not an integer. `restart`: the response shows that the read must start again. */
  #read(response: PageResponse<T>): Keys | 'restart' | undefined {
    const ids = this.#requests.idsOf(response, this.#interval);
    if (ids === undefined) return undefined;

    // It is not known where an invalid row stood among the others, so it does not count for the order.
    const sent = ids.slice(0, response.ids.length);
    if (this.#learnsDirection(sent)) return this.#restart();
    const keys = ids.map((id) => keyOf(id, this.#state.descending));
    if (this.#state.inOrder && !isAscending(keys.slice(0, sent.length))) {
      this.#state.inOrder = false;
      this.#hintedSize = 0;
      // In another order neither the hint nor a page that came short proves anything that was delivered so far.
      if (this.#reliedOnHint || this.#state.shortPages || this.#state.descending) return this.#restart();
    }
    this.#state.proven ||= !isInDateOrder(response.rows);
    const sorted = ascending(keys);
    const highest = sorted.at(-1);
    if (highest !== undefined && (this.#highestKey === undefined || highest > this.#highestKey))
      this.#highestKey = highest;
    this.#noticeShortPage(sorted);
    return { rows: response.rows.length, sorted };
  }

  /** Whether the rows go the other way than assumed, so that what was requested so far does not help. */
  #learnsDirection(sent: readonly bigint[]): boolean {
    const state = this.#state;
    if (state.directionKnown || sent.length === 0) return false;
    if (sent.every((id) => id === sent[0])) {
      // One row per page: in ascending order, the pinned row would not have come before this lower one.
      if (this.#pin === undefined || state.descending) return false;
      state.descending = true;
    } else {
      state.directionKnown = true;
      const goesDown = isAscending(sent.toReversed());
      if (goesDown === state.descending) return false;
      state.descending = goesDown;
    }
    // A response to nothing but the caller's bounds is the first page in either direction.
    return state.after !== undefined || this.#through !== undefined;
  }

  /** A short response was taken as everything up to its last row, and now a row follows that it should have had. */
  #noticeShortPage(sorted: readonly Key[]): void {
    const [first] = sorted;
    if (first === undefined) return;
    const rest = this.#rest;
    this.#rest = undefined;
    if (rest === undefined || (rest.through !== undefined && first > rest.through)) return;
    this.#findsHiddenRows();
  }

  #findsHiddenRows(): void {
    this.#state.shortPages = true;
    this.#hintedSize = 0;
  }

  #restart(): 'restart' {
    const state = this.#state;
    this.#restarted ||= state.rows > 0;
    state.after = state.width = this.#through = this.#pin = this.#rest = this.#highestKey = undefined;
    state.rows = 0;
    // Only in the order of ids does the direction save requests.
    if (!state.inOrder) state.descending = false;
    this.#reliedOnHint = false;
    return 'restart';
  }

  /** Narrows the interval of a full response. False if it cannot be narrowed any more. */
  #narrow(sorted: readonly Key[], splits: number): boolean {
    const interval = { after: this.#state.after ?? this.#requests.outer.after, through: this.#through };
    const narrowed = narrow(interval, { sorted, inOrder: this.#state.inOrder, splits });
    if (narrowed === undefined) return false;
    this.#through = narrowed.through;
    this.#pin = narrowed.pin;
    return true;
  }

  /** In id order a short response proves which rows exist up to its last one, and no further. */
  async #advanceInOrder({ rows, sorted }: Keys): Promise<'next' | 'last'> {
    const state = this.#state;
    const last = sorted.at(-1);
    const through = this.#through;
    if (last === undefined) {
      if (through === undefined) return rows > 0 || (await this.#isEnd()) ? 'last' : 'next';
      if (rows > 0) {
        // Rows without an id do not show where they stand.
        state.after = through;
        this.#through = undefined;
        return 'next';
      }
      if (this.#pin !== undefined) {
        // The pinned row was the first one of a wider response, and nothing is before it now.
        state.after = through;
        this.#through = this.#pin;
        this.#pin = undefined;
        return 'next';
      }
      if (state.width !== undefined) state.width *= 4n;
      this.#through = undefined;
      return 'next';
    }
    this.#measure(sorted[0] ?? last, last, rows);
    this.#pin = undefined;
    state.after = last;
    this.#rest = through === undefined || last < through ? { through } : undefined;
    // An open interval shows whether anything follows: after an open one that was short, and after the first interval
    // of a read of unknown page size, that is likely to be the end.
    const isFirst = state.rows === 0 && this.#knownSize === 0;
    const isDense = rows * 2 >= this.#pageSize && through !== undefined && !isFirst;
    this.#through = isDense ? this.#endAfter(state.width ?? 1n) : undefined;
    return last === this.#requests.outer.through ? 'last' : 'next';
  }

  /** In another order a short response is taken as complete, with spot checks of its second page. */
  async #advance({ rows, sorted }: Keys, splits: number): Promise<'next' | 'last' | 'narrowed' | 'restart'> {
    const through = this.#through;
    if (!this.#isSingleId && this.#isCheckDue(through === undefined)) {
      const more = await this.#requests.keysOnPage(this.#interval, 2);
      if (more !== undefined) {
        this.#state.shortPages = true;
        if (!this.#checksEach) {
          this.#checksEach = true;
          return this.#restart();
        }
        if (this.#narrow(ascending([...sorted, ...more]), splits)) return 'narrowed';
      }
    }
    if (through === undefined) return 'last';

    this.#measure(sorted[0] ?? through, through, rows);
    this.#state.after = through;
    const pin = this.#pin === through + 1n ? this.#pin : undefined;
    this.#pin = undefined;
    const isPastAllSeen = this.#highestKey === undefined || through >= this.#highestKey;
    const isDense = rows * 2 >= this.#pageSize;
    this.#through = pin ?? (isPastAllSeen && !isDense ? undefined : this.#endAfter(this.#state.width ?? 1n));
    return 'next';
  }

  /** The first three short responses are checked, every eighth after that, and the last one. */
  #isCheckDue(isLast: boolean): boolean {
    const count = this.#shortResponses++;
    return this.#checksEach || isLast || count < 3 || count % 8 === 0;
  }

  #measure(first: Key, end: Key, rows: number): void {
    // The gap before the very first row does not show how dense the rows are.
    const span = end - (this.#state.after ?? first - 1n);
    this.#state.width = nextWidth({ span, rows, pageSize: this.#pageSize }, this.#state.width);
  }

  #endAfter(width: bigint): Key | undefined {
    const { after } = this.#state;
    return after === undefined ? undefined : this.#requests.endOf(after, width);
  }

  /** Whether the read is over, after an empty response to an open interval. */
  async #isEnd(): Promise<boolean> {
    const state = this.#state;
    const { hint } = this.#options;
    const looksBehind = this.#alwaysLooksBehind;
    if (state.after === undefined && !looksBehind) return true;
    const isDirectionKnown = state.directionKnown || (!looksBehind && hint?.order !== undefined);
    if (state.after === undefined || !isDirectionKnown) return this.#isOnlyPage();

    const isSizeKnown = !looksBehind && hint !== undefined && hint.pageSize > 0;
    const isLong = state.rows >= LONG_READ_PAGES * Math.max(state.longest, hint?.pageSize ?? 0);
    if (isSizeKnown && !state.shortPages && !isLong) return true;

    const pageSize = this.#pageSize;
    const width = state.shortPages ? (state.width ?? BigInt(Math.max(pageSize, 1))) : undefined;
    const found = await findAfterEnd(this.#requests, { after: state.after, pageSize, width });
    if (found === undefined) return true;

    this.#findsHiddenRows();
    state.after = found;
    state.unconfirmed = true;
    return false;
  }

  /** Whether the end is looked behind even if an earlier read has shown the page size: see `ListOptions.hint`. */
  get #alwaysLooksBehind(): boolean {
    const { onlyChanges, hint } = this.#options;
    return !onlyChanges || hint?.pageSize === 0;
  }

  /**
   * Whether the read is over after a first page of at most one row, which does not show the direction: a service that
   * hides rows may have hidden the others, so this looks at the pages behind it.
   */
  async #isOnlyPage(): Promise<boolean> {
    const state = this.#state;
    const { outer } = this.#requests;
    const delivered = state.after === undefined ? [] : [keyOf(state.after, state.descending)];
    const found: bigint[] = [];
    for (const page of PAGES_BEHIND) {
      const ids = (await this.#requests.idsOnPage(outer, page)) ?? [];
      // From the last page to the first: each one stands before those that were requested earlier.
      found.unshift(...ids.filter((id) => !delivered.includes(id) && !found.includes(id)));
      if (delivered.length + found.length > 1) break;
    }
    const [only] = found;
    if (only === undefined) return true;

    state.shortPages = state.unconfirmed = true;
    if (delivered.length + found.length === 1) {
      state.after = keyOf(only, state.descending) - 1n;
      this.#through = keyOf(only, state.descending);
      return false;
    }
    const sent = [...delivered, ...found];
    if (!isAscending(sent) && !isAscending(sent.toReversed())) {
      state.inOrder = false;
      this.#restart();
      return false;
    }
    this.#learnsDirection(sent);
    const first = await firstRow(this.#requests, this.#requests.outer);
    if (first === undefined) return true;
    const keys = delivered.map((id) => keyOf(id, state.descending));
    state.after = ascending([...keys, first - 1n]).at(-1);
    return false;
  }

  #result(response: PageResponse<T>, rows: number, last: boolean): IntervalResult<T> {
    if (rows > 0) this.#requests.delivered();
    this.#state.rows += rows;
    const restarted = this.#restarted;
    this.#restarted = false;
    const state = { ...this.#state, longest: this.#pageSize };
    return { kind: 'interval', response, state, restarted, hint: this.#hint, last };
  }

  /** What a later read may know. */
  get #hint(): ListHint | undefined {
    const { inOrder, shortPages, longest, directionKnown, descending, proven } = this.#state;
    const { hint, onlyChanges } = this.#options;
    const direction = directionKnown ? (descending ? 'desc' : 'asc') : hint?.order;
    const order = inOrder ? direction : undefined;
    // Only a read of everything can show that a service does not hide rows any more.
    const hidesRows = shortPages || (onlyChanges && hint?.pageSize === 0);
    if (hidesRows) return { pageSize: 0, order, proven: proven && inOrder };
    if (!inOrder) return undefined;
    const pageSize = Math.max(longest, this.#hintedSize);
    return pageSize === 0 ? undefined : { pageSize, order, proven };
  }
}

/**
 * Whether rows in the order of ids may be in the order of `updatedAt` as well, ascending or descending: then the order
 * may be by date, and become another one as soon as rows are edited. Rows without timestamps may be in any order.
 */
function isInDateOrder(rows: readonly unknown[]): boolean {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [rises, falls] = [false, false];
  for (const row of rows as readonly ({ updatedAt?: unknown } | null | undefined)[]) {
    const updatedAt = row?.updatedAt;
    const at = typeof updatedAt === 'string' ? Date.parse(updatedAt) : Number.NaN;
    if (Number.isNaN(at)) continue;
    if (at > lowest + CLEARLY_APART_MS) rises = true;
    if (at < highest - CLEARLY_APART_MS) falls = true;
    if (rises && falls) return false;
    lowest = Math.min(lowest, at);
    highest = Math.max(highest, at);
  }
  return true;
}

function withoutRows<T>(response: PageResponse<T>): PageResponse<T> {
  return { ...response, rows: [], records: [], ids: [], invalid: [] };
}
