import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { NotFoundError } from '../../errors/not-found-error.ts';
import { BELOW_ALL, type IdRange, outsideBounds } from '../id-bounds.ts';
import { type FetchPage, type IdBounds, type PageResponse, rowCount } from '../page.ts';
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
import { ascending, integerIds } from './response-keys.ts';

/** Far more than any collection needs in a row without a record: the service ignores the bounds. */
const MAX_FRUITLESS_REQUESTS = 1_000;

export interface RequestParts {
  /** The caller's own bounds, and the range that they leave. */
  readonly bounds: IdBounds | undefined;
  readonly range: IdRange;
  readonly afterLastPage: AfterLastPage;
  readonly facts: ReadOptions['facts'];
  readonly signal: AbortSignal;
}

/** Requests intervals of ids, in one direction, within what the service can store, and checks what comes back. */
export class IntervalRequests<T> {
  descending = false;
  /** The largest bound that may be requested; undefined if there is no limit. */
  largest = largestBound(BELOW_ALL);
  readonly #fetchPage: FetchPage<T>;
  readonly #parts: RequestParts;
  /** Requests since the last delivered rows. */
  #fruitless = 0;

  constructor(fetchPage: FetchPage<T>, parts: RequestParts) {
    this.#fetchPage = fetchPage;
    this.#parts = parts;
  }

  /** As far as the caller's bounds go. */
  get outer(): Interval {
    return outerInterval(this.#parts.range, this.descending);
  }

  async request(interval: Interval, page?: number): Promise<PageResponse<T>> {
    if (++this.#fruitless > MAX_FRUITLESS_REQUESTS) throw this.#filterIgnored();
    const { bounds: caller, signal } = this.#parts;
    const id = boundsOf(interval, this.descending, { caller, largest: this.largest });
    return await this.#fetchPage({ ...(page === undefined ? {} : { page }), id }, signal);
  }

  /** The keys on page n of an interval, ascending; undefined if the page has no rows. */
  async keysOnPage(interval: Interval, page: number): Promise<readonly Key[] | undefined> {
    const ids = await this.idsOnPage(interval, page);
    return ids && ascending(ids.map((id) => keyOf(id, this.descending)));
  }

  /** The ids on page n of an interval, in the order sent; undefined if the page has no rows. */
  async idsOnPage(interval: Interval, page: number): Promise<readonly bigint[] | undefined> {
    try {
      const response = await this.request(interval, page);
      const ids = integerIds(response) ?? [];
      this.check(ids, interval);
      return rowCount(response) === 0 ? undefined : ids;
    } catch (error) {
      if (this.#parts.afterLastPage === 'not_found' && error instanceof NotFoundError) return undefined;
      throw error;
    }
  }

  /** Throws if a row lies outside its interval; larger ids allow for larger bounds. */
  check(ids: readonly bigint[], interval: Interval): void {
    const { outer } = this;
    for (const id of ids) {
      const key = keyOf(id, this.descending);
      if (!contains(interval, key) || !contains(outer, key)) throw outsideBounds(this.#parts.facts);
      if (this.largest !== undefined && id > this.largest) this.largest = largestBound(id);
    }
  }

  /** Whether an interval may begin or end at this key. */
  mayRequest(key: Key): boolean {
    return this.descending || this.largest === undefined || key <= this.largest;
  }

  /** Rows were delivered. */
  delivered(): void {
    this.#fruitless = 0;
  }

  #filterIgnored(): FilterIgnoredError {
    const { facts } = this.#parts;
    const { method = 'GET', path = 'a list' } = facts ?? {};
    return new FilterIgnoredError(
      `${method} ${path} returned no complete interval of ids in ${MAX_FRUITLESS_REQUESTS} requests: the service ignored the bounds on id. Use pagination: 'page'.`,
      facts,
    );
  }
}
