import { NotFoundError } from '../errors/not-found-error.ts';
import { boundsGuard } from './id-bounds.ts';
import { awaitedLater, withLifetime } from './lifetime.ts';
import { type FetchPage, type PageResponse, type Pages, rowCount } from './page.ts';
import { PageBuilder, type PageStats } from './page-builder.ts';
import type { AfterLastPage, ReadOptions } from './read-options.ts';
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
export function byPage<T>(fetchPage: FetchPage<T>, options: ByPageOptions): Pages<T> {
  const builder = new PageBuilder(fetchPage, options.tokenOf);
  return withLifetime(options.signal, (signal) => readPages(builder, { ...options, signal }));
}

/** Reads for `byPage`, and for other pagination that goes on by page and may have received the first page already. */
export async function* readPages<T>(
  builder: PageBuilder<T>,
  options: ByPageOptions & { readonly signal: AbortSignal },
  stats: PageStats = { pagination: 'page' },
  firstPage?: PageResponse<T>,
): Pages<T> {
  const ahead = new PagesAhead(builder.fetchPage, options, firstPage);
  const repeats = new RepeatGuard(options.facts);
  const checkBounds = boundsGuard(options.bounds, options.facts);
  let wanted = options.limit ?? Number.POSITIVE_INFINITY;
  let { restarted = false } = stats;

  for (let first = true; wanted > 0; first = false) {
    const response = await ahead.take();
    options.signal.throwIfAborted();
    const rows = response === undefined ? 0 : rowCount(response);
    if (response === undefined || rows === 0) {
      if (first && response !== undefined) yield builder.page(response, [], { ...stats, restarted });
      return;
    }

    checkBounds(response);
    const records = repeats.newRecords(response);
    wanted -= records.length;
    ahead.fill(rows, wanted);
    // A page of repeated rows has nothing to deliver.
    if (records.length === 0 && response.invalid.length === 0) continue;
    yield builder.page(response, records, { ...stats, restarted });
    restarted = false;
  }
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
      if (rowCount(response) === 0) this.#ended = true;
      return response;
    } catch (error) {
      this.#ended = true;
      if (afterLastPage === 'not_found' && page > start && error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}
