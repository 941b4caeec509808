import { ApiError } from '../errors/api-error.ts';
import { evidenceOf, verdictOf } from '../reports/evidence.ts';
import { boundsGuard } from './id-bounds.ts';
import { rowsThenNone } from './incomplete-list.ts';
import {
  awaitedLater,
  type FetchPage,
  keepRecords,
  type Page,
  type PageResponse,
  type Pages,
  type ReaderOptions,
} from './page.ts';
import { RepeatGuard } from './repeat-guard.ts';

interface ByPageOptions extends ReaderOptions {
  /** The first page requested; 1 reads everything. */
  readonly start: number;
  /** Whether the page after an empty one is requested too, so that a service that shows no rows for a moment ends no list. */
  readonly checksEnd: boolean;
  /** Called once, when the first row came again. */
  readonly onRepeat: () => void;
}

/** With these a service may reject the number of a page that does not exist. */
const NO_PAGE: readonly number[] = [400, 404, 410, 416, 422];

const SET_PARAMETER = "Set pageParameter to the name of the parameter that the service reads, such as 'page'";
const USE_NONE =
  "or use pagination: 'link' if responses link the next page, or pagination: 'none' if one response is the whole list";

/**
 * Requests the pages `start, start+1, …` until an empty page, and nothing else ends the read: a short page is not the end. If
 * the page after the empty one has rows, or one that was requested ahead, the read fails.
 *
 * The fewest requests, and the order of the service. A row that is deleted or moves up during the read can hide another
 * one, so a read of more than one page is only `likely` to be complete. A row that came before is dropped and counted. The
 * empty last page is delivered only if it is the first one, so that every read has a response
 * to show. No resume token: the rows of page n may be others by then.
 */
export async function* byPage<T>(
  fetchPage: FetchPage<T>,
  options: ByPageOptions,
  begun?: BegunRead<T>,
): Pages<T> {
  const ahead = new PagesAhead(fetchPage, options, begun?.firstPage);
  let restarted = begun?.restarted ?? false;
  // The caller of keyset pagination has ids that it cannot read.
  const advice =
    begun === undefined
      ? `${SET_PARAMETER}, use pagination: 'keyset' if ids are integers, ${USE_NONE}.`
      : `${SET_PARAMETER}, ${USE_NONE}.`;
  const repeats = new RepeatGuard(options.facts, advice, true);
  const checkBounds = boundsGuard(options.bounds, options.facts);
  const isDelivered = begun?.isDelivered;
  const shownBefore = new Set(begun?.shown);
  /** Rows that were taken for delivered ones. */
  let again = 0;
  const lacksRows = () => shownBefore.size > 0 || again > (begun?.rows ?? 0);
  const pageOf = (response: PageResponse<T>, isFirst: boolean, isEnd = false): Page<T> => ({
    ...(isDelivered === undefined ? response : withoutDelivered(response, isDelivered)),
    pagination: 'page',
    ...verdictOf(
      evidenceOf(
        {
          first_page: isFirst && isDelivered === undefined,
          several_pages: !isFirst || isDelivered !== undefined,
          repeated_rows: repeats.dropped > 0,
          lost_rows: isEnd && lacksRows(),
        },
        longest,
      ),
    ),
    repeated: repeats.dropped,
    restarted,
    resumeToken: begun?.resumeToken,
  });
  let wanted = options.limit ?? Number.POSITIVE_INFINITY;
  /** A page without a new row: rows moved, or the service repeats a page for ever. Delivered at the end, for its count. */
  let held: Page<T> | undefined;
  let hasWarned = false;
  let longest = 0;
  const warned = (page: Page<T>) => {
    if (page.repeated > 0 && !hasWarned) options.onRepeat();
    hasWarned ||= page.repeated > 0;
    return page;
  };

  for (let isFirst = true; wanted > 0; isFirst = false) {
    const response = await ahead.take();
    options.signal.throwIfAborted();
    if (response.rows.length === 0) {
      if (options.checksEnd) await ahead.checkEnd();
      if (held !== undefined) yield warned(held);
      if (isFirst || lacksRows()) yield pageOf(response, isFirst, true);
      return;
    }

    checkBounds(response);
    longest = Math.max(longest, response.rows.length);
    const fresh = repeats.withoutRepeats(response);
    for (const id of fresh.ids) {
      shownBefore.delete(id);
      if (isDelivered?.(id) === true) again += 1;
    }
    for (const { id = '' } of fresh.invalid) shownBefore.delete(id);
    const page = pageOf(fresh, isFirst, repeats.isAtEnd);
    if (repeats.isAtEnd) {
      if (lacksRows()) yield page;
      return;
    }
    held = repeats.isStale ? page : undefined;
    wanted -= page.records.length;
    ahead.fill(page.rows.length, wanted);
    if (held !== undefined) continue;
    yield warned(page);
    restarted = false;
  }
}

/** A read that keyset pagination has begun and continues by page. */
interface BegunRead<T> {
  /** The response to the first page, if there is one already. */
  readonly firstPage: PageResponse<T> | undefined;
  /** Whether a row with this id was delivered before; undefined if none was. */
  readonly isDelivered: ((id: string) => boolean) | undefined;
  /** How many were. If more rows are taken for delivered ones, some of them were not. */
  readonly rows: number;
  /** The ids of rows that a response showed, and that were not delivered. */
  readonly shown: readonly string[];
  /** Whether records are delivered again that an earlier read delivered. */
  readonly restarted: boolean;
  readonly resumeToken: string | undefined;
}

function withoutDelivered<T>(
  response: PageResponse<T>,
  isDelivered: (id: string) => boolean,
): PageResponse<T> {
  const kept = keepRecords(response, (id) => !isDelivered(id));
  return { ...kept, invalid: kept.invalid.filter(({ id }) => id === undefined || !isDelivered(id)) };
}

/** The pages in flight, in order. */
class PagesAhead<T> {
  readonly #queue: Promise<PageResponse<T>>[] = [];
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

  take(): Promise<PageResponse<T>> {
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

  /** After an empty page: throws if the page after it has rows, or one of those that are requested already. */
  async checkEnd(): Promise<void> {
    const { facts, signal } = this.#options;
    const next = this.take().catch((error: unknown) => {
      // There is no such page.
      if (error instanceof ApiError && NO_PAGE.includes(error.status)) return undefined;
      throw error;
    });
    // Those behind it are not needed, so none of them fails the read.
    const others = this.#queue.splice(0).map((page) => page.catch(() => undefined));
    const pages = await Promise.all([next, ...others]);
    signal.throwIfAborted();
    if (pages.some((page) => page !== undefined && page.rows.length > 0)) {
      throw rowsThenNone('a page without records, and then one with some', facts, false);
    }
  }

  async #request(): Promise<PageResponse<T>> {
    const page = this.#next++;
    try {
      const response = await this.#fetchPage({ page });
      if (response.rows.length === 0) this.#ended = true;
      return response;
    } catch (error) {
      this.#ended = true;
      throw error;
    }
  }
}
