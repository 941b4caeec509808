import { byPage } from '../by-page.ts';
import { rangeOf } from '../id-bounds.ts';
import {
  type AfterLastPage,
  awaitedLater,
  type FetchPage,
  keepRecords,
  type ListHint,
  type Page,
  type PageResponse,
  type Pages,
  type ReadOptions,
  type ResumePosition,
} from '../page.ts';
import { IntervalReader, type IntervalResult } from './interval-reader.ts';
import { BY_PAGE, positionOf, stateOf } from './position.ts';

/*
 * How a collection with the ids 1 to 75 is read, 30 per page:
 *
 *   request                   response   what it shows
 *   (no bounds)               1 … 30     30 rows, as many as the longest page: perhaps cut
 *   id[lte]=29                1 … 29     shorter than a page, so not cut: delivered up to 29
 *   id[gt]=29                 30 … 59    perhaps cut: there is more than one page
 *   id[gt]=29&id[lte]=58      30 … 58    delivered up to 58; 24 ids are expected to fill four fifths of a page
 *   id[gt]=58&id[lte]=82      59 … 75    delivered up to 75, the last row, not up to the end of the interval
 *   id[gt]=75&id[lte]=99      (empty)    the next request has no upper bound
 *   id[gt]=75                 (empty)    the end: only an empty response to an open interval ends a read
 *   …&_page=4, 3, 2, 1        (empty)    a read of unknown page size, or a long one, looks behind its end
 *
 * One response shows one state of the data. So neither the order of the service nor a change between two requests can
 * hide a row in it, unless the service cut the response, or hid rows after cutting it:
 *
 * - A response that is shorter than the longest page was not cut, whatever the order is. A longer one is requested
 *   again with a lower upper bound.
 * - If the service hides rows (those that the key may not see), a cut page is short as well. As long as every response
 *   was in the order of ids it still proves which rows exist up to its last id. So the read continues from there.
 * - In any other order a short response is taken as complete, with spot checks of its second page. If one finds rows,
 *   the read starts again and checks every short response. Nothing proves that it found all: `complete` is `likely`.
 */

export interface KeysetOptions extends ReadOptions {
  /** How the service responds to a page after the last one. */
  readonly afterLastPage: AfterLastPage;
  /** Where to resume: the position of a page of an earlier read with the same filters. */
  readonly resumeFrom?: ResumePosition | undefined;
  /** What an earlier read found out. It saves requests if there is little to read. */
  readonly hint?: ListHint | undefined;
  /**
   * Whether only changes are listed. They are usually few, so the end of such a list is not looked behind once the page
   * size is known, unless the service hides rows.
   */
  readonly onlyChanges: boolean;
  /** Makes the resume token of a page. */
  readonly tokenOf: (position: ResumePosition) => string;
}

/**
 * Reads by intervals of ids: every record that exists during the whole read is delivered, whatever is deleted or
 * written meanwhile. It needs integer ids: if one is not, it reads by page from the first page on, and the records
 * delivered before come again.
 *
 * An empty page is delivered only if it is the first one, if the read starts again, or if it is the last one and
 * `complete` has changed.
 */
export async function* byKeyset<T>(fetchPage: FetchPage<T>, options: KeysetOptions): Pages<T> {
  const { signal, prefetch, limit = Number.POSITIVE_INFINITY, tokenOf } = options;
  const reader = openReader(fetchPage, options);
  if (reader === undefined) return yield* continueByPage(fetchPage, options, { delivered: false });

  let wanted = limit;
  let ahead: Promise<IntervalResult<T>> | undefined;
  let complete: Page<T>['complete'];
  while (wanted > 0) {
    const result = await (ahead ?? reader.next());
    signal.throwIfAborted();
    const { response } = result;
    if (result.kind === 'other_ids') {
      // A response to nothing but the caller's filters is the first page, and need not be requested again.
      const firstPage = result.isFirstPage ? response : undefined;
      return yield* continueByPage(fetchPage, options, { delivered: complete !== undefined, firstPage });
    }

    const { state, restarted, hint, last } = result;
    const seen = new Set(response.ids);
    const page =
      seen.size === response.ids.length ? response : keepRecords(response, (id) => seen.delete(id));
    wanted = (restarted ? limit : wanted) - page.records.length;
    ahead = !last && prefetch > 0 && wanted > 0 ? awaitedLater(reader.next()) : undefined;
    const completeNow = state.inOrder && !state.unconfirmed ? 'certain' : 'likely';
    if (page.records.length > 0 || page.invalid.length > 0 || restarted || completeNow !== complete) {
      complete = completeNow;
      const resumeToken = tokenOf(positionOf(state));
      yield { ...page, pagination: 'keyset', complete, restarted, hint, resumeToken };
    }
    if (last) return;
  }
}

/** Undefined if it can only be read by page: it was before, or the caller's bounds are not integers. */
function openReader<T>(fetchPage: FetchPage<T>, options: KeysetOptions): IntervalReader<T> | undefined {
  const range = rangeOf(options.bounds);
  const resumeFrom = options.resumeFrom === undefined ? undefined : stateOf(options.resumeFrom);
  if (range === undefined || (options.resumeFrom !== undefined && resumeFrom === undefined)) return undefined;
  return new IntervalReader(fetchPage, { ...options, hint: options.hint, range, resumeFrom });
}

/** Reads by page from the first page on. */
async function* continueByPage<T>(
  fetchPage: FetchPage<T>,
  options: KeysetOptions,
  { delivered, firstPage }: { delivered: boolean; firstPage?: PageResponse<T> | undefined },
): Pages<T> {
  yield* byPage(
    fetchPage,
    { ...options, start: 1 },
    {
      firstPage,
      restarted: delivered || options.resumeFrom !== undefined,
      resumeToken: options.tokenOf(BY_PAGE),
    },
  );
}
