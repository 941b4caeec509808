import type { CallFacts } from '../../errors/accounting-error.ts';
import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { type IdRange, integerId, outsideBounds } from '../id-bounds.ts';
import type { IdBounds, ListHint, PageQuery, PageResponse } from '../page.ts';
import { boundsOf, DIRECTIONS, idLimitOf } from './direction.ts';
import {
  ascending,
  contains,
  type Interval,
  isAscending,
  type Key,
  narrow,
  nextWidth,
  widthAfterEmpty,
} from './interval.ts';
import { type ReadState, restarted } from './state.ts';

/*
 * Keyset pagination as two pure functions: `requestOf(state)` is the next request, and `reduce(state, response)` the
 * next state and what to deliver. To change a rule, change its branch here, its test in `reduce.test.ts` and
 * *What is proven* in `guides/keyset-pagination.md`.
 *
 * One response shows one state of the data. So no deletion and no write between two requests can hide a row in it,
 * unless the service cut the response, or hid rows (those that the key may not see) after cutting it. Each rule below
 * says what a response proves in spite of that. A collection with the ids 1 to 75 is read so, 30 per page:
 *
 *   request                   response   rule
 *   (no bounds)               1 … 30     4: as long as the longest page, so perhaps cut: narrowed
 *   id[lte]=29                1 … 29     5: shorter, so delivered. There may be no more: the next interval is open
 *   id[gt]=29                 30 … 59    4
 *   id[gt]=29&id[lte]=58      30 … 58    5: 24 ids are expected to fill four fifths of a page
 *   id[gt]=58&id[lte]=82      59 … 75    5: delivered up to 75, the last row, not up to the end of the interval
 *   id[gt]=75&id[lte]=99      (empty)    6: this is probably the end
 *   _page=2&id[gt]=75         (empty)    8: no row follows a page of hidden rows
 *   id[gt]=75                 (empty)    7: only an empty response to an open interval ends a read
 *
 * Rule 8 comes before rule 7, because its pages are requested before the first one. Rules 1 to 3 apply to every response
 * before the others; their comments are at the end of this file.
 */

/** What of a response matters here: its rows, and the ids of the valid and of the invalid ones. */
export type ResponseRows = Pick<PageResponse<unknown>, 'rows' | 'ids' | 'invalid'>;

/** What stays the same during a read. */
export interface ReadContext {
  /** The caller's own bounds. */
  readonly bounds: IdBounds | undefined;
  /** The range that they leave. */
  readonly range: IdRange;
  readonly hint: ListHint | undefined;
  readonly onlyChanges: boolean;
  readonly facts: CallFacts;
}

/** The next state, and what to deliver. */
export interface Step {
  readonly state: ReadState;
  /**
   * - `response`: its rows.
   * - `held`: those of the response before it, whose second page this one is.
   * - `restart`: no row, but what was delivered comes again.
   * - `by_page`: nothing. An id is not an integer, so the list can be read only by page.
   */
  readonly deliver: 'nothing' | 'response' | 'held' | 'restart' | 'by_page';
}

/** The keys of a response. */
interface Keys {
  /** All rows, even those without a readable id: they fill the page too. */
  readonly rows: number;
  /** Each key once, ascending. */
  readonly sorted: readonly Key[];
}

/**
 * Requests of intervals in a row without a delivered row: more than any collection needs. Later pages, ids further on,
 * the search and second pages do not count, because their number is limited.
 */
const MAX_REQUESTS_WITHOUT_ROWS = 50;
/**
 * The same if no order helps. Pages of one row show none, so a read that begins at the wrong end needs a request for each
 * row. In another order, a read needs many to find the lowest rows after a large gap.
 */
const MAX_REQUESTS_WITHOUT_ORDER = 1_000;

/** The highest page requested behind an end (rule 8). */
const LAST_LATER_PAGE = 2;
/** The same if the service hides rows. */
const LAST_LATER_PAGE_HIDDEN = 4;

/** The last page of a search (rule 9). */
const LAST_PAGE_SEARCHED = 30;

