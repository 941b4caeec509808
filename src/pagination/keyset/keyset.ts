import { readPages } from '../by-page.ts';
import { rangeOf } from '../id-bounds.ts';
import { awaitedLater, withLifetime } from '../lifetime.ts';
import type { FetchPage, PageResponse, Pages, ResumePosition } from '../page.ts';
import { PageBuilder } from '../page-builder.ts';
import type { AfterLastPage, ReadOptions } from '../read-options.ts';
import { IntervalReader, type IntervalResult } from './interval-reader.ts';
import { BY_PAGE, stateOf } from './position.ts';

/*
 * How a collection with the ids 1 to 75 is read, 30 per page:
 *
 *   request                   response   what it tells
 *   (no bounds)               1 … 30     30 rows, as many as the longest page: perhaps cut
 *   id[lte]=29                1 … 29     shorter than a page, so not cut: delivered up to 29
 *   id[gt]=29                 30 … 59    perhaps cut: there is more than one page
 *   id[gt]=29&id[lte]=58      30 … 58    delivered up to 58; 24 ids are expected to fill four fifths of a page
 *   id[gt]=58&id[lte]=82      59 … 75    delivered up to 75, the last row, not up to the end of the interval
 *   id[gt]=75&id[lte]=99      (empty)    the next request has no upper bound
 *   id[gt]=75                 (empty)    the end: only an empty response to an open interval ends a read
 *   …&_page=2, 3, 4           (empty)    a read of unknown page size, or a long one, looks behind its end
 *
 * One response shows one state of the data. So neither the order of the service nor a change between two requests can
 * hide a row in it, unless the service cut the response, or hid rows after cutting it:
 *
 * - A response that is shorter than the longest page was not cut, whatever the order is. A longer one is requested
 *   again with a lower upper bound.
 * - If the service hides rows (those that the key may not see), a cut page is short as well. As long as every response
 *   was in the order of ids it still proves which rows exist up to its last id. So the read goes on from there.
 * - In any other order a short response is taken as complete, with spot checks of its second page. If one finds rows,
 *   the read starts again and checks every short response. Nothing proves that it found all: `complete` is `likely`.
 */

export interface KeysetOptions extends ReadOptions {
  /** How the service answers a page after the last one. */
  readonly afterLastPage: AfterLastPage;
  /** Where to resume: the position of a page of an earlier read with the same filters. */
  readonly resumeFrom?: ResumePosition | undefined;
  /** The longest page of an earlier read that was in the order of ids. It saves requests if there is little to read. */
  readonly pageSizeHint?: number | undefined;
  /**
   * Whether to always look behind an empty page, which a service that hides rows can return although records follow.
   * Not for a list of changes, which is usually empty, and for which a page size known from an earlier read is enough.
   */
  readonly checkEnd?: boolean | undefined;
}

/**
 * Reads by intervals of ids: every record that exists during the whole read is delivered, whatever is deleted or
 * written meanwhile. It needs integer ids: if one is not, it reads by page from the first page on, and the records
 * delivered before come again.
 *
 * An empty page is delivered only if it is the first one, or if it is the last one and `complete` has changed.
 */
export function byKeyset<T>(fetchPage: FetchPage<T>, options: KeysetOptions): Pages<T> {
  const builder = new PageBuilder(fetchPage, options.tokenOf);
  return withLifetime(options.signal, (signal) => readIntervals(builder, { ...options, signal }));
}

type Reading = KeysetOptions & { readonly signal: AbortSignal };

async function* readIntervals<T>(builder: PageBuilder<T>, options: Reading): Pages<T> {
  const { signal, prefetch, limit = Number.POSITIVE_INFINITY } = options;
  const reader = openReader(builder.fetchPage, options);
  if (reader === undefined) return yield* goByPage(builder, options, false);

  let wanted = limit;
  let ahead: Promise<IntervalResult<T>> | undefined;
  let delivered: 'certain' | 'likely' | undefined;
  while (wanted > 0) {
    const result = await (ahead ?? reader.next());
    signal.throwIfAborted();
    const { response } = result;
    if (result.kind === 'other_ids') {
      return yield* goByPage(
        builder,
        options,
        delivered !== undefined,
        result.isFirstPage ? response : undefined,
      );
    }

    const { last, ...stats } = result;
    const records = eachOnce(response);
    wanted = (stats.restarted ? limit : wanted) - records.length;
    ahead = !last && prefetch > 0 && wanted > 0 ? awaitedLater(reader.next()) : undefined;
    if (records.length > 0 || response.invalid.length > 0 || stats.complete !== delivered) {
      delivered = stats.complete;
      yield builder.page(response, records, { pagination: 'keyset', ...stats });
    }
    if (last) return;
  }
}

/** Undefined if it can only be read by page: it was before, or the caller's bounds are not integers. */
function openReader<T>(fetchPage: FetchPage<T>, options: Reading): IntervalReader<T> | undefined {
  const { pageSizeHint = 0, afterLastPage, facts, bounds, signal, checkEnd = false } = options;
  const resumeFrom = options.resumeFrom === undefined ? undefined : stateOf(options.resumeFrom);
  const range = rangeOf(bounds);
  if (range === undefined || (options.resumeFrom !== undefined && resumeFrom === undefined)) return undefined;
  const parts = { bounds, range, resumeFrom, pageSizeHint, afterLastPage, facts, signal, checkEnd };
  return new IntervalReader(fetchPage, parts);
}

/** A response to nothing but the caller's filters is the first page, and need not be requested again. */
async function* goByPage<T>(
  builder: PageBuilder<T>,
  options: Reading,
  restarted: boolean,
  first?: PageResponse<T>,
): Pages<T> {
  const stats = {
    pagination: 'page',
    position: BY_PAGE,
    restarted: restarted || options.resumeFrom !== undefined,
  } as const;
  yield* readPages(builder, { ...options, start: 1 }, stats, first);
}

/** The records of a response, without those that it contains twice. */
function eachOnce<T>(response: PageResponse<T>): readonly T[] {
  const seen = new Set(response.ids);
  if (seen.size === response.ids.length) return response.records;
  return response.records.filter((_, index) => seen.delete(response.ids[index] ?? ''));
}
