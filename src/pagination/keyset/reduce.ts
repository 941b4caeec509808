import type { CallFacts } from '../../errors/accounting-error.ts';
import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { type IdRange, integerId, outsideBounds } from '../id-bounds.ts';
import { type IdBounds, MAX_FRUITLESS, type PageQuery, type PageResponse } from '../page.ts';
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
import {
  type BehindEndState,
  type IntervalState,
  knowledgeOf,
  newInterval,
  pageSizeOf,
  type ReadState,
  restarted,
  type SecondPageState,
} from './state.ts';

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
 *   _page=1                   1 … 30     4: as long as the longest page, so perhaps cut: narrowed
 *   id[lte]=29                1 … 29     5: shorter, so delivered. There may be no more: the next interval is open
 *   id[gt]=29                 30 … 59    4
 *   id[gt]=29&id[lte]=58      30 … 58    5: 29 ids cannot fill a page
 *   id[gt]=58&id[lte]=87      59 … 75    5: delivered up to 75, the last row, not up to the end of the interval
 *   id[gt]=75&id[lte]=104      (empty)    6: this is probably the end
 *   _page=2&id[gt]=75         (empty)    8: no row follows a page of hidden rows; not in a list of changes
 *   id[gt]=75                 (empty)    7: only an empty response to an open interval ends a read
 *
 * Rule 8 comes before rule 7, because its page is requested before the first one. Rules 1 to 3 apply to every response
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
  /** Whether only changes are listed. They are usually few, so few requests are spent on the end of such a list. */
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

/** What a response is given with. */
interface Given {
  /** The response that is not delivered before its second page is known. */
  readonly held?: ResponseRows | undefined;
  /**
   * The interval that was requested, if it is not that of the state: it may begin before it, and end anywhere behind.
   * `isGap`: it is what two other responses left out, so it has few rows, and more follow.
   */
  readonly asked?: (Interval & { readonly isGap: boolean }) | undefined;
}

/** The keys of a response. */
interface Keys {
  /** All rows, even those without a readable id: they fill the page too. */
  readonly rows: number;
  /** Of these rows, those that come again because the response begins before the interval. They are not delivered. */
  readonly again: number;
  /** Each key of the others once, ascending. */
  readonly sorted: readonly Key[];
}

/**
 * Requests of intervals in a row without a delivered row: more than any collection needs. The simulated reads (6,000, with
 * writers and hidden rows) needed 6 in the order of ids. Pages behind an end and second pages do not count, because their
 * number is limited.
 */
const MAX_REQUESTS_WITHOUT_ROWS = 50;

/** The second pages of the first short responses are requested: a read in another order may have no more of them (rule 9). */
const FIRST_CHECKED = 3;
/** Of the following ones every eighth: 16 % more requests on average; every one would double their number (rule 9). */
const CHECK_EVERY = 8;

/** Responses of two rows and fewer show no order: two rows in no order at all ascend in half of them (rule 10). */
const SHOWS_ORDER = 3;
/** So many neighbours in delivered responses ascend by chance in one of 2^8 reads at most (rule 10). */
const ORDERED_NEIGHBOURS = 8;

/**
 * Timestamps closer than this show no order, because transactions may end in another order than they began. Ten minutes
 * are longer than a transaction of any request.
 */
const CLEARLY_APART_MS = 600_000;

export function requestOf(state: ReadState, context: ReadContext): PageQuery {
  const { phase, order, idLimit } = state;
  const bounds = { caller: context.bounds, idLimit };
  const id = boundsOf(requestedInterval(state, context), DIRECTIONS[order], bounds);
  if (phase !== 'interval') return { page: 2, id };
  // With its number, so that the read can continue with page 2: some services list everything without a page number.
  return id === undefined && state.requestsWithoutRows === 0 ? { page: 1 } : { id };
}

function requestedInterval(state: ReadState, context: ReadContext): Interval {
  if (state.phase === 'interval' || state.phase === 'second_page') return state;
  // A read of one or two rows can show that they are the whole list: then their order proves nothing, and need not.
  return isTiny(state) ? callersInterval(state, context) : { after: state.after, through: undefined };
}

