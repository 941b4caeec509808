import type { FetchPage, Page, PageResponse, PaginationKind, ResponseTime, ResumePosition } from './page.ts';
import { rowCount } from './page.ts';

/** What only the pagination knows about a page. */
export interface PageStats {
  readonly pagination: PaginationKind;
  readonly position?: ResumePosition | undefined;
  readonly complete?: Page<unknown>['complete'];
  readonly restarted?: boolean;
  /** Left out: the longest page delivered so far. */
  readonly longestPage?: number;
}

/** Builds the pages of one read: remembers its first response and its longest page. */
export class PageBuilder<T> {
  readonly fetchPage: FetchPage<T>;
  readonly #tokenOf: (position: ResumePosition) => string;
  #first: ResponseTime | undefined;
  #longest = 0;

  constructor(fetchPage: FetchPage<T>, tokenOf: (position: ResumePosition) => string = () => '') {
    this.#tokenOf = tokenOf;
    this.fetchPage = async (query, signal) => {
      const response = await fetchPage(query, signal);
      this.#first ??= timeOf(response);
      return response;
    };
  }

  page(response: PageResponse<T>, records: readonly T[], stats: PageStats): Page<T> {
    const { pagination, position, complete, restarted = false } = stats;
    this.#longest = Math.max(this.#longest, rowCount(response));
    const { rows, invalid, rateLimit, serverTime } = response;
    return {
      rows,
      records,
      invalid,
      rateLimit,
      serverTime,
      first: this.#first ?? timeOf(response),
      pagination,
      complete,
      restarted,
      longestPage: stats.longestPage ?? this.#longest,
      resumeToken: position === undefined ? undefined : this.#tokenOf(position),
    };
  }
}

function timeOf({ serverTime, requestedAt, durationMs }: PageResponse<unknown>): ResponseTime {
  return { serverTime, requestedAt: new Date(requestedAt), durationMs };
}
