import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { given } from '../input/checks.ts';
import { type Check, group, is, optional } from '../internal/options.ts';
import { isPromise } from '../internal/realm.ts';
import { evidenceOf, verdictOf } from '../reports/evidence.ts';
import { boundsGuard } from './id-bounds.ts';
import {
  awaitedLater,
  type FetchPage,
  idBounds,
  MAX_FRUITLESS,
  type PageQuery,
  type PageResponse,
  type Pages,
  type ReaderOptions,
} from './page.ts';
import { RepeatGuard } from './repeat-guard.ts';

/**
 * A cursor of the caller's own, for a service that documents one.
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

/** How a list is paginated, as a caller says it. */
export type PaginationChoice = 'keyset' | 'page' | 'none' | CustomCursor<unknown>;

export const paginationKind: Check<PaginationChoice> = {
  ...is.check(
    "'keyset', 'page', 'none' or a cursor { first, next }",
    (value) =>
      KINDS.includes(value) || typeof (value as Partial<CustomCursor<never>> | null)?.next === 'function',
  ),
  verify(value: PaginationChoice, name: string) {
    if (typeof value === 'object') checkPageQuery(value.first, `${name}.first`);
  },
};

const KINDS: readonly unknown[] = ['keyset', 'page', 'none'];

const anything = optional(is.check<unknown>('anything', () => true));
const pageQuery = { page: anything, id: optional(group(idBounds)), parameters: anything };

/** Checks a request of a cursor: what is not sent would be requested without it, perhaps for ever. */
function checkPageQuery(query: unknown, name: string): PageQuery {
  if (isPromise(query)) {
    awaitedLater(query);
    throw new InvalidInputError(name, 'must not be async');
  }
  given(pageQuery, query as object, { of: name }, `${name}.`);
  return query as PageQuery;
}

/**
 * Follows the caller's own cursor, which decides what is requested and when the list ends. A page with the rows of
 * earlier ones is a FilterIgnoredError, so that a cursor that the service ignores does not loop for ever, and so is a
 * cursor that continues after so many empty pages.
 * `prefetch` of 1 or more requests the next page while the consumer works; the cursor allows no more.
 */
export async function* byCursor<T>(
  fetchPage: FetchPage<T>,
  cursor: CustomCursor<T>,
  options: ReaderOptions,
): Pages<T> {
  const { signal, prefetch, limit = Number.POSITIVE_INFINITY } = options;
  const repeats = new RepeatGuard(options.facts, 'Check your own cursor.');
  const checkBounds = boundsGuard(options.bounds, options.facts);
  // An error of the cursor comes after the page that it was given.
  const after = (
    response: PageResponse<T>,
  ): { readonly query?: PageQuery | undefined; readonly error?: unknown } => {
    try {
      const query = cursor.next(response);
      return { query: query === undefined ? undefined : checkPageQuery(query, 'pagination.next') };
    } catch (error) {
      return { error };
    }
  };

  let wanted = limit;
  let [withoutRows, longest] = [0, 0];
  let response = wanted > 0 ? await fetchPage(cursor.first, signal) : undefined;
  while (response !== undefined) {
    signal.throwIfAborted();
    checkBounds(response);
    withoutRows = response.rows.length === 0 ? withoutRows + 1 : 0;
    if (withoutRows >= MAX_FRUITLESS) throw endlessCursor(options.facts);
    const fresh = withoutRows > 0 ? response : repeats.withoutRepeats(response);
    wanted -= fresh.records.length;
    longest = Math.max(longest, response.rows.length);
    const following = wanted > 0 ? after(response) : undefined;
    const isEnded = following !== undefined && !('error' in following) && following.query === undefined;
    const fetchNext = () => following?.query && fetchPage(following.query, signal);
    const ahead = prefetch > 0 ? fetchNext() : undefined;
    if (ahead) awaitedLater(ahead);
    const facts = { cursor_ended: isEnded, cursor_open: !isEnded, repeated_rows: repeats.dropped > 0 };
    yield {
      ...fresh,
      pagination: 'custom',
      ...verdictOf(evidenceOf(facts, longest)),
      repeated: repeats.dropped,
      restarted: false,
      resumeToken: undefined,
    };
    if (following !== undefined && 'error' in following) throw following.error;
    response = await (ahead ?? fetchNext());
  }
}

function endlessCursor(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned ${MAX_FRUITLESS} pages without rows, one after another, and the cursor requested another one.`,
    { ...facts, hint: 'Check your own cursor: its next must return undefined at the end.' },
  );
}