/**
 * The next state. A response to `(b, t]` may be given for the interval `(c, x]` if b ≤ c < t: its rows up to c are left out,
 * and t takes the place of x. Whether it is short is judged by all of its rows.
 */
export function reduce(
  before: ReadState,
  response: ResponseRows,
  context: ReadContext,
  given: Given = {},
): Step {
  const { asked } = given;
  const interval = before.phase === 'interval' && asked ? { ...before, through: asked.through } : before;
  const step = reduceResponse(interval, response, context, given);
  const { mostRows, inOrder } = step.state;
  // Without an order a read needs more: pages of one row show none, and the lowest rows can be behind a large gap.
  const most = mostRows > 1 && inOrder ? MAX_REQUESTS_WITHOUT_ROWS : MAX_FRUITLESS;
  if (step.state.requestsWithoutRows >= most) throw boundsIgnored(most, context.facts);
  return isPerhapsUnordered(step.state, before)
    ? { ...step, state: { ...step.state, mayMissRows: true } }
    : step;
}

function reduceResponse(
  before: ReadState,
  response: ResponseRows,
  context: ReadContext,
  { held, asked }: Given,
): Step {
  const ids = integerIds(response);
  // An id such as `abc` or `007` cannot be compared with a bound.
  if (ids === undefined) return { state: before, deliver: 'by_page' };
  checkBounds(asked ?? requestedInterval(before, context), ids, before, context);

  // It is not known where an invalid row stood among the others, so it does not count for the order.
  const sent = ids.slice(0, response.ids.length);
  const requestsWithoutRows = before.requestsWithoutRows + (before.phase === 'interval' ? 1 : 0);
  const received = { ...before, requestsWithoutRows, idLimit: idLimitAfter(before, ids) };

  // Rule 1, the direction. The first page has the ids 90 … 61: the read goes down, on negated ids.
  const directed = withDirection(received, sent);
  const isTurned = directed.order !== received.order;
  // Not needed if nothing but the caller's bounds was requested: that is the first page in either direction.
  const isBounded = received.after !== undefined || ('through' in received && received.through !== undefined);
  if (isTurned && isBounded) return restart(directed);

  // Rule 2, the order. A response 1, 3, 2: nothing proves any more what a short response shows. What was delivered
  // because of that comes again: before a resume, with a page size that was trusted, or on a service that hides rows.
  const { keyOf } = DIRECTIONS[directed.order];
  const ordered = directed.inOrder && !isAscending(sent.map(keyOf)) ? withoutOrder(directed) : directed;
  const { resumed, hidesRows, order } = ordered;
  if (ordered.inOrder !== directed.inOrder && (resumed || hidesRows || order === 'desc'))
    return restart(ordered);

  const keys = keysOf(response, ordered);
  // In another order it is not known what was left out before the interval: it is requested exactly.
  if (asked && keys.again > 0 && !ordered.inOrder) return request(ordered);
  const state = { ...ordered, sortedById: ordered.sortedById || !isInDateOrder(response.rows) };
  if (state.phase === 'behind_end') return reduceBehindEnd(state, keys, context);
  if (state.phase === 'second_page')
    return reduceSecondPage(state, { keys, held: keysOf(held ?? NO_ROWS, state) }, context);
  if (state.phase === 'end') return { state, deliver: 'nothing' };
  return reduceInterval(withHiddenRows(state, keys), keys, context, asked);
}

