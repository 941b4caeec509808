import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { type IdRange, integerId, outsideBounds } from '../id-bounds.ts';
import {
  type AfterLastPage,
  type FetchPage,
  isAfterLastPage,
  type PageResponse,
  type ReadOptions,
} from '../page.ts';
import {
  boundsOf,
  contains,
  type Interval,
  type Key,
  keyOf,
  largestBound,
  outerInterval,
} from './interval.ts';
import type { ReadState } from './position.ts';

/** Far more than any collection needs in a row without a record: the service ignores the bounds. */
const MAX_REQUESTS_WITHOUT_ROWS = 1_000;

export interface RequestOptions extends Pick<ReadOptions, 'bounds' | 'facts'> {
  /** The range that the caller's bounds leave. */
  readonly range: IdRange;
  readonly afterLastPage: AfterLastPage;
  readonly signal: AbortSignal;
}

/** Requests intervals of ids, within what the service can store, and checks that the rows lie inside. */
export class IntervalRequests<T> {
  readonly #fetchPage: FetchPage<T>;
  readonly #options: RequestOptions;
  /** The state of the read: its direction, and the largest bound that may be requested. */
  readonly #state: ReadState;
  #sinceDelivery = 0;

  constructor(fetchPage: FetchPage<T>, options: RequestOptions, state: ReadState) {
    this.#fetchPage = fetchPage;
    this.#options = options;
    this.#state = state;
  }

  /** As far as the caller's bounds go. */
  get outer(): Interval {
    return outerInterval(this.#options.range, this.#state.descending);
  }

  /** The largest bound that may be requested; undefined if there is no limit. */
  get largest(): bigint | undefined {
    return this.#state.largest;
  }

  async request(interval: Interval, page?: number): Promise<PageResponse<T>> {
    if (++this.#sinceDelivery > MAX_REQUESTS_WITHOUT_ROWS) throw this.#boundsIgnored();
    const { bounds: caller, signal } = this.#options;
    const { descending, largest } = this.#state;
    const id = boundsOf(interval, descending, { caller, largest });
    return await this.#fetchPage({ ...(page === undefined ? {} : { page }), id }, signal);
  }

  /**
   * The ids of a response to an interval: those of its records in the order sent, and then those of its invalid rows.
   * Undefined if one is not an integer. A row without an id says nothing about the others.
   */
  idsOf(response: PageResponse<T>, interval: Interval): readonly bigint[] | undefined {
    const texts = [...response.ids, ...response.invalid.flatMap((row) => row.id ?? [])];
    const ids = texts.map(integerId);
    if (ids.includes(undefined)) return undefined;
    const integers = ids as readonly bigint[];
    this.#check(integers, interval);
    return integers;
  }

  /** The ids on page n of an interval, in the order sent; undefined if the page has no rows. */
  async idsOnPage(interval: Interval, page: number): Promise<readonly bigint[] | undefined> {
    try {
      const response = await this.request(interval, page);
      return response.rows.length === 0 ? undefined : (this.idsOf(response, interval) ?? []);
    } catch (error) {
      if (isAfterLastPage(error, this.#options.afterLastPage)) return undefined;
      throw error;
    }
  }

  /** The keys on page n of an interval; undefined if the page has no rows. */
  async keysOnPage(interval: Interval, page: number): Promise<readonly Key[] | undefined> {
    const ids = await this.idsOnPage(interval, page);
    return ids?.map((id) => keyOf(id, this.#state.descending));
  }

  /** Throws if a row lies outside its interval; larger ids allow for larger bounds. */
  #check(ids: readonly bigint[], interval: Interval): void {
    const { outer } = this;
    for (const id of ids) {
      const key = keyOf(id, this.#state.descending);
      if (!contains(interval, key) || !contains(outer, key)) throw outsideBounds(this.#options.facts);
      const { largest } = this.#state;
      if (largest !== undefined && id > largest) this.#state.largest = largestBound(id);
    }
  }

  /** The end of an interval of this width; undefined if the caller's bounds or the type of the ids end before it. */
  endOf(after: Key, width: bigint): Key | undefined {
    const { descending, largest } = this.#state;
    const { through } = this.outer;
    const end = after + width;
    if (through !== undefined && end >= through) return undefined;
    if (descending || largest === undefined || end <= largest) return end;
    return after < largest ? largest : undefined;
  }

  /** Rows were delivered. */
  delivered(): void {
    this.#sinceDelivery = 0;
  }

  #boundsIgnored(): FilterIgnoredError {
    const { facts } = this.#options;
    return new FilterIgnoredError(
      `${facts.method} ${facts.path} returned no complete interval of ids in ${MAX_REQUESTS_WITHOUT_ROWS} requests: the service ignored the bounds on id. Use pagination: 'page'.`,
      facts,
    );
  }
}