/** Ids further on are requested at 4, 16, … 4^5 widths (rule 9). */
const DISTANCES = 5;

/** So many neighbours in the delivered responses are not in the order of ids by chance (rule 11). */
const ORDERED_NEIGHBOURS = 8;

/** Timestamps closer than this show no order, because transactions may end in another order than they began. */
const CLEARLY_APART_MS = 600_000;

/** The next request. */
export function requestOf(state: ReadState, context: ReadContext): PageQuery {
  const { phase, order, idLimit, page } = state;
  const bounds = { caller: context.bounds, idLimit };
  const id = boundsOf(requestedInterval(state, context), DIRECTIONS[order], bounds);
  if (phase === 'second_page') return { page: 2, id };
  return phase === 'later_pages' || phase === 'search' ? { page, id } : { id };
}

/** The interval that a request is about. */
function requestedInterval(state: ReadState, context: ReadContext): Interval {
  const { phase, after, through } = state;
  if (phase === 'further_ids') return { after: furtherKey(state, context), through: undefined };
  if (phase === 'search') return { after, through: undefined };
  if (phase !== 'later_pages') return { after, through };
  // Which ids follow a single row is not known, because it shows no direction.
  return isSingleRow(state) ? callersInterval(state, context) : { after, through: undefined };
}

/** The next state. `held` is the response that is not delivered before its second page is known. */
export function reduce(
  before: ReadState,
  response: ResponseRows,
  context: ReadContext,
  held?: ResponseRows,
): Step {
  const step = reduceResponse(before, response, context, held);
  const { mostRows, inOrder } = step.state;
  const most = mostRows > 1 && inOrder ? MAX_REQUESTS_WITHOUT_ROWS : MAX_REQUESTS_WITHOUT_ORDER;
  if (step.state.requestsWithoutRows >= most) throw boundsIgnored(most, context.facts);
  return isPerhapsUnordered(step.state, context)
    ? { ...step, state: { ...step.state, mayMissRows: true } }
    : step;
}

function reduceResponse(
  before: ReadState,
  response: ResponseRows,
  context: ReadContext,
  held: ResponseRows | undefined,
): Step {
  const ids = integerIds(response);
  // An id such as `abc` or `007` cannot be compared with a bound.
  if (ids === undefined) return { state: before, deliver: 'by_page' };
  checkBounds(before, ids, context);

  // It is not known where an invalid row stood among the others, so it does not count for the order.
  const sent = ids.slice(0, response.ids.length);
  const requestsWithoutRows = before.requestsWithoutRows + (before.phase === 'interval' ? 1 : 0);
  const received = { ...before, requestsWithoutRows, idLimit: idLimitAfter(before, ids) };

  // Rule 1, the direction. The first page has the ids 90 … 61: the read goes down, on negated ids.
  const directed = withDirection(received, sent, context);
  const isTurned = directed.order !== received.order;
  // Not needed if nothing but the caller's bounds was requested: that is the first page in either direction.
  if (isTurned && (received.after !== undefined || received.through !== undefined)) return restart(directed);

  // Rule 2, the order. A response 1, 3, 2: nothing proves any more what a short response shows. What was delivered
  // because of that comes again: after a hint, or on a service that hides rows.
  const { keyOf } = DIRECTIONS[directed.order];
  const ordered = directed.inOrder && !isAscending(sent.map(keyOf)) ? withoutOrder(directed) : directed;
  const { reliedOnHint, hidesRows, order } = ordered;
  if (ordered.inOrder !== directed.inOrder && (reliedOnHint || hidesRows || order === 'desc'))
    return restart(ordered);

  const keys: Keys = { rows: response.rows.length, sorted: ascending(ids.map(keyOf)) };
  const state = { ...ordered, sortedById: ordered.sortedById || !isInDateOrder(response.rows) };
  if (state.phase === 'later_pages') return reduceLaterPages(state, keys, context);
  if (state.phase === 'further_ids') return reduceFurtherIds(state, keys, context);
  if (state.phase === 'search') return reduceSearch(state, keys);
  if (state.phase === 'second_page')
    return reduceSecondPage(state, { keys, held: keysOf(held, state) }, context);
  return reduceInterval(withHiddenRows(state, keys), keys, context);
}