function reduceInterval(
  before: IntervalState,
  keys: Keys,
  context: ReadContext,
  asked: Given['asked'],
): Step {
  const { mostRows, longest, highest } = before;
  const { rows, again, sorted } = keys;
  const last = sorted.at(-1);
  const isShort = rows === 0 || rows < pageSizeOf(before);
  const state: IntervalState = {
    ...before,
    mostRows: Math.max(mostRows, rows),
    longest: Math.max(longest, rows),
    highest: last !== undefined && (highest === undefined || last > highest) ? last : highest,
    // What follows this interval is not known yet.
    ...(rows > 0 ? { behindEnd: undefined } : {}),
    firstPage: undefined,
  };

  if (isFirstPageAgain(before, keys)) return { state: end(withRows(state, rows)), deliver: 'response' };
  if (!isShort && mayBeWholeList(before, keys, context))
    return request(secondPageOf(state, { isFull: true }));

  // Rule 4, a full response: as long as the longest page, so the service perhaps cut it. It is always narrowed, because
  // the order of ids may be another order by chance. `id[gt]=29` returns 30 … 59: next is `id[gt]=29&id[lte]=58`.
  if (!isShort && (again > 0 || !isSingleId(state))) {
    // Almost all of it was delivered before: it does not show where to narrow the rest.
    if (again > 0 && sorted.length < 2) return request(state);
    // Rows without an id do not show where to narrow.
    if (last === undefined) return { state, deliver: 'by_page' };
    const { timesNarrowed, inOrder } = state;
    const interval = { after: state.after ?? callersInterval(state, context).after, through: state.through };
    const narrowed = narrow(interval, { sorted, inOrder, timesNarrowed });
    if (narrowed !== undefined) return request({ ...state, ...narrowed, timesNarrowed: timesNarrowed + 1 });
  }

  if (!state.inOrder) return reduceUnordered(state, keys, context);
  if (last !== undefined) return reduceOrdered(state, keys, context, asked);
  // Rows without an id do not show where they stand.
  if (rows > again) return { state, deliver: 'by_page' };
  return state.through === undefined ? reduceEnd(state, context) : reduceEmpty(state, context);
}

/**
 * Rule 5, a short response in the order of ids. `id[gt]=58&id[lte]=87` returns 59 … 75: it is delivered, and shows every
 * row up to 75, but not up to 87, because the service may have cut a page and hidden the rest of it. So the next
 * interval begins after 75. On a service that hides no rows that costs nothing, because it is empty up to 87.
 */
function reduceOrdered(
  state: IntervalState,
  { rows, again, sorted }: Keys,
  context: ReadContext,
  { after: from, isGap }: NonNullable<Given['asked']> = { ...state, isGap: false },
): Step {
  const { through } = state;
  const [first = 0n] = sorted;
  const last = sorted.at(-1) ?? first;
  // The few rows between two responses show nothing of those that follow.
  const width = isGap ? state.width : widthAfter(state, { from, first, last, rows });
  const isFirst = state.rows === 0;
  const isDense = isGap || rows * 2 >= pageSizeOf(state);
  const read: IntervalState = {
    ...newInterval(withRows(state, rows - again)),
    width,
    after: last,
    leftOutThrough: through === undefined ? 'open' : last < through ? through : undefined,
  };
  const isLastId = last === callersInterval(state, context).through;
  if (isLastId) return { state: end(read), deliver: 'response' };

  // An open interval shows whether anything follows. It is requested where the end is likely: after an open one that was
  // short, after a sparse one, and after the first one of a read that does not know the page size.
  if (through !== undefined && width !== undefined && isDense && !isFirst) {
    return { state: { ...read, through: endAfter(last, width, read, context) }, deliver: 'response' };
  }
  const isProbablyLast = through === undefined || (isFirst && isSingleId(state));
  return {
    state: isProbablyLast ? beforeEnd(read, context) : { ...read, through: undefined },
    deliver: 'response',
  };
}

/**
 * Rule 6, an empty interval. `id[gt]=75&id[lte]=104` returns nothing: the next interval is open, and the one after it may
 * have 116 ids instead of 29.
 */
function reduceEmpty(state: IntervalState, context: ReadContext): Step {
  const { singleKey, through, width } = state;
  // That row was the only one of a wider response, and nothing is before it now.
  if (singleKey !== undefined)
    return request({ ...state, after: through, through: singleKey, singleKey: undefined, timesNarrowed: 0 });
  return request(beforeEnd({ ...state, width: width && widthAfterEmpty(width) }, context));
}

/**
 * Rule 7, an empty response to an open interval. `id[gt]=75` returns nothing: the read ends, if the page behind that was
 * requested before. It is not requested in a list of changes: most syncs find nothing new, and a request for each
 * collection is what that should cost. If the service hides rows, such a list is only likely to be complete.
 */
