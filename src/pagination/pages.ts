import { NotFoundError } from '../errors/not-found-error.ts';
import { boundsGuard } from './id-bounds.ts';
import { awaitedLater, withLifetime } from './lifetime.ts';
import type { FetchPage, IdBounds, PageResponse, WalkSteps } from './page.ts';
import { RepeatGuard } from './repeat-guard.ts';
import { rowCount } from './row-count.ts';
import type { AfterLastPage, StepOptions } from './step-options.ts';

export interface PagesOptions extends StepOptions {
  /** The first page asked for; 1 reads everything. */
  readonly start: number;
  readonly afterLastPage: AfterLastPage;
  /** The caller's own bounds, which the calls below carry: a row outside them is a FilterIgnoredError. */
  readonly bounds?: IdBounds | undefined;
}

/**
 * Walks by `_page=start, start+1, …` to an empty page, and to nothing else: a short page is not the end.
 *
 * The documented way and the cheapest. A row that is deleted or moves up during the walk can hide another one:
 * where that must not happen, walk `keyset`. A record that the two pages before held already is dropped.
 * The empty last page is a step of its own only when it is the first one, so that every walk has an answer to
 * show. No position: page n is no point to resume at, for its rows may be others by then.
 */
export function pagesWalk<T>(fetchPage: FetchPage<T>, options: PagesOptions): WalkSteps<T> {
  return withLifetime(options.signal, (signal) => readPages(fetchPage, options, signal));
}

async function* readPages<T>(
  fetchPage: FetchPage<T>,
  options: PagesOptions,
  signal: AbortSignal,
): WalkSteps<T> {
  const ahead = new PagesAhead(fetchPage, options, signal);
  const repeats = new RepeatGuard(options.facts);
  const checkBounds = boundsGuard(options.bounds, options.facts);
  let wanted = options.limit ?? Number.POSITIVE_INFINITY;

  for (let first = true; wanted > 0; first = false) {
    const answer = await ahead.take();
    signal.throwIfAborted();
    const rows = answer === undefined ? 0 : rowCount(answer);
    if (answer === undefined || rows === 0) {
      if (first && answer !== undefined) yield { answer, records: [] };
      return;
    }

    checkBounds(answer);
    const records = repeats.fresh(answer);
    wanted -= records.length;
    ahead.fill(rows, wanted);
    // A page of nothing but repeats has nothing to tell.
    if (records.length > 0 || answer.invalid.length > 0) yield { answer, records };
  }
}

/** The pages that are on their way, in order. */
class PagesAhead<T> {
  readonly #queue: Promise<PageResponse<T> | undefined>[] = [];
  readonly #fetchPage: FetchPage<T>;
  readonly #options: PagesOptions;
  readonly #signal: AbortSignal;
  #next: number;
  /** The longest page seen: how many records one more page can be expected to bring. */
  #pageSize = 1;
  /** A page ahead was the end or failed: what lies behind it is not needed. */
  #ended = false;

  constructor(fetchPage: FetchPage<T>, options: PagesOptions, signal: AbortSignal) {
    this.#fetchPage = fetchPage;
    this.#options = options;
    this.#signal = signal;
    this.#next = options.start;
  }

  /** The next page; undefined past the end. */
  take(): Promise<PageResponse<T> | undefined> {
    return this.#queue.shift() ?? this.#request();
  }

  /** Asks for pages ahead, as many as may be and as can be needed for the records still wanted. */
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
    const page = this.#next++;
    try {
      const answer = await this.#fetchPage({ page }, this.#signal);
      if (rowCount(answer) === 0) this.#ended = true;
      return answer;
    } catch (error) {
      this.#ended = true;
      const past = this.#options.afterLastPage === 'not_found' && page > this.#options.start;
      if (past && error instanceof NotFoundError) return undefined;
      throw error;
    }
  }
}