function reduceInterval(before: ReadState, keys: Keys, context: ReadContext): Step {
  const { mostRows, pageSizeHint, highest } = before;
  const { rows, sorted } = keys;
  const last = sorted.at(-1);
  const state = {
    ...before,
    mostRows: Math.max(mostRows, rows),
    highest: last !== undefined && (highest === undefined || last > highest) ? last : highest,
    // What follows this interval is not known yet.
    ...(rows > 0 ? { laterPagesRead: false, foundKey: undefined } : {}),
  };
  const isShort = rows === 0 || rows < mostRows || rows < pageSizeHint;

  // Rule 4, a full response: as long as the longest page, so the service perhaps cut it. It is always narrowed, because
  // the order of ids may be another order by chance. `id[gt]=29` returns 30 … 59: next is `id[gt]=29&id[lte]=58`.
  if (!isShort && !isSingleId(state)) {
    // Rows without an id do not show where to narrow.
    if (last === undefined) return { state, deliver: 'by_page' };
    const { timesNarrowed, inOrder } = state;
    const interval = { after: state.after ?? callersInterval(state, context).after, through: state.through };
    const narrowed = narrow(interval, { sorted, inOrder, timesNarrowed });
    if (narrowed !== undefined) return request({ ...state, ...narrowed, timesNarrowed: timesNarrowed + 1 });
  }

  const known = {
    ...state,
    reliedOnHint: state.reliedOnHint || (isShort && rows > 0 && rows >= mostRows),
  };
  if (!known.inOrder) return reduceUnordered(known, keys, context);
  if (last !== undefined) return reduceOrdered(known, keys, context);
  // Rows without an id do not show where they stand.
  if (rows > 0) return { state, deliver: 'by_page' };
  return known.through === undefined ? reduceEnd(known, context) : reduceEmpty(known, context);
}

/**
 * Rule 5, a short response in the order of ids. `id[gt]=58&id[lte]=82` returns 59 … 75: it is delivered, and shows every
 * row up to 75, but not up to 82, because the service may have cut a page and hidden the rest of it. So the next
 * interval begins after 75. On a service that hides no rows that costs nothing, because it is empty up to 82.
 */
function reduceOrdered(state: ReadState, { rows, sorted }: Keys, context: ReadContext): Step {
  const { through } = state;
  const [first = 0n] = sorted;
  const last = sorted.at(-1) ?? first;
  const width = widthAfter(state, { first, last, rows });
  const isFirst = state.rows === 0 && state.pageSizeHint === 0;
  const isDense = rows * 2 >= pageSizeOf(state);
  const assumedEmpty = through === undefined || last < through;
  const next = {
    ...state,
    width,
    after: last,
    singleKey: undefined,
    timesNarrowed: 0,
    assumedEmpty,
    assumedEmptyThrough: through,
  };
  if (last === callersInterval(state, context).through) return deliver(end(next), rows);

  // An open interval shows whether anything follows. It is requested where the end is likely: after an open one that was
  // short, after a sparse one, and after the first one of a read that does not know the page size.
  if (through !== undefined && isDense && !isFirst) {
    return deliver({ ...next, through: endAfter(last, width, { ...next }, context) }, rows);
  }
  const isProbablyLast = through === undefined || (isFirst && isSingleId(state));
  return deliver(isProbablyLast ? beforeEnd(next, context) : { ...next, through: undefined }, rows);
}

/**
 * Rule 6, an empty interval. `id[gt]=75&id[lte]=99` returns nothing: the next interval is open, and the one after it may
 * have 96 ids instead of 24.
 */
function reduceEmpty(state: ReadState, context: ReadContext): Step {
  const { singleKey, through, width } = state;
  // That row was the only one of a wider response, and nothing is before it now.
  if (singleKey !== undefined)
    return request({ ...state, after: through, through: singleKey, singleKey: undefined, timesNarrowed: 0 });
  return request(beforeEnd({ ...state, width: width && widthAfterEmpty(width) }, context));
}