function reduceEnd(state: IntervalState, context: ReadContext): Step {
  const { after, behindEnd, hidesRows, mayMissRows } = state;
  if (typeof behindEnd === 'bigint') return request(afterHiddenRows(state, behindEnd - 1n));
  if (behindEnd !== undefined) return { state: end(state), deliver: 'response' };
  if (looksBehindEnd(state, context)) {
    // If nothing was read, the first page is not requested again: an empty collection costs two requests, not three.
    const { leftOutThrough } = state;
    return request({
      ...knowledgeOf(state),
      phase: 'behind_end',
      leftOutThrough,
      firstPageRead: after === undefined,
    });
  }
  return { state: end({ ...state, mayMissRows: mayMissRows || hidesRows }), deliver: 'response' };
}

/**
 * Rule 8, the page behind an end. A page of hidden rows looks like the end: `id[gt]=75` is empty although 106 exists. So
 * `_page=2&id[gt]=75` is requested, and then the first page (again): in this order, because a row that is deleted meanwhile
 * moves every later one to an earlier page. If the first one is empty, the read continues after 105 and is likely to be
 * complete, not certain.
 */
function reduceBehindEnd(state: BehindEndState, { rows, sorted: [first] }: Keys, context: ReadContext): Step {
  const isWholeList = rows === 0 && isTiny(state);
  const open: IntervalState = {
    ...newInterval(state),
    leftOutThrough: state.leftOutThrough,
    behindEnd: first ?? (isWholeList ? 'nothing_at_all' : 'nothing'),
  };
  return state.firstPageRead ? reduceEnd(open, context) : request(open);
}

/**
 * Rule 9, a short response in another order. It is taken as complete, and delivered up to the end of its interval. If the
 * service hides rows that may be wrong, so second pages are requested: of the first three short responses, of every
 * eighth after that, of the last one, and of each one once rows were seen there.
 */
function reduceUnordered(state: IntervalState, keys: Keys, context: ReadContext): Step {
  const { shortResponses: count, through, hidesRows } = state;
  if (isSingleId(state)) return completeUnordered(state, keys, 'response', context);

  const isDue = hidesRows || through === undefined || count < FIRST_CHECKED || count % CHECK_EVERY === 0;
  const next = { ...state, shortResponses: count + 1 };
  if (!isDue) return completeUnordered(next, keys, 'response', context);
  return request(secondPageOf(next, { isFull: false }));
}

/**
 * Rule 9, a list of changes in another order that fits into one page. The first page has 76, 59 and 61, which may be all
 * that fits. So `_page=2` is requested, and if it has no row the first page again. If that has these three, they are all: a row
 * of the second page could only have moved to the first one if one of the three had been deleted.
 */
function mayBeWholeList(
  before: IntervalState,
  { rows, sorted }: Keys,
  { onlyChanges }: ReadContext,
): boolean {
  const { after, through, firstPage, inOrder } = before;
  const isFirst = after === undefined && through === undefined && firstPage === undefined;
  return onlyChanges && !inOrder && isFirst && sorted.length === rows;
}

const isFirstPageAgain = ({ firstPage }: IntervalState, { sorted }: Keys): boolean =>
  firstPage?.every((key) => sorted.includes(key)) ?? false;

const secondPageOf = (state: IntervalState, { isFull }: { readonly isFull: boolean }): SecondPageState => {
  const { through, singleKey, timesNarrowed } = state;
  return { ...knowledgeOf(state), phase: 'second_page', through, singleKey, timesNarrowed, isFull };
};

/** The second page of a short response: if it has rows, the service hides some, and short responses prove nothing. */
function reduceSecondPage(
  before: SecondPageState,
  { keys, held }: { readonly keys: Keys; readonly held: Keys },
  context: ReadContext,
): Step {
  const { after, through, singleKey, timesNarrowed } = before;
  const state: IntervalState = { ...newInterval(before), through, singleKey, timesNarrowed };
  if (keys.rows === 0 && before.isFull) return request({ ...state, firstPage: held.sorted });
  if (keys.rows === 0) return completeUnordered(state, held, 'held', context);
  if (!before.isFull && !state.hidesRows) return restart(hiding(state));
  const sorted = ascending([...held.sorted, ...keys.sorted]);
  const narrowed = sorted.length > 0 && narrow({ after, through }, { sorted, inOrder: false, timesNarrowed });
  if (!narrowed) return completeUnordered(state, held, 'held', context);
  return request({ ...state, ...narrowed, timesNarrowed: timesNarrowed + 1 });
}

