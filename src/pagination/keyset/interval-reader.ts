import { type FetchPage, type PageResponse, type ResumePosition, rowCount } from '../page.ts';
import { findAfterEnd, firstFrom, PAGES_BEHIND, pagesToCheck } from './end-check.ts';
import { type Interval, type Key, keyOf } from './interval.ts';
import { narrow, nextWidth } from './interval-plan.ts';
import { IntervalRequests, type RequestParts } from './interval-requests.ts';
import { PageSize, SpotChecks } from './page-size.ts';
import { positionOf, type ReadState } from './position.ts';
import { ascending, integerIds, isAscending, type Keys } from './response-keys.ts';

export interface IntervalReaderOptions extends RequestParts {
  readonly resumeFrom: ReadState | undefined;
  readonly pageSizeHint: number;
  readonly checkEnd: boolean;
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

/** Reads one interval of ids after the other: see `keyset.ts` for how and why. */
export class IntervalReader<T> {
  readonly #requests: IntervalRequests<T>;
  /** Whether the end is always looked behind. */
  readonly #checkEnd: boolean;

  // The interval to request next. Undefined: as far as the caller's bounds go.
  #after: Key | undefined;
  #through: Key | undefined;
  /** A single row, before which everything is requested first: the interval after that ends with it. */
  #pin: Key | undefined;
  #width: bigint | undefined;

  /** Whether a response had two rows, so that the direction is known. */
  #directionKnown = false;
  #inOrder = true;
  #shortPages = false;
  #unconfirmed = false;
  #restarted = false;
  /** Whether the page size is that of an earlier read, which found no hidden rows among the same ones. */
  readonly #trustsHint: boolean;
  readonly #checks: SpotChecks;
  readonly #pageSize: PageSize;
  #highestKey: Key | undefined;
  /** A short response was delivered up to its last row: any row up to here now was left out of it. */
  #rest: { readonly through: Key | undefined } | undefined;
  #rows: number;

  constructor(fetchPage: FetchPage<T>, options: IntervalReaderOptions) {
    const { resumeFrom: state, pageSizeHint } = options;
    this.#requests = new IntervalRequests(fetchPage, options);
    this.#checkEnd = options.checkEnd;
    this.#trustsHint = pageSizeHint > 0 && !options.checkEnd;
    // Pages may have another size by now, which only a read in id order cannot be misled by.
    const known =
      state === undefined ? pageSizeHint : state.inOrder ? Math.max(state.longest, pageSizeHint) : 0;
    this.#pageSize = new PageSize(known);
    this.#checks = new SpotChecks(state !== undefined && !state.inOrder && state.shortPages);
    this.#rows = state?.rows ?? 0;
    if (state === undefined) return;

    this.#inOrder = state.inOrder;
    this.#shortPages = state.shortPages;
    this.#unconfirmed = state.unconfirmed;
    this.#requests.descending = state.descending;
    this.#requests.largest = state.largest;
    this.#after = state.after;
    // A single row has no direction: the token calls it ascending until a second one was delivered.
    this.#directionKnown = state.after !== undefined && (state.descending || state.rows > 1);
    this.#pageSize.reliedOnHint = state.after !== undefined;
    this.#width = state.width;
    this.#through = state.width === undefined ? undefined : this.#next(state.width);
  }