/**
 * Rule 7, an empty response to an open interval. `id[gt]=75` returns nothing: the read ends, if its later pages were
 * requested before. They are not requested in a list of changes whose first response is empty, or whose page size an
 * earlier read has shown: most syncs find nothing new, and a request for each collection is what that should cost. If the
 * service hides rows, such an empty list is only likely to be complete.
 */
function reduceEnd(state: ReadState, context: ReadContext): Step {
  const { after, foundKey, laterPagesRead, hidesRows, mayMissRows, highest } = state;
  if (foundKey !== undefined) return request(afterHiddenRows(state, foundKey - 1n));
  if (context.onlyChanges && after === undefined && highest === undefined) {
    return { state: end({ ...state, mayMissRows: mayMissRows || hidesRows }), deliver: 'response' };
  }
  // If nothing was read, the first page is not requested again: an empty collection costs two requests, not three.
  if (!laterPagesRead && needsLaterPages(state, context))
    return request(readLaterPages({ ...state, laterPagesRead: after === undefined }));
  if (hidesRows && furtherKey({ ...state, distance: 1 }, context) !== undefined)
    return request({ ...state, phase: 'further_ids', distance: 1 });
  return { state: end(state), deliver: 'response' };
}

/**
 * Rule 8, the later pages of an end. A page of hidden rows looks like the end: `id[gt]=75` is empty although 106 exists. So
 * `_page=2&id[gt]=75` is requested, pages 4, 3 and 2 if the service was seen to hide rows, and then the first page (again):
 * from the last to the first, because a row that is deleted meanwhile moves every later one to an earlier page. If the
 * first one is empty, the read continues after 105 and is likely to be complete, not certain.
 */
function reduceLaterPages(state: ReadState, { sorted }: Keys, context: ReadContext): Step {
  const { after, page, foundKey } = state;
  const first = sorted.find((key) => after === undefined || key > after);
  const next = { ...state, foundKey: first ?? foundKey };
  if (page > 2) return request({ ...next, page: page - 1 });
  const open: ReadState = { ...next, phase: 'interval', laterPagesRead: true, through: undefined };
  return state.laterPagesRead ? reduceEnd(open, context) : request(open);
}

/**
 * Rule 9, ids further on, only if the service hides rows. After 75, with intervals of 24 ids, `id[gt]=171`, `id[gt]=459`
 * and so on are requested, up to `id[gt]=24651`, 4^5 widths after 75. If all are empty, the read ends. A row there follows
 * a longer run of hidden rows, and the pages after 75 are searched for the first row behind it.
 */
function reduceFurtherIds(state: ReadState, { rows, sorted: [foundKey] }: Keys, context: ReadContext): Step {
  if (rows > 0)
    return request({
      ...state,
      phase: 'search',
      page: LAST_LATER_PAGE_HIDDEN + 1,
      foundKey,
      mayMissRows: true,
    });
  const next = { ...state, distance: state.distance + 1 };
  const isLastDistance = state.distance === DISTANCES;
  const isLastId = furtherKey(next, context) === furtherKey(state, context);
  return isLastDistance || isLastId ? { state: end(state), deliver: 'response' } : request(next);
}

/**
 * Rule 9, the search for the first row behind the hidden ones. `_page=5&id[gt]=75` is empty and `_page=6&id[gt]=75` returns
 * 231 … 255: the read continues after 230. If no page up to 30 has a row, it continues at the row that was found further on.
 */
function reduceSearch(state: ReadState, { rows, sorted: [first] }: Keys): Step {
  const isOver = rows > 0 || state.page >= LAST_PAGE_SEARCHED;
  const next = first ?? (isOver ? state.foundKey : undefined);
  if (next !== undefined) return request(afterHiddenRows(state, next - 1n));
  return isOver ? { state: end(state), deliver: 'response' } : request({ ...state, page: state.page + 1 });
}