function completeUnordered(
  state: IntervalState,
  { rows, sorted }: Keys,
  delivered: 'response' | 'held',
  context: ReadContext,
): Step {
  const { through, singleKey, highest } = state;
  const read = withRows(state, rows);
  if (through === undefined) return { state: end(read), deliver: delivered };

  const width = widthAfter(state, { from: state.after, first: sorted[0] ?? through, last: through, rows });
  const isPastAllSeen = highest === undefined || through >= highest;
  const isDense = rows * 2 >= pageSizeOf(state);
  const next = { ...newInterval(read), width, after: through };
  const wide = isPastAllSeen && !isDense ? undefined : endAfter(through, width, next, context);
  const interval = { ...next, through: singleKey === through + 1n ? singleKey : wide };
  return { state: interval, deliver: rows > 0 ? delivered : 'nothing' };
}

/**
 * Rule 10, the end of a read whose pages were very short. Pages of two rows in no order at all look like the order of ids
 * in half of the responses: 3, 7 and then 8, 9 and then 12 prove nothing of a short response, so that read is likely to
 * be complete. A read that fits into one response needs no order: of one row, whose neighbours were requested, of two if
 * the second page of the whole list had none, of more if that response had all of them.
 */
function isPerhapsUnordered(state: ReadState, before: ReadState): boolean {
  const { phase, rows, longest, neighbours } = state;
  if (phase !== 'end') return false;
  if (longest >= SHOWS_ORDER) return rows > longest && neighbours < ORDERED_NEIGHBOURS;
  const isWholeList = before.phase === 'interval' && before.behindEnd === 'nothing_at_all';
  return rows > 1 && !isWholeList;
}

/* What the rules share. */

const request = (state: ReadState): Step => ({ state, deliver: 'nothing' });

const end = (state: ReadState): ReadState => ({ ...knowledgeOf(state), phase: 'end' });

function restart(state: ReadState): Step {
  return { state: restarted(state), deliver: state.rows > 0 ? 'restart' : 'nothing' };
}

function withRows(state: IntervalState, rows: number): IntervalState {
  if (rows === 0) return state;
  const neighbours = state.neighbours + rows - 1;
  return { ...state, rows: state.rows + rows, neighbours, requestsWithoutRows: 0 };
}

const hiding = <State extends ReadState>(state: State): State => ({ ...state, hidesRows: true });

function afterHiddenRows(state: IntervalState, after: Key): IntervalState {
  return { ...newInterval(hiding(state)), mayMissRows: true, after };
}

/**
 * The open interval that is probably the end. The page behind it is requested before its first page, which saves a
 * request. On a service that hides rows a short response says nothing of the end.
 */
function beforeEnd(state: IntervalState, context: ReadContext): ReadState {
  const { leftOutThrough } = state;
  if (state.hidesRows || !looksBehindEnd(state, context)) return { ...newInterval(state), leftOutThrough };
  return { ...knowledgeOf(state), phase: 'behind_end', leftOutThrough, firstPageRead: false };
}

/**
 * Whether the page behind an end is requested: not in a list of changes. Only of two rows, which may be a list in another
 * order, it shows that they are all.
 */
function looksBehindEnd(state: IntervalState, { onlyChanges }: ReadContext): boolean {
  return !onlyChanges || (isTiny(state) && state.rows > 1);
}

/** Whether one response may have had all rows, and is too short to show an order. */
const isTiny = ({ longest, rows }: ReadState): boolean => longest < SHOWS_ORDER && rows <= longest;

const callersInterval = ({ order }: ReadState, { range }: ReadContext): Interval =>
  DIRECTIONS[order].intervalOf(range);

/** Whether no more than one row was read, and none of its neighbours is known. */
const isSingleRow = ({ directionKnown, rows }: ReadState): boolean => !directionKnown && rows <= 1;

/** Whether any response shows the interval completely, because it has room for one id. */
const isSingleId = ({ after, through }: Interval): boolean => after !== undefined && through === after + 1n;

