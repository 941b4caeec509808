import { boundsGuard } from './id-bounds.ts';
import { awaitedLater, withLifetime } from './lifetime.ts';
import { type FetchPage, type PageQuery, type PageResponse, type Pages, rowCount } from './page.ts';
import { PageBuilder } from './page-builder.ts';
import type { ReadOptions } from './read-options.ts';
import { RepeatGuard } from './repeat-guard.ts';

/**
 * A cursor of the caller's own, for the day the service documents one.
 *
 * ```ts
 * const byId: CustomCursor<Account> = {
 *   first: {},
 *   next: (page) => (page.ids.length === 0 ? undefined : { id: { gt: page.ids.at(-1) } }),
 * };
 * ```
 * Under `validation: 'report'`, `ids` leaves out the rows of `page.invalid`: if a whole page can be invalid, look there
 * too, or the cursor above ends at it.
 */
export interface CustomCursor<T> {
  /** The first request. */
  readonly first: PageQuery;
  /** The request after a response; `undefined` ends the list. */
  next(page: PageResponse<T>): PageQuery | undefined;
}

/**
 * Follows the caller's own cursor, which decides what is requested and when the list ends. A page with the rows of
 * earlier ones is a FilterIgnoredError, so that a cursor that the service ignores does not loop for ever.
 * `prefetch` of 1 or more requests the next page while the consumer works; the cursor allows no more.
 */
export function byCursor<T>(
  fetchPage: FetchPage<T>,
  cursor: CustomCursor<T>,
  options: ReadOptions,
): Pages<T> {
  const builder = new PageBuilder(fetchPage, options.tokenOf);
  return withLifetime(options.signal, (signal) => {
    const request = (query: PageQuery) => builder.fetchPage(query, signal);
    // In an async function, so that an error of the cursor comes after the page that it was given.
    const requestAfter = async (response: PageResponse<T>) => {
      const query = cursor.next(response);
      return query === undefined ? undefined : await request(query);
    };
    return follow({ builder, first: () => request(cursor.first), requestAfter }, options, signal);
  });
}

interface Chain<T> {
  readonly builder: PageBuilder<T>;
  readonly first: () => Promise<PageResponse<T>>;
  readonly requestAfter: (response: PageResponse<T>) => Promise<PageResponse<T> | undefined>;
}

async function* follow<T>(chain: Chain<T>, options: ReadOptions, signal: AbortSignal): Pages<T> {
  const repeats = new RepeatGuard(options.facts);
  const checkBounds = boundsGuard(options.bounds, options.facts);
  let wanted = options.limit ?? Number.POSITIVE_INFINITY;
  let response = wanted > 0 ? await chain.first() : undefined;

  while (response !== undefined) {
    signal.throwIfAborted();
    checkBounds(response);
    const records = rowCount(response) === 0 ? [] : repeats.newRecords(response);
    wanted -= records.length;
    const ahead = wanted > 0 && options.prefetch > 0 ? awaitedLater(chain.requestAfter(response)) : undefined;
    yield chain.builder.page(response, records, { pagination: 'custom' });
    if (wanted <= 0) return;
    response = await (ahead ?? chain.requestAfter(response));
  }
}