/**
 * Rule 10, a short response in another order. It is taken as complete, and delivered up to the end of its interval. If the
 * service hides rows that may be wrong, so second pages are requested: of the first three short responses, of every
 * eighth after that, of the last one, and of each one once rows were seen there.
 */
function reduceUnordered(state: ReadState, keys: Keys, context: ReadContext): Step {
  const { shortResponses: count, through, hidesRows } = state;
  if (isSingleId(state)) return completeUnordered(state, keys, 'response', context);

  const isDue = hidesRows || through === undefined || count < 3 || count % 8 === 0;
  const next = { ...state, shortResponses: count + 1 };
  if (isDue) return request({ ...next, phase: 'second_page' });
  return completeUnordered(next, keys, 'response', context);
}

/** The second page of a short response: if it has rows, the service hides some, and short responses prove nothing. */
function reduceSecondPage(
  before: ReadState,
  { keys, held }: { readonly keys: Keys; readonly held: Keys },
  context: ReadContext,
): Step {
  const state: ReadState = { ...before, phase: 'interval' };
  if (keys.rows === 0) return completeUnordered(state, held, 'held', context);
  if (!state.hidesRows) return restart(hiding(state));
  const { after, through, timesNarrowed } = state;
  const sorted = ascending([...held.sorted, ...keys.sorted]);
  const narrowed = sorted.length > 0 && narrow({ after, through }, { sorted, inOrder: false, timesNarrowed });
  if (!narrowed) return completeUnordered(state, held, 'held', context);
  return request({ ...state, ...narrowed, timesNarrowed: timesNarrowed + 1 });
}

function completeUnordered(
  state: ReadState,
  { rows, sorted }: Keys,
  delivered: 'response' | 'held',
  context: ReadContext,
): Step {
  const { through, singleKey, highest } = state;
  if (through === undefined) return deliver(end(state), rows, delivered);

  const width = widthAfter(state, { first: sorted[0] ?? through, last: through, rows });
  const next = { ...state, width, after: through, singleKey: undefined, timesNarrowed: 0 };
  const isPastAllSeen = highest === undefined || through >= highest;
  const isDense = rows * 2 >= pageSizeOf(state);
  const wide = isPastAllSeen && !isDense ? undefined : endAfter(through, width, next, context);
  return deliver({ ...next, through: singleKey === through + 1n ? singleKey : wide }, rows, delivered);
}

/**
 * Rule 11, the end of a read whose pages were very short. Pages of two rows in no order at all look like the order of ids
 * in half of the responses: 3, 7 and then 8, 9 and then 12 prove nothing of a short response, so that read is likely to
 * be complete. A read that fits into one response needs no order.
 */
function isPerhapsUnordered(
  { phase, rows, mostRows, neighbours }: ReadState,
  { hint }: ReadContext,
): boolean {
  const isPaged = mostRows > 0 && rows > Math.max(mostRows, hint?.pageSize ?? 0);
  return phase === 'end' && isPaged && neighbours < ORDERED_NEIGHBOURS;
}

/* What the rules share. */

const request = (state: ReadState): Step => ({ state, deliver: 'nothing' });

const end = (state: ReadState): ReadState => ({ ...state, phase: 'end' });

/** Delivers a response, unless it has no rows and is not the last one. */
function deliver(state: ReadState, rows: number, deliver: 'response' | 'held' = 'response'): Step {
  if (rows > 0) {
    const neighbours = state.neighbours + rows - 1;
    return { state: { ...state, rows: state.rows + rows, neighbours, requestsWithoutRows: 0 }, deliver };
  }
  return state.phase === 'end' ? { state, deliver } : request(state);
}

function restart(state: ReadState): Step {
  return { state: restarted(state), deliver: state.rows > 0 ? 'restart' : 'nothing' };
}

const hiding = (state: ReadState): ReadState => ({ ...state, hidesRows: true, pageSizeHint: 0 });