function widthAfter(
  state: IntervalState,
  { from, first, last, rows }: { from: Key | undefined; first: Key; last: Key; rows: number },
): bigint {
  // The gap before the very first row does not show how dense the rows are.
  const span = last - (from ?? first - 1n);
  return nextWidth({ span, rows, pageSize: pageSizeOf(state) }, state.width);
}

/** The end of an interval of this width; undefined if the caller's bounds or the type of the ids end before it. */
export function endAfter(after: Key, width: bigint, state: ReadState, context: ReadContext): Key | undefined {
  const { through } = callersInterval(state, context);
  const end = after + width;
  if (through !== undefined && end >= through) return undefined;
  const most = DIRECTIONS[state.order].keyLimit(state.idLimit);
  if (most === undefined || end <= most) return end;
  return after < most ? most : undefined;
}

/**
 * Rule 1. One row has no direction, but a row before it shows that the direction assumed at the start is wrong: it would
 * have come first. It can also be a new one, so the direction is not turned twice.
 */
function withDirection<State extends ReadState>(state: State, sent: readonly bigint[]): State {
  const { directionKnown, phase, after, order } = state;
  if (directionKnown || sent.length === 0) return state;
  // The only row so far stands on the first page, and these on a later one.
  const followsSingleRow = phase === 'behind_end' && after !== undefined && isSingleRow(state);
  const ids = followsSingleRow ? [DIRECTIONS[order].keyOf(after), ...sent] : sent;
  if (ids.some((id) => id !== ids[0])) {
    return { ...state, directionKnown: true, order: isAscending(ids.toReversed()) ? 'desc' : 'asc' };
  }
  const isBeforeSingle = phase === 'interval' && state.singleKey !== undefined;
  return isBeforeSingle && order === 'asc' ? { ...state, order: 'desc' } : state;
}

/** Rule 2. In another order a response that came short proves nothing. */
function withoutOrder<State extends ReadState>(state: State): State {
  const next = { ...state, inOrder: false };
  return next.phase === 'interval' ? { ...next, leftOutThrough: undefined } : next;
}

/**
 * Rule 3, hidden rows. `id[gt]=58&id[lte]=87` returned 59 … 75, and `id[gt]=75&id[lte]=104` returns 76: it was left out of a
 * response that was short, so the service hides rows (or the row was written meanwhile, which costs only requests).
 */
function withHiddenRows(state: IntervalState, { sorted: [first] }: Keys): IntervalState {
  const { leftOutThrough } = state;
  if (leftOutThrough === undefined || first === undefined) return state;
  const isLeftOut = leftOutThrough === 'open' || first <= leftOutThrough;
  return { ...(isLeftOut ? hiding(state) : state), leftOutThrough: undefined };
}

/** All ids as integers, those of valid rows first; undefined if any is not an integer. A row without an id says nothing. */
function integerIds({ ids, invalid }: ResponseRows): readonly bigint[] | undefined {
  const all = [...ids, ...invalid.flatMap(({ id }) => id ?? [])].map(integerId);
  return all.includes(undefined) ? undefined : (all as readonly bigint[]);
}

const NO_ROWS: ResponseRows = { rows: [], ids: [], invalid: [] };

export function keysOf(response: ResponseRows, { order, after }: ReadState): Keys {
  const keys = (integerIds(response) ?? []).map(DIRECTIONS[order].keyOf);
  const own = after === undefined ? keys : keys.filter((key) => key > after);
  return { rows: response.rows.length, again: keys.length - own.length, sorted: ascending(own) };
}

/** A larger id allows for larger bounds. */
function idLimitAfter({ idLimit }: ReadState, ids: readonly bigint[]): bigint | undefined {
  return ids.reduce((most, id) => (most !== undefined && id > most ? idLimitOf(id) : most), idLimit);
}

function checkBounds(
  interval: Interval,
  ids: readonly bigint[],
  state: ReadState,
  context: ReadContext,
): void {
  const { keyOf } = DIRECTIONS[state.order];
  const isInside = (key: Key) => contains(interval, key) && contains(callersInterval(state, context), key);
  if (!ids.every((id) => isInside(keyOf(id)))) throw outsideBounds(context.facts);
}

function boundsIgnored(requests: number, facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned no complete interval of ids in ${requests} requests: the service ignored the bounds on id.`,
    { ...facts, hint: "Use pagination: 'page'." },
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