  /** The next interval with rows, or the last one. Not called after the last one, nor during another call. */
  async next(): Promise<IntervalResult<T>> {
    for (let splits = 0; ; splits++) {
      const isFirstPage = this.#after === undefined && this.#through === undefined;
      const response = await this.#requests.request(this.#interval);
      const keys = this.#keysOf(response);
      if (keys === undefined) return { kind: 'other_ids', response, isFirstPage };
      if (keys === 'restart') {
        splits = -1;
        continue;
      }
      if (!this.#pageSize.isShort(keys.rows) && !this.#isSingleId) {
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

  /** Whether any response shows the interval completely, because it has room for one id. */
  get #isSingleId(): boolean {
    return this.#after !== undefined && this.#through === this.#after + 1n;
  }

  /** Undefined: an id is not an integer. `restart`: the response shows that the read must start again. */
  #keysOf(response: PageResponse<T>): Keys | 'restart' | undefined {
    const ids = integerIds(response);
    if (ids === undefined) return undefined;

    this.#requests.check(ids, this.#interval);
    // It is not known where an invalid row stood among the others, so it does not count for the order.
    const sent = ids.slice(0, response.ids.length);
    if (this.#learnsDirection(sent)) return this.#restart();
    const keys = ids.map((id) => keyOf(id, this.#requests.descending));
    if (this.#inOrder && !isAscending(keys.slice(0, sent.length))) {
      this.#inOrder = false;
      this.#pageSize.hint = 0;
      // In another order neither the hint nor a page that came short proves anything that was delivered so far.
      if (this.#pageSize.reliedOnHint || this.#shortPages || this.#requests.descending)
        return this.#restart();
    }
    const sorted = ascending(keys);
    const highest = sorted.at(-1);
    if (highest !== undefined && (this.#highestKey === undefined || highest > this.#highestKey))
      this.#highestKey = highest;
    this.#noticeShortPage(sorted);
    return { rows: rowCount(response), sorted };
  }

  /** Whether the rows go the other way than assumed, so that what was requested so far does not help. */
  #learnsDirection(sent: readonly bigint[]): boolean {
    if (this.#directionKnown || sent.length === 0) return false;
    if (sent.every((id) => id === sent[0])) {
      // One row per page: in ascending order, the pinned row would not have come before this lower one.
      if (this.#pin === undefined || this.#requests.descending) return false;
      this.#requests.descending = true;
    } else {
      this.#directionKnown = true;
      const goesDown = isAscending(sent.toReversed());
      if (goesDown === this.#requests.descending) return false;
      this.#requests.descending = goesDown;
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
    this.#pageSize.hint = 0;
  }

  #restart(): 'restart' {
    this.#restarted ||= this.#rows > 0;
    this.#after = this.#through = this.#pin = this.#width = this.#rest = this.#highestKey = undefined;
    this.#rows = 0;
    // Only in the order of ids does the direction save requests.
    if (!this.#inOrder) this.#requests.descending = false;
    this.#pageSize.reliedOnHint = false;
    return 'restart';
  }

  /** Narrows the interval of a full response. False if it cannot be narrowed any more. */
  #narrow(sorted: readonly Key[], splits: number): boolean {
    const interval = { after: this.#after ?? this.#requests.outer.after, through: this.#through };
    const narrowed = narrow(interval, { sorted, inOrder: this.#inOrder, splits });
    if (narrowed === undefined) return false;
    this.#through = narrowed.through;
    this.#pin = narrowed.pin;
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
    const isFirst = this.#rows === 0 && this.#pageSize.hint === 0;
    const isDense = rows * 2 >= this.#pageSize.expected && through !== undefined && !isFirst;
    this.#through = isDense ? this.#next(this.#width ?? 1n) : undefined;
    return last === this.#requests.outer.through ? 'last' : 'next';
  }

  /** In another order a short response is taken as complete, with spot checks. */
  async #advance({ rows, sorted }: Keys, splits: number): Promise<'next' | 'last' | 'narrowed' | 'restart'> {
    const through = this.#through;
    if (!this.#isSingleId && this.#checks.isDue(through === undefined)) {
      const more = await this.#requests.keysOnPage(this.#interval, 2);
      if (more !== undefined) {
        this.#shortPages = true;
        if (!this.#checks.all) {
          this.#checks.all = true;
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
    const isDense = rows * 2 >= this.#pageSize.expected;
    this.#through = pin ?? (isPastAllSeen && !isDense ? undefined : this.#next(this.#width ?? 1n));
    return 'next';
  }

  #measure(first: Key, end: Key, rows: number): void {
    // What lies before the first row of all tells nothing about how dense rows are.
    const span = end - (this.#after ?? first - 1n);
    this.#width = nextWidth({ span, rows, pageSize: this.#pageSize.expected }, this.#width);
  }

  /** The end of the interval of this width; undefined if it would exceed what may be requested. */
  #next(width: bigint): Key | undefined {
    if (this.#after === undefined) return undefined;
    const { through } = this.#requests.outer;
    const end = this.#after + width;
    if (through !== undefined && end >= through) return undefined;
    if (this.#requests.mayRequest(end)) return end;
    const { largest } = this.#requests;
    return largest !== undefined && this.#after < largest ? largest : undefined;
  }

  /** Whether the read is over, after an empty response to an open interval. */
  async #isEnd(): Promise<boolean> {
    if (this.#after === undefined && !this.#checkEnd) return true;
    // A token has a page size too, but the read that was interrupted has not looked behind its end.
    const hint = this.#trustsHint ? this.#pageSize.hint : 0;
    if (this.#after === undefined || (!this.#directionKnown && hint === 0)) return this.#isOnlyPage();
    const width = this.#shortPages
      ? (this.#width ?? BigInt(Math.max(this.#pageSize.expected, 1)))
      : undefined;
    const { longest } = this.#pageSize;
    const pages = pagesToCheck({ shortPages: this.#shortPages, rows: this.#rows, longest, hint });
    const found = await findAfterEnd(this.#requests, { after: this.#after, pages, pageSize: longest, width });
    if (found === undefined) return true;

    this.#shortPages = true;
    this.#pageSize.hint = 0;
    this.#after = found.after;
    if (!found.isProven) this.#unconfirmed = true;
    return false;
  }

  /**
   * Whether the read is over after a first page of at most one row, which does not show the direction: a service that
   * hides rows may have hidden the others, so this looks at the pages behind it.
   */
  async #isOnlyPage(): Promise<boolean> {
    const { outer } = this.#requests;
    const delivered = this.#after === undefined ? [] : [this.#after];
    const found: bigint[] = [];
    for (const page of PAGES_BEHIND) {
      const ids = (await this.#requests.idsOnPage(outer, page)) ?? [];
      found.push(...ids.filter((id) => !delivered.includes(id)));
      if (delivered.length + found.length > 1) break;
    }
    const [only] = found;
    if (only === undefined) return true;

    this.#shortPages = true;
    if (delivered.length + found.length === 1) {
      this.#after = only - 1n;
      this.#through = only;
      return false;
    }
    this.#learnsDirection([...delivered, ...found]);
    const first = await firstFrom(this.#requests, this.#requests.outer, 2);
    if (first === undefined) return true;
    const keys = delivered.map((id) => keyOf(id, this.#requests.descending));
    this.#after = ascending([...keys, first - 1n]).at(-1);
    return false;
  }

  #result(response: PageResponse<T>, rows: number, last: boolean): IntervalResult<T> {
    if (rows > 0) this.#requests.delivered();
    this.#rows += rows;
    const restarted = this.#restarted;
    this.#restarted = false;
    const longest = this.#pageSize.expected;
    // A page that hides rows must not become the page size of a later read.
    const longestPage = this.#shortPages ? 0 : longest;
    const { descending, largest } = this.#requests;
    const position = positionOf({
      after: this.#after,
      descending,
      inOrder: this.#inOrder,
      shortPages: this.#shortPages,
      unconfirmed: this.#unconfirmed,
      largest,
      longest,
      width: this.#width,
      rows: this.#rows,
    });
    const complete = this.#inOrder && !this.#unconfirmed ? 'certain' : 'likely';
    return { kind: 'interval', response, position, complete, restarted, longestPage, last };
  }
}