function afterHiddenRows(state: ReadState, after: Key): ReadState {
  const next = {
    ...hiding(state),
    phase: 'interval',
    mayMissRows: true,
    laterPagesRead: false,
    foundKey: undefined,
  } as const;
  return { ...next, after, through: undefined, assumedEmpty: false };
}

const readLaterPages = (state: ReadState): ReadState => ({
  ...state,
  phase: 'later_pages',
  page: state.hidesRows ? LAST_LATER_PAGE_HIDDEN : LAST_LATER_PAGE,
});

/**
 * The open interval that is probably the end. Its later pages are requested before its first page, which saves a
 * request. On a service that hides rows a short response says nothing of the end.
 */
function beforeEnd(state: ReadState, context: ReadContext): ReadState {
  const open = { ...state, through: undefined, timesNarrowed: 0, laterPagesRead: false, foundKey: undefined };
  return !state.hidesRows && needsLaterPages(state, context) ? readLaterPages(open) : open;
}

/** Whether the later pages of an end are requested: not in a list of changes, once the page size is known. */
function needsLaterPages(
  { hidesRows, directionKnown }: ReadState,
  { onlyChanges, hint }: ReadContext,
): boolean {
  const isKnown = hint !== undefined && hint.pageSize > 0 && (directionKnown || hint.order !== undefined);
  return hidesRows || !onlyChanges || !isKnown;
}

/**
 * The key after which ids further on are requested, at most a page before the largest one that may be requested.
 * Undefined if no room is left there, nothing was read or no direction is known.
 */
function furtherKey(state: ReadState, context: ReadContext): Key | undefined {
  const { after, width, distance, order, idLimit, directionKnown } = state;
  if (after === undefined || !directionKnown) return undefined;
  const pageSize = BigInt(Math.max(pageSizeOf(state), 1));
  const wanted = after + (width ?? pageSize) * 4n ** BigInt(distance);
  const most = callersInterval(state, context).through ?? DIRECTIONS[order].keyLimit(idLimit);
  const far = most !== undefined && wanted > most - pageSize ? most - pageSize : wanted;
  return far > after ? far : undefined;
}

/** As far as the caller's bounds go. */
const callersInterval = ({ order }: ReadState, { range }: ReadContext): Interval =>
  DIRECTIONS[order].intervalOf(range);

/** The page size that shows that a response is short. */
const pageSizeOf = ({ mostRows, pageSizeHint }: ReadState): number => Math.max(mostRows, pageSizeHint);

/** Whether no more than one row was read, and none of its neighbours is known. */
const isSingleRow = ({ directionKnown, rows }: ReadState): boolean => !directionKnown && rows <= 1;

/** Whether any response shows the interval completely, because it has room for one id. */
const isSingleId = ({ after, through }: ReadState): boolean => after !== undefined && through === after + 1n;

function widthAfter(
  state: ReadState,
  { first, last, rows }: { readonly first: Key; readonly last: Key; readonly rows: number },
): bigint {
  // The gap before the very first row does not show how dense the rows are.
  const span = last - (state.after ?? first - 1n);
  return nextWidth({ span, rows, pageSize: pageSizeOf(state) }, state.width);
}

/** The end of an interval of this width; undefined if the caller's bounds or the type of the ids end before it. */
function endAfter(after: Key, width: bigint, state: ReadState, context: ReadContext): Key | undefined {
  const { through } = callersInterval(state, context);
  const end = after + width;
  if (through !== undefined && end >= through) return undefined;
  const most = DIRECTIONS[state.order].keyLimit(state.idLimit);
  if (most === undefined || end <= most) return end;
  return after < most ? most : undefined;
}

/**
 * Rule 1. One row has no direction, but a row before it shows that the direction assumed at the start is wrong: it would
 * have come first. It can also be a new one, so the direction is not turned twice. A row on the page after a single one
 * can be new as well: what that shows of the direction may be wrong, so no single row is taken as short because of a hint.
 */
