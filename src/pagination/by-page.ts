import { boundsGuard } from './id-bounds.ts';
import {
  type AfterLastPage,
  awaitedLater,
  type FetchPage,
  isAfterLastPage,
  type Page,
  type PageResponse,
  type Pages,
  type ReadOptions,
} from './page.ts';
import { RepeatGuard } from './repeat-guard.ts';

export interface ByPageOptions extends ReadOptions {
  /** The first page requested; 1 reads everything. */
  readonly start: number;
  readonly afterLastPage: AfterLastPage;
}

/**
 * Requests `_page=start, start+1, …` until an empty page, and nothing else ends the read: a short page is not the end.
 *
 * The documented way and the cheapest. A row that is deleted or moves up during the read can hide another one; use
 * `keyset` if that must not happen. A record that one of the two pages before contained is dropped. The empty last page
 * is delivered only if it is the first one, so that every read has a response to show. No resume token: the rows of
 * page n may be others by then.
 */
export async function* byPage<T>(
  fetchPage: FetchPage<T>,
  options: ByPageOptions,
  begun?: BegunRead<T>,
): Pages<T> {
  const ahead = new PagesAhead(fetchPage, options, begun?.firstPage);
  const repeats = new RepeatGuard(options.facts);
  const checkBounds = boundsGuard(options.bounds, options.facts);
  const stats = {
    pagination: 'page',
    complete: undefined,
    hint: undefined,
    resumeToken: begun?.resumeToken,
  } as const;
  let wanted = options.limit ?? Number.POSITIVE_INFINITY;
  let restarted = begun?.restarted ?? false;

  for (let isFirst = true; wanted > 0; isFirst = false) {
    const response = await ahead.take();
    options.signal.throwIfAborted();
    if (response === undefined || response.rows.length === 0) {
      if (isFirst && response !== undefined) yield { ...response, ...stats, restarted };
      return;
    }

    checkBounds(response);
    const page: Page<T> = { ...repeats.withoutRepeats(response), ...stats, restarted };
    wanted -= page.records.length;
    ahead.fill(page.rows.length, wanted);
    // A page of repeated rows has nothing to deliver.
    if (page.records.length === 0 && page.invalid.length === 0) continue;
    yield page;
    restarted = false;
  }
}

/** A read that keyset pagination has begun and continues by page. */
export interface BegunRead<T> {
  /** The response to the first page, if there is one already. */
  readonly firstPage: PageResponse<T> | undefined;
  /** Whether records of the other pagination were delivered before. */
  readonly restarted: boolean;
  readonly resumeToken: string | undefined;
}

/** The pages in flight, in order. */
class PagesAhead<T> {
  readonly #queue: Promise<PageResponse<T> | undefined>[] = [];
  readonly #fetchPage: FetchPage<T>;
  readonly #options: ByPageOptions;
  #next: number;
  /** The longest page seen: how many records one more page is expected to contain. */
  #pageSize = 1;
  /** A page ahead was the end or failed: the pages after it are not needed. */
  #ended = false;

  constructor(fetchPage: FetchPage<T>, options: ByPageOptions, firstPage: PageResponse<T> | undefined) {
    this.#fetchPage = fetchPage;
    this.#options = options;
    this.#next = options.start;
    if (firstPage === undefined) return;
    this.#next += 1;
    this.#queue.push(Promise.resolve(firstPage));
  }

  /** The next page; undefined after the last one. */
  take(): Promise<PageResponse<T> | undefined> {
    return this.#queue.shift() ?? this.#request();
  }

  /** Requests pages ahead, as many as allowed and as can be needed for the records still wanted. */
  fill(rows: number, wanted: number): void {
    this.#pageSize = Math.max(this.#pageSize, rows);
    while (
      !this.#ended &&
      this.#queue.length < this.#options.prefetch &&
      this.#queue.length * this.#pageSize < wanted
    ) {
      this.#queue.push(awaitedLater(this.#request()));
    }
  }

  async #request(): Promise<PageResponse<T> | undefined> {
    const { start, afterLastPage, signal } = this.#options;
    const page = this.#next++;
    try {
      const response = await this.#fetchPage({ page }, signal);
      if (response.rows.length === 0) this.#ended = true;
      return response;
    } catch (error) {
      this.#ended = true;
      if (page > start && isAfterLastPage(error, afterLastPage)) return undefined;
      throw error;
    }
  }
}
