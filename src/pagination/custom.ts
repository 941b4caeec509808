import { boundsGuard } from './id-bounds.ts';
import { awaitedLater, withLifetime } from './lifetime.ts';
import type { FetchPage, IdBounds, PageQuery, PageResponse, WalkSteps } from './page.ts';
import { RepeatGuard } from './repeat-guard.ts';
import { rowCount } from './row-count.ts';
import type { StepOptions } from './step-options.ts';

/**
 * A cursor of the caller's own, for the day the service documents one.
 *
 * ```ts
 * const byId: CustomCursor<Account> = {
 *   first: {},
 *   next: (page) => (page.ids.length === 0 ? undefined : { id: { gt: page.ids.at(-1) } }),
 * };
 * ```
 * Under `validation: 'report'`, `ids` leaves out the rows of `page.invalid`: where a whole page may misfit, look there
 * too, or the walk above ends at it.
 */
export interface CustomCursor<T> {
  /** What is asked for first. */
  readonly first: PageQuery;
  /** What is asked for after an answer; `undefined` ends the walk. */
  next(page: PageResponse<T>): PageQuery | undefined;
}

export interface CustomOptions extends StepOptions {
  /** The caller's own bounds. They go out beside those of the cursor, which win where both name the same operator. */
  readonly bounds?: IdBounds | undefined;
}

/**
 * Walks by the caller's own cursor: what it asks for, and when it ends, is the caller's business. A page with the
 * rows of an earlier one is a FilterIgnoredError, so that a cursor the service ignores does not turn for ever.
 * `prefetch` of 1 or more asks for the next page while the consumer works; the cursor allows no more.
 */
export function customWalk<T>(
  fetchPage: FetchPage<T>,
  cursor: CustomCursor<T>,
  options: CustomOptions,
): WalkSteps<T> {
  return withLifetime(options.signal, (signal) => {
    const ask = (query: PageQuery) => fetchPage(withBounds(query, options.bounds), signal);
    // In an async function, so that what the cursor throws comes after the page that it was asked about.
    const askAfter = async (answer: PageResponse<T>) => {
      const query = cursor.next(answer);
      return query === undefined ? undefined : await ask(query);
    };
    return follow({ first: () => ask(cursor.first), askAfter }, options, signal);
  });
}

interface Chain<T> {
  readonly first: () => Promise<PageResponse<T>>;
  readonly askAfter: (answer: PageResponse<T>) => Promise<PageResponse<T> | undefined>;
}

async function* follow<T>(chain: Chain<T>, options: CustomOptions, signal: AbortSignal): WalkSteps<T> {
  const repeats = new RepeatGuard(options.facts);
  const checkBounds = boundsGuard(options.bounds, options.facts);
  let wanted = options.limit ?? Number.POSITIVE_INFINITY;
  let answer = wanted > 0 ? await chain.first() : undefined;

  while (answer !== undefined) {
    signal.throwIfAborted();
    checkBounds(answer);
    const records = rowCount(answer) === 0 ? [] : repeats.fresh(answer);
    wanted -= records.length;
    const ahead = wanted > 0 && options.prefetch > 0 ? awaitedLater(chain.askAfter(answer)) : undefined;
    yield { answer, records };
    if (wanted <= 0) return;
    answer = await (ahead ?? chain.askAfter(answer));
  }
}

function withBounds(query: PageQuery, bounds: IdBounds | undefined): PageQuery {
  return query.id === undefined ? query : { ...query, id: { ...bounds, ...query.id } };
}