function withDirection(state: ReadState, sent: readonly bigint[], { hint }: ReadContext): ReadState {
  const { directionKnown, phase, after, singleKey, order } = state;
  if (directionKnown || sent.length === 0) return state;
  // The only row so far stands on the first page, and these on a later one.
  const followsSingleRow = phase === 'later_pages' && after !== undefined && isSingleRow(state);
  const ids = followsSingleRow ? [DIRECTIONS[order].keyOf(after), ...sent] : sent;
  if (ids.some((id) => id !== ids[0])) {
    const order = isAscending(ids.toReversed()) ? 'desc' : 'asc';
    return { ...state, directionKnown: true, order, pageSizeHint: followsSingleRow ? 0 : state.pageSizeHint };
  }
  if (singleKey === undefined || order !== (hint?.order ?? 'asc')) return state;
  return { ...state, order: order === 'asc' ? 'desc' : 'asc' };
}

/** Rule 2. In another order neither the hint nor a page that came short proves anything. */
const withoutOrder = (state: ReadState): ReadState => ({
  ...state,
  inOrder: false,
  pageSizeHint: 0,
  assumedEmpty: false,
});

/**
 * Rule 3, hidden rows. `id[gt]=58&id[lte]=82` returned 59 … 75, and `id[gt]=75&id[lte]=99` returns 76: it was left out of a
 * response that was short, so the service hides rows (or the row was written meanwhile, which costs only requests).
 */
function withHiddenRows(state: ReadState, { sorted: [first] }: Keys): ReadState {
  if (!state.assumedEmpty || first === undefined) return state;
  const isLeftOut = state.assumedEmptyThrough === undefined || first <= state.assumedEmptyThrough;
  return { ...(isLeftOut ? hiding(state) : state), assumedEmpty: false };
}

/** All ids as integers, those of valid rows first; undefined if any is not an integer. A row without an id says nothing. */
function integerIds({ ids, invalid }: ResponseRows): readonly bigint[] | undefined {
  const all = [...ids, ...invalid.flatMap(({ id }) => id ?? [])].map(integerId);
  return all.includes(undefined) ? undefined : (all as readonly bigint[]);
}

function keysOf(response: ResponseRows | undefined, { order }: ReadState): Keys {
  const ids = response === undefined ? [] : (integerIds(response) ?? []);
  return { rows: response?.rows.length ?? 0, sorted: ascending(ids.map(DIRECTIONS[order].keyOf)) };
}

/** A larger id allows for larger bounds. */
function idLimitAfter({ idLimit }: ReadState, ids: readonly bigint[]): bigint | undefined {
  return ids.reduce((most, id) => (most !== undefined && id > most ? idLimitOf(id) : most), idLimit);
}

function checkBounds(state: ReadState, ids: readonly bigint[], context: ReadContext): void {
  const interval = requestedInterval(state, context);
  const { keyOf } = DIRECTIONS[state.order];
  const isInside = (key: Key) => contains(interval, key) && contains(callersInterval(state, context), key);
  if (!ids.every((id) => isInside(keyOf(id)))) throw outsideBounds(context.facts);
}

function boundsIgnored(requests: number, facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned no complete interval of ids in ${requests} requests: the service ignored the bounds on id. Use pagination: 'page'.`,
    facts,
  );
}

/**
 * Whether rows in the order of ids may be in the order of `updatedAt` as well, ascending or descending: then the order
 * may be by date, and become another one as soon as rows are edited. Rows without timestamps may be in any order.
 */
function isInDateOrder(rows: readonly unknown[]): boolean {
  let [lowest, highest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  let [rises, falls] = [false, false];
  for (const row of rows as readonly ({ updatedAt?: unknown } | null | undefined)[]) {
    const updatedAt = row?.updatedAt;
    const at = typeof updatedAt === 'string' ? Date.parse(updatedAt) : Number.NaN;
    if (Number.isNaN(at)) continue;
    if (at > lowest + CLEARLY_APART_MS) rises = true;
    if (at < highest - CLEARLY_APART_MS) falls = true;
    if (rises && falls) return false;
    lowest = Math.min(lowest, at);
    highest = Math.max(highest, at);
  }
  return true;
}
