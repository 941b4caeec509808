import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { given } from '../input/checks.ts';
import { type Check, group, is, optional } from '../internal/options.ts';
import { isPromise } from '../internal/realm.ts';
import { type EvidenceFact, evidenceOf, verdictOf } from '../reports/evidence.ts';
import { boundsGuard } from './id-bounds.ts';
import {
  awaitedLater,
  type CursorPage,
  type FetchWhole,
  idBounds,
  MAX_STALLED,
  type PageQuery,
  type Pages,
  type PaginationKind,
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
 * A service may name the next page in a header (`page.headers`) or beside the records (`page.body`).
 *
 * Under `validation: 'report'`, `ids` leaves out the rows of `page.invalid`: if a whole page can be invalid, look there
 * too, or the cursor above ends at it.
 */
export interface CustomCursor<T> {
  /** The first request. */
  readonly first: PageQuery;
  /** The request after a response; `undefined` ends the list. */
  next(page: CursorPage<T>): PageQuery | undefined;
}

/** How a list is paginated, as a caller says it. */
export type PaginationChoice = (typeof KINDS)[number] | CustomCursor<unknown>;

export const paginationKind: Check<PaginationChoice> = {
  ...is.check(
    "'keyset', 'page', 'none', 'link' or a cursor { first, next }",
    (value) =>
      (KINDS as readonly unknown[]).includes(value) ||
      typeof (value as Partial<CustomCursor<never>> | null)?.next === 'function',
  ),
  verify(value: PaginationChoice, name: string) {
    if (typeof value === 'object') checkPageQuery(value.first, `${name}.first`);
  },
};

const KINDS = ['keyset', 'page', 'none', 'link'] as const;

const anything = optional(is.check<unknown>('anything', () => true));
const strings = is.check<Readonly<Record<string, string>>>(
  'an object of strings',
  (value) => is.object.allows(value) && Object.values(value).every(is.string.allows),
);
const pageQuery = { page: anything, id: optional(group(idBounds)), parameters: optional(strings) };

/** Checks a request of a cursor: what is not sent would be requested without it, perhaps for ever. */
function checkPageQuery(query: unknown, name: string): PageQuery {
  if (isPromise(query)) {
    awaitedLater(query);
    throw new InvalidInputError(name, 'must not be async');
  }
  given(pageQuery, query as object, { of: name }, `${name}.`);
  return query as PageQuery;
}

/** What follows a response. */
export interface Following {
  /** The next request; undefined at the end of the list. */
  readonly query: PageQuery | undefined;
  /** What is known of the end of the list. */
  readonly facts: EndFacts;
}

type EndFacts = { readonly [Name in EvidenceFact]?: boolean };

/** Derives each request of a list from the response before it. */
export interface Follower<T> {
  readonly pagination: PaginationKind;
  readonly first: PageQuery;
  /** Called once for each response, in their order. May throw. */
  after(page: CursorPage<T>): Following;
  /** What is known of the end of a list that is not read on. */
  readonly open: EndFacts;
  /** What to do if the requests lead nowhere. */
  readonly advice: string;
}

/** Follows a cursor of the caller's own, which decides what is requested and when the list ends. */
export function customFollower<T>(cursor: CustomCursor<T>): Follower<T> {
  return {
    pagination: 'custom',
    first: cursor.first,
    after(page) {
      const query = cursor.next(page);
      if (query === undefined) return { query, facts: { cursor_ended: true } };
      return { query: checkPageQuery(query, 'pagination.next'), facts: CURSOR_OPEN };
    },
    open: CURSOR_OPEN,
    advice: 'Check your own cursor: its next must return undefined at the end.',
  };
}

const CURSOR_OPEN = { cursor_open: true };

/**
 * Reads a list in which each response leads to the next one. A page with the rows of earlier ones is a FilterIgnoredError, so
 * that a cursor that the service ignores does not loop for ever, and so is one that continues after so many empty pages.
 * `prefetch` of 1 or more requests the next page while the consumer works; more is not possible.
 */
export async function* byCursor<T>(
  fetchWhole: FetchWhole<T>,
  follower: Follower<T>,
  options: ReaderOptions,
): Pages<T> {
  const { signal, prefetch, limit = Number.POSITIVE_INFINITY } = options;
  const { pagination, first, open, advice } = follower;
  const repeats = new RepeatGuard(options.facts, advice);
  const checkBounds = boundsGuard(options.bounds, options.facts);

  let wanted = limit;
  let [withoutRows, longest] = [0, 0];
  let whole = wanted > 0 ? await fetchWhole(first) : undefined;
  while (whole !== undefined) {
    const { page: response, body, headers } = whole;
    signal.throwIfAborted();
    checkBounds(response);
    withoutRows = response.rows.length === 0 ? withoutRows + 1 : 0;
    if (withoutRows >= MAX_STALLED) throw endlessCursor(options.facts, advice);
    const fresh = withoutRows > 0 ? response : repeats.withoutRepeats(response);
    wanted -= fresh.records.length;
    longest = Math.max(longest, response.rows.length);
    let following: Following | undefined;
    let failed: { readonly error: unknown } | undefined;
    try {
      if (wanted > 0) following = follower.after({ ...response, headers: headers(), body });
    } catch (error) {
      // Thrown after the page that the cursor was given.
      failed = { error };
    }
    const fetchNext = () => following?.query && fetchWhole(following.query);
    const ahead = prefetch > 0 ? fetchNext() : undefined;
    if (ahead) awaitedLater(ahead);
    const facts = { ...(following?.facts ?? open), repeated_rows: repeats.dropped > 0 };
    yield {
      ...fresh,
      pagination,
      ...verdictOf(evidenceOf(facts, longest)),
      repeated: repeats.dropped,
      restarted: false,
      resumeToken: undefined,
    };
    if (failed !== undefined) throw failed.error;
    whole = await (ahead ?? fetchNext());
  }
}

function endlessCursor(facts: CallFacts, advice: string): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned ${MAX_STALLED} pages without rows, one after another, and the cursor requested another one.`,
    { ...facts, hint: advice },
  );
}
