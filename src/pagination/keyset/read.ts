import type { CallFacts } from '../../errors/accounting-error.ts';
import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { BELOW_ALL, type IdRange, integerId, outsideBounds } from '../id-bounds.ts';
import { rowsThenNone } from '../incomplete-list.ts';
import { type IdBounds, MAX_STALLED, type PageQuery, type PageResponse } from '../page.ts';
import { boundsOf, idLimitOf, intervalOf, keyOf, type Order } from './direction.ts';
import {
  ascending,
  contains,
  gapAfter,
  higher,
  type Interval,
  includes,
  isAscending,
  isSame,
  isSingleId,
  joined,
  type Key,
  lower,
  merged,
  overlapOf,
  splitOf,
  widthOf,
  within,
  without,
} from './interval.ts';

/*
 * Keyset pagination as a work list. A read is the list of the intervals of ids that are not proven yet, and three pure
 * functions: `next` says what to request, `reduce` what a response proves, and `delivered` takes the proven rows in the order
 * of keys. What is proven leaves the list. Several requests can be in flight, their responses can come in any order, and
 * their intervals can overlap, because an id is proven once. To read ahead is to have several of them in flight.
 *
 * Nothing is lost, because every id is in exactly one proven range, and one response proved it: that shows one state of the
 * data. A record that exists during the whole read is in it, whatever was deleted, written or moved before and after.
 *
 * The rules of `reduce`, by the number of their tests in `read.test.ts`:
 *
 *   1 direction   The first page has the ids 90 … 61: the read goes down, on negated ids. Later it never turns.
 *   2 order       One response out of order, and the read is in another order for good. What was proven stays proven.
 *   3 full        As long as the longest page: the service perhaps cut it. It proves nothing, and its interval is split.
 *                 Its order proves nothing either: a list by date can begin in the order of ids. If the caller says that
 *                 the service lists by id (`listOrder`), it proves the rows up to its last one.
 *   4 short       It proves its interval. In the order of ids it proves the rows up to its last one, because a service
 *                 that hides rows after cutting a page, or that cuts pages by bytes, shows nothing behind what it cut.
 *                 A row that was shown before and is missing now is requested once more. One that comes only after its
 *                 interval was proven without it was hidden, or is new.
 *   5 no row      It proves nothing, because a service shows none while it rebuilds an index, if a row is known before or
 *                 in its interval. The request then begins at that row, and again at half a page of rows before it. Only
 *                 that row alone proves that nothing follows. If three rows or more were shown and now none is, the read
 *                 fails. Before a bound has shown any row, the service may not understand bounds: the read begins again,
 *                 and one of the missing rows ends it (an error).
 *   6 end         A request without an end begins at the last row, and shows it alone: `_page=2` is requested, because a
 *                 page of hidden rows looks like the end. If it has no other rows, that is the end; a list of changes ends
 *                 without it.
 *   7 stalled     1,000 responses in a row that prove nothing, or a row outside of its interval: FilterIgnoredError. An id
 *                 that is not an integer cannot be compared with a bound: the list is read by page.
 *
 * A collection with the ids 1 to 75 is read so, 30 per page:
 *
 *   request                   response   rule
 *   _page=1                   1 … 30     3
 *   id[lte]=29                1 … 29     4: 29 ids cannot fill a page
 *   id[gt]=29&id[lte]=58      30 … 58    4
 *   id[gt]=58&id[lte]=87      59 … 75    4: far before 87, so the end is near, and the next interval has none
 *   id[gt]=74                 75         6
 *   _page=2&id[gt]=74         (empty)    6
 *
 * To change a rule, change its branch here, its test and *What is proven* in `guides/keyset-pagination.md`.
 */

/** What of a response matters here: its rows, and the ids of the valid and of the invalid ones. */
export type ResponseRows = Pick<PageResponse<unknown>, 'rows' | 'ids' | 'invalid'>;

/** What stays the same during a read. */
export interface ReadContext {
  /** The caller's own bounds. */
  readonly bounds: IdBounds | undefined;
  /** The range that they leave. */
  readonly range: IdRange;
  /** Whether only changes are listed. They are usually few, so no request is spent on what is behind an empty end. */
  readonly onlyChanges: boolean;
  /** In which order the caller says that the service lists. */
  readonly listOrder: 'any' | 'id';
  readonly facts: CallFacts;
}

/** A request: its interval, and the page of it. Each is another object, by which its response is recognised. */
export interface Ask extends Interval {
  readonly page?: 1 | 2;
}

/** An interval that is not proven. */
interface Work extends Interval {
  /** The request in flight. */
  readonly ask: Ask | undefined;
  /** How often a full response split it. Then it is requested as it is. */
  readonly splits: number;
  /** How often a response was not believed, because it lacked known rows: see `beginOf`. */
  readonly doubts: 0 | 1 | 2;
  /** The service showed a row before it, so a response without rows is believed. */
  readonly isPlain: boolean;
  /** A short response without an end showed the rows before it. */
  readonly followsShort: boolean;
  /** Its short response, which waits for the second page, and the keys of that response. */
  readonly held: { readonly ask: Ask; readonly keys: readonly Key[] } | undefined;
}

const IDLE = {
  ask: undefined,
  splits: 0,
  doubts: 0,
  isPlain: false,
  followsShort: false,
  held: undefined,
} as const;

/** A range that is proven and not delivered yet. */
export interface Proven extends Interval {
  /** The request whose response proves it. */
  readonly ask: Ask;
  /** Its rows, each once, ascending. */
  readonly keys: readonly Key[];
}

/** What a resume token holds beside the position. */
export interface Learned {
  readonly order: Order;
  /** Every response was in the order of ids. */
  readonly inOrder: boolean;
  /** A page of hidden rows was found: there may be others. */
  readonly hidesPages: boolean;
  /** Rows that were shown were missing later, twice: they were deleted, or are hidden now. */
  readonly lostRows: boolean;
  /** A short response was followed by more rows: the service cuts pages in another way than by a number of rows. */
  readonly cutsShort: boolean;
  /** Three rows or more were shown, which are seldom deleted at once. */
  readonly hasFew: boolean;
  /** A request with a bound had rows: the service understands bounds. */
  readonly boundsApply: boolean;
  /** A response had rows that are not in order of `updatedAt`, so the list is not sorted by it. */
  readonly notByDate: boolean;
  /** Ids per row. */
  readonly gap: number | undefined;
  readonly highest: Key | undefined;
  /** No id above it is requested as a bound. */
  readonly idLimit: bigint;
}

/** Plain data. `work` and `proven` are ascending and disjoint, and together they are everything behind `after`. */
export interface ReadState extends Learned {
  /** The longest response. It is not resumed: pages may have another size by then. */
  readonly pageSize: number;
  /** The last response ended far before its interval, so the end is probably near. */
  readonly isNearEnd: boolean;
  /** How many intervals are worth requesting at once. */
  readonly depth: number;
  /** Responses in a row that proved nothing. */
  readonly stalled: number;
  /** Rows that an interval did not show which had them before (rule 5). */
  readonly missing: readonly Key[];
  /** Pages have different lengths, so a row can be too long to follow another one in a response. */
  readonly varies: boolean;
  /**
   * Ascending: the rows that were shown and are not proven, and the last ones that are, about a page of them. Where they are
   * requested, a response must show them.
   */
  readonly known: readonly Key[];
  /** Everything up to here was delivered. */
  readonly after: Key;
  readonly work: readonly Work[];
  readonly proven: readonly Proven[];
}

const NOTHING_LEARNED: Learned = {
  order: 'asc',
  inOrder: true,
  hidesPages: false,
  lostRows: false,
  cutsShort: false,
  hasFew: false,
  boundsApply: false,
  notByDate: false,
  gap: undefined,
  highest: undefined,
  idLimit: idLimitOf(BELOW_ALL),
};

/** Where an earlier read ended: everything up to `after` was delivered, and `row` was the last one. */
export interface ResumedAt {
  readonly after?: Key | undefined;
  readonly row?: Key | undefined;
}

/** A read of everything, or of everything behind `after`. */
export function startOf(
  context: ReadContext,
  learned: Learned = NOTHING_LEARNED,
  { after, row }: ResumedAt = {},
): ReadState {
  const all = callersInterval(learned.order, context);
  const rest = { ...all, after: after ?? all.after };
  const { highest } = learned;
  // An earlier read was shown the highest row, perhaps ahead of what it delivered.
  const isAhead = highest !== undefined && contains(rest, highest);
  return {
    ...learned,
    pageSize: 0,
    isNearEnd: true,
    depth: 1,
    stalled: 0,
    missing: [],
    varies: false,
    known: [...(row === undefined ? [] : [row]), ...(isAhead ? [highest] : [])],
    after: rest.after,
    // Even if no id is left: the service says so.
    work: [{ ...rest, ...IDLE }],
    proven: [],
  };
}

export const isEnded = ({ work, proven }: ReadState): boolean => work.length === 0 && proven.length === 0;

/** The request of an interval. */
export function queryOf({ page, ...interval }: Ask, state: ReadState, context: ReadContext): PageQuery {
  const { order, idLimit } = state;
  const id = boundsOf(interval, {
    caller: context.bounds,
    all: callersInterval(order, context),
    order,
    idLimit,
  });
  return page === undefined ? { id } : { page, id };
}

/**
 * What to request now, with at most `most` responses in flight or waiting for one before them. The first interval is always
 * requested if nothing can be delivered, because the others wait for it.
 */
export function next(
  state: ReadState,
  most: number,
  context: ReadContext,
): { readonly state: ReadState; readonly asks: readonly Ask[] } {
  // With full pages nothing is left to request ahead.
  const depth = Math.min(isSortedById(state, context) ? 1 : state.depth, most);
  const inFlight = [...new Set(state.work.flatMap(({ ask }) => ask ?? []))];
  let room = depth - inFlight.length - state.proven.length;
  const isAwaited = inFlight.length < most && state.proven[0]?.after !== state.after;
  const asks: Ask[] = [];
  const work: Work[] = [];
  const left = [...state.work];
  for (let item = left.shift(); item !== undefined; item = left.shift()) {
    const range: Interval = item;
    const before = work.at(-1);
    const isCovered = [...inFlight, ...asks].some((ask) => ask.page !== 2 && includes(ask, range));
    // The row that its request begins at is not known yet.
    const waits = item.doubts > 0 && before !== undefined && rowsBefore(item, before, state).length === 0;
    const isFirst = isAwaited && before === undefined;
    if (item.ask !== undefined || isCovered || waits || (room <= 0 && !isFirst)) {
      work.push(item);
      continue;
    }
    const ask = askFor(item, before, state, context);
    const through = lower(ask.through, item.through);
    work.push({ ...item, through, ask });
    if (through < item.through) left.unshift({ ...item, ...IDLE, after: through });
    asks.push(ask);
    room -= 1;
  }
  return { state: { ...state, work, depth }, asks };
}

/** How an interval, or its begin, is requested; `before` is the one before it. */
function askFor(item: Work, before: Work | undefined, state: ReadState, context: ReadContext): Ask {
  const { inOrder, gap, pageSize, isNearEnd, highest, idLimit, order } = state;
  const { after, through } = item;
  if (item.held !== undefined) return { after: item.held.ask.after, through: item.held.ask.through, page: 2 };

  // With its number, so that the read can continue with page 2: some services list everything without a page number.
  const all = callersInterval(order, context);
  if (highest === undefined && isSame(item, all)) return { after, through, page: 1 };
  const isWhole = item.splits > 0 || gap === undefined || isSortedById(state, context);
  const isOpen = through === all.through && (isWhole || isNearEnd);
  // Full pages from row to row need no proof between them.
  const isEnd = isOpen && !isSortedById(state, context);
  const begin = beginOf(item, { isOpen, isEnd, before, state, all });
  if (isOpen || isWhole) return { after: begin, through };

  // The last row of an interval in flight is rarely its last id: begin a little before its end.
  const overlaps = inOrder && before?.through === after && before.ask !== undefined && before.splits === 0;
  const from = overlaps ? higher(before.ask.after, after - overlapOf(gap, pageSize)) : begin;
  // From a known row far before it, all of the width is behind.
  const end = (overlaps ? from : after) + widthOf(gap, pageSize);
  if (end >= through) {
    // Up to a row that was seen: the response then ends with it, so that nothing is left in between.
    const following = inOrder ? state.proven.find((each) => each.after === through) : undefined;
    return { after: from, through: following?.keys[0] ?? through };
  }
  if (order === 'desc' || end <= idLimit) return { after: from, through: end };
  return { after: from, through: after < idLimit ? idLimit : through };
}

/** So many rows are seldom deleted between two responses. */
const FEW = 3;

/** The known rows before an interval, if everything between them and it is proven. `before`: the interval before it. */
function rowsBefore(
  { after }: Interval,
  before: Interval | undefined,
  { known }: Pick<ReadState, 'known'>,
): readonly Key[] {
  return known.filter((key) => key <= after && (before === undefined || key > before.through));
}

interface BeginOptions {
  /** Whether it is requested without an end, and whether a response can show that nothing follows. */
  readonly isOpen: boolean;
  readonly isEnd: boolean;
  readonly before: Interval | undefined;
  readonly state: ReadState;
  readonly all: Interval;
}

/**
 * Rule 5: where the request of an interval begins, so that its response must show a row. Without doubts that is needed only
 * at an end. A row that was seen in the interval works too.
 */
function beginOf(item: Work, { isOpen, isEnd, before, state, all }: BeginOptions): Key {
  const { after, doubts, isPlain } = item;
  if (isPlain || (doubts === 0 && !isEnd)) return after;

  const rows = rowsBefore(item, before, state);
  if (doubts === 2) {
    const row = rows.at(-Math.max(FEW, Math.ceil(state.pageSize / 2))) ?? rows[0];
    const isEnough = rows.length >= FEW || before !== undefined || !isOpen;
    return row !== undefined && isEnough ? row - 1n : isOpen ? all.after : after;
  }
  const isSeen = state.known.some((key) => contains(item, key));
  const row = rows.at(-1);
  return isSeen || row === undefined ? after : row - 1n;
}

/** What a response proves; undefined if an id is not an integer, so that the list can be read only by page. */
export function reduce(
  before: ReadState,
  ask: Ask,
  response: ResponseRows,
  context: ReadContext,
): ReadState | undefined {
  const { ids, isInteger } = integerIds(response);
  if (!isInteger) {
    // A service that compares ids as text shows rows outside of the interval: what was delivered by its bounds may have gaps.
    const isInside = (id: bigint) => contains(ask, keyOf(id, before.order));
    if (!ids.every(isInside)) throw outsideBounds(context.facts);
    return undefined;
  }

  // It is not known where an invalid row stood among the others, so it does not count for the order.
  const sent = ids.slice(0, response.ids.length);
  if (isDescending(before, ask, sent)) {
    const start = startOf(context, { ...before, order: 'desc' });
    const turned: Ask = callersInterval('desc', context);
    const work = start.work.map((item) => ({ ...item, ask: turned }));
    return reduce({ ...start, work }, turned, response, context);
  }

  const keys = ids.map((id) => keyOf(id, before.order));
  if (!keys.every((key) => contains(ask, key))) throw outsideBounds(context.facts);
  const sorted = ascending(keys);
  const last = sorted.at(-1);
  const rows = response.rows.length;
  const isSecondPage = ask.page === 2;
  const all = callersInterval(before.order, context);
  const state: ReadState = {
    ...before,
    inOrder: before.inOrder && isAscending(sent.map((id) => keyOf(id, before.order))),
    pageSize: isSecondPage ? before.pageSize : Math.max(before.pageSize, rows),
    varies: before.varies || (!isSecondPage && before.pageSize > 0 && rows > before.pageSize),
    highest: last === undefined ? before.highest : higher(before.highest ?? last, last),
    idLimit: ids.reduce((limit, id) => (id > limit ? idLimitOf(id) : limit), before.idLimit),
    lostRows: before.lostRows || showsLeftOut(before, sorted),
    hasFew: before.hasFew || merged(before.known, sorted).length >= FEW,
    notByDate: before.notByDate || (context.listOrder === 'id' && !isByDate(response.rows)),
    boundsApply: before.boundsApply || (rows > 0 && !isSame(ask, all)),
    stalled: before.stalled + 1,
  };
  if (state.stalled >= MAX_STALLED || sorted.some((key) => state.missing.includes(key)))
    throw boundsIgnored(context.facts, state.stalled < MAX_STALLED);

  const received: Received = { ask, rows, sorted, isOpen: ask.through === all.through, context };
  const item = before.work.find((each) => each.ask === ask);
  // Others proved its interval meanwhile.
  if (item === undefined) return last === undefined ? state : afterShort(state, received);
  if (item.held !== undefined) return afterSecondPage(state, item, item.held, sorted);
  if (last === undefined) return afterNothing(state, item, received);
  if (isKnownRowAlone(state, item, received)) return afterKnownRow(state, item, received);
  if (last <= item.after) return afterRowsBefore(state, item, received);

  const isFull = rows >= state.pageSize && !isSingleId(ask);
  // No other row fits into such a page, but none has an id before this one either.
  if (isFull && sorted.length === 1 && last === ask.after + 1n) {
    return prove(afterRow(state, last), ask, { after: ask.after, through: last }, { sorted });
  }
  if (isFull && !isSortedById(state, context)) return split(state, ask, received);

  const missing = isFull ? [] : missingFrom(state, received);
  if (missing.length > 0 && item.doubts === 0) return doubted(learn(state, received), item, { doubts: 1 });
  const found = { ...state, lostRows: state.lostRows || missing.length > 0 };
  const isEnd = received.isOpen && !isFull && !isSingleId(ask);
  return isEnd && !state.inOrder ? held(found, item, { ask, keys: sorted }) : afterShort(found, received);
}

/** A response, and the request for it. */
interface Received {
  readonly ask: Ask;
  readonly rows: number;
  /** Its keys, each once, ascending. */
  readonly sorted: readonly Key[];
  /** Whether it was requested without an end. */
  readonly isOpen: boolean;
  readonly context: ReadContext;
}

/** Rule 4. */
function afterShort(state: ReadState, received: Received): ReadState {
  const { ask, rows, sorted, isOpen } = received;
  const last = sorted.at(-1) ?? ask.after;
  const isUpToLast = state.inOrder && !isSingleId(ask);
  const isLeft = (key: Key) => state.work.some((each) => contains(each, key));
  const followsShort = state.work.find((each) => each.ask === ask)?.followsShort === true;
  const fresh = () => sorted.filter((key) => !state.known.includes(key) && isLeft(key));
  const isCut =
    isUpToLast &&
    // One row more may have been written meanwhile.
    ((followsShort && fresh().length > 1) ||
      state.known.some((key) => key > last && contains(ask, key) && isLeft(key)));
  const found = { ...state, cutsShort: state.cutsShort || isCut, varies: state.varies || isCut };
  const range = { after: ask.after, through: isUpToLast ? last : ask.through };
  // Whether it was the end is not shown yet.
  const isEnd = isUpToLast && isOpen && rows < state.pageSize;
  const left = isEnd ? ({ doubts: 1, followsShort: true } as const) : {};
  return prove(learn(found, received), ask, range, { sorted, left });
}

/** Whether a row comes only after its interval was proven without it. Before the first known row that cannot be told. */
function showsLeftOut({ known, work }: ReadState, sorted: readonly Key[]): boolean {
  const [first] = known;
  const proven = sorted.filter(
    (key) => first !== undefined && key > first && !work.some((each) => contains(each, key)),
  );
  return proven.some((key) => !known.includes(key));
}

/** Rows that were shown, and that a response to their interval lacks. In the order of ids, it may be cut before them. */
function missingFrom({ known, work, inOrder }: ReadState, { ask, sorted }: Received): readonly Key[] {
  const last = inOrder ? (sorted.at(-1) ?? ask.after) : ask.through;
  const expected = known.filter(
    (key) => contains(ask, key) && key <= last && work.some((each) => contains(each, key)),
  );
  if (expected.length === 0) return expected;
  const shown = new Set(sorted);
  return expected.filter((key) => !shown.has(key));
}

/** Whether the response has the one known row of its request, and no row before it was possible or is probable. */
function isKnownRowAlone(
  { known, pageSize }: ReadState,
  { after }: Work,
  { ask, rows, sorted, isOpen }: Received,
): boolean {
  if (sorted.length !== 1) return false;
  const [row, ...others] = known.filter((key) => contains(ask, key));
  if (row === undefined || row !== sorted[0] || others.length > 0) return false;
  if (row > after && isSingleId(ask)) return false;
  // A page of hidden rows before it is found by the second page.
  return row === ask.after + 1n || (isOpen && rows < pageSize);
}

/** A page of one row whose id follows that of the row before it: the next one probably does so too, so its id is requested alone. */
function afterRow(state: ReadState, row: Key): ReadState {
  return state.known.includes(row - 1n) ? { ...state, isNearEnd: false, gap: 1 } : state;
}

/** Rules 5 and 6: the response is a known row alone, so nothing follows it. */
function afterKnownRow(state: ReadState, item: Work, received: Received): ReadState {
  const { ask, rows, sorted, isOpen, context } = received;
  const [row = ask.after] = sorted;
  // Perhaps no other row fits into the page.
  if (rows >= state.pageSize || (state.varies && (isOpen || state.inOrder))) {
    const learned = row > item.after ? afterRow(state, row) : state;
    return prove(learned, ask, { after: ask.after, through: row }, { sorted, left: { isPlain: true } });
  }
  const isEnd = context.onlyChanges && row === ask.after + 1n;
  if (isOpen && !isEnd) return held(state, item, { ask, keys: sorted });
  const own = sorted.filter((key) => key > item.after);
  const learned = learn(state, { ...received, rows: own.length, sorted: own });
  // A response that is cut by bytes can end at a row of the interval. In another order it looks whole anyway.
  const isUpToRow = own.length > 0 && !isOpen && state.inOrder;
  const through = isUpToRow ? row : ask.through;
  return prove(learned, ask, { after: item.after, through }, { sorted });
}

/** Rule 5: the response has only rows before its interval. The next request begins at the last one of them. */
function afterRowsBefore(state: ReadState, item: Work, received: Received): ReadState {
  const { ask, sorted, isOpen, context } = received;
  const last = sorted.at(-1) ?? ask.after;
  // Those behind it were deleted.
  const gone = state.known.filter((key) => key > last && contains(ask, key));
  const known = merged(
    state.known.filter((key) => !gone.includes(key)),
    sorted,
  );
  const isWhole = ask.after === callersInterval(state.order, context).after;
  const lostRows = state.lostRows || isWhole || gone.some((key) => key > item.after);
  const learned = isOpen ? state : learn(state, { ...received, rows: 0, sorted: [] });
  // The row before the interval was shown, with others, after it was not.
  const isShown = item.doubts === 2 && gone.length === 0;
  const isPlain = isWhole || isShown || !state.inOrder;
  return doubted({ ...learned, known, lostRows }, item, isPlain ? { isPlain } : { doubts: 1 });
}

/** Rule 5: the response has no rows. */
function afterNothing(state: ReadState, item: Work, received: Received): ReadState {
  const { ask, isOpen, context } = received;
  const own = { after: item.after, through: ask.through };
  const expected = state.known.filter((key) => contains(ask, key));
  const [first] = expected;
  const learned = isOpen ? state : learn(state, received);
  // What lies before them is given up, after the row before it was shown, and those behind it.
  if (item.isPlain && first !== undefined && first - 1n > item.after) {
    return prove(learned, ask, { ...own, through: first - 1n }, { sorted: [] });
  }

  const again = nextDoubt(state, item, { ask, isOpen, expected });
  const isUnsure = again !== undefined && item.doubts > 0;
  if (isUnsure && expected.length > 0 && !state.boundsApply) return beginAgain(state, expected, context);
  if (again !== undefined) return doubted(learned, item, again);

  const all = callersInterval(state.order, context);
  const isWhole = ask.after === all.after;
  const isResumed = isWhole && state.pageSize === 0 && state.hasFew && expected.length > 0;
  const missing = [...state.missing.filter((key) => contains(ask, key)), ...expected];
  const wasAsked = item.doubts === 2 || state.missing.length > 0;
  const isNone = isWhole && state.hasFew && state.missing.length > 0;
  if (wasAsked && (missing.length >= FEW || isResumed || isNone))
    throw rowsThenNone(NONE_OF_THEM, context.facts, isResumed);

  const lostRows = state.lostRows || missing.length > 0;
  const found = { ...learned, lostRows, known: state.known.filter((key) => !expected.includes(key)) };
  if (isOpen && !context.onlyChanges) return held(found, item, { ask, keys: [] });
  return prove(found, ask, own, { sorted: [] });
}

const NONE_OF_THEM = 'records, and then none of them, by any bound on id';

/** Ids per row up to which an interval without rows is not expected. */
const DENSE = 1.2;

/** How an interval is requested again after a response without rows; undefined if the response is believed. */
function nextDoubt(
  state: ReadState,
  item: Work,
  { ask, isOpen, expected }: Pick<Received, 'ask' | 'isOpen'> & { readonly expected: readonly Key[] },
): Pick<Work, 'doubts'> | undefined {
  const { inOrder, pageSize, boundsApply, work } = state;
  // Pages of one row show no order, and each doubt costs a request.
  if (!isOpen && boundsApply && pageSize < (inOrder ? 2 : FEW)) return undefined;
  if (expected.length > 0) {
    if (item.doubts === 2) return undefined;
    return { doubts: item.doubts === 0 && ask.after === item.after ? 1 : 2 };
  }
  const before = work[work.indexOf(item) - 1];
  const hasRow = before !== undefined || rowsBefore(item, undefined, state).length > 0;
  const isSuspicious = inOrder || isOpen || (state.gap ?? 0) < DENSE;
  return hasRow && isSuspicious && !item.isPlain ? { doubts: 1 } : undefined;
}

/** A response is not believed: its interval is requested again. */
function doubted(state: ReadState, { ask }: Work, how: Pick<Partial<Work>, 'doubts' | 'isPlain'>): ReadState {
  const work = state.work.map((each) => (each.ask === ask ? { ...each, ask: undefined, ...how } : each));
  return { ...state, work: joinedWork(work) };
}

/** Rule 6: the second page of the request comes next. */
function held(state: ReadState, { ask }: Work, response: NonNullable<Work['held']>): ReadState {
  const work = state.work.map((each) =>
    each.ask === ask ? { ...each, ask: undefined, held: response } : each,
  );
  return { ...state, work };
}

/** Whether the caller says that the service lists by ascending id, and nothing that was read contradicts it. */
export function isSortedById(
  { order, inOrder, notByDate, boundsApply }: ReadState,
  { listOrder }: ReadContext,
): boolean {
  return listOrder === 'id' && order === 'asc' && inOrder && notByDate && boundsApply;
}

/** Whether rows can be sorted by `updatedAt`. Without it they are not. */
function isByDate(rows: readonly unknown[]): boolean {
  const times = rows.map((row) => Date.parse(String((row as { updatedAt?: unknown } | null)?.updatedAt)));
  return times.every((time, index) => index === 0 || time >= (times[index - 1] ?? time));
}

/** Rule 1: two rows of the very first page show the direction. Nothing was proven by then. */
function isDescending({ pageSize, order, work }: ReadState, ask: Ask, ids: readonly bigint[]): boolean {
  const isFirst = pageSize === 0 && order === 'asc' && ask.page === 1 && work.length === 1;
  return isFirst && ids.some((id) => id !== ids[0]) && isAscending(ids.toReversed());
}

/** Rule 3: the interval becomes its begin, which is requested as it is, and the rest. */
function split(state: ReadState, ask: Ask, { rows, sorted }: Pick<Received, 'rows' | 'sorted'>): ReadState {
  const splits = (state.work.find((each) => each.ask === ask)?.splits ?? 0) + 1;
  const parts = splitOf(ask, { sorted, inOrder: state.inOrder, splits: splits - 1 });
  const cut = parts.at(-1)?.through ?? ask.after;
  const work = state.work.flatMap((each) => {
    if (each.ask !== ask) return [each];
    const begin = parts.flatMap((part) => within([{ ...each, ...IDLE, splits }], part));
    // If almost all of it was proven before, it does not show where to cut the rest.
    const rest = { ...each, ...IDLE, splits: begin.length === 0 ? splits : 0 };
    return [...begin, ...without([rest], { after: ask.after, through: cut })];
  });
  const [first = 0n] = sorted;
  // In another order there may be more rows than these between the first and the last one.
  const seen = gapAfter(undefined, (sorted.at(-1) ?? first) - first + 1n, rows);
  const gap = sorted.length > 1 && !state.inOrder ? Math.min(state.gap ?? seen, seen) : state.gap;
  return { ...state, gap, known: merged(state.known, sorted), work: joinedWork(work) };
}

/** Rule 5: begins again behind what was delivered. A row that is missing now and comes again was not deleted. */
function beginAgain(state: ReadState, missing: readonly Key[], context: ReadContext): ReadState {
  const { order, inOrder, idLimit, hasFew, pageSize, stalled, after } = state;
  const learned = { ...NOTHING_LEARNED, order, inOrder, idLimit, hasFew, lostRows: true };
  const start = startOf(context, learned, { after });
  return { ...start, pageSize, stalled, missing };
}

/** Rule 6: the second page of a short response without an end. */
function afterSecondPage(
  state: ReadState,
  { after }: Work,
  { ask, keys }: NonNullable<Work['held']>,
  second: readonly Key[],
): ReadState {
  const others = second.filter((key) => !keys.includes(key));
  const [first] = others;
  if (first === undefined) return prove(state, ask, { after, through: ask.through }, { sorted: keys });

  const found = { ...state, hidesPages: true };
  if (state.inOrder) {
    // Before what lies between is given up, it is requested once more.
    const range = { after, through: higher(after, keys.at(-1) ?? after) };
    const proved = prove(found, ask, range, { sorted: keys, left: { isPlain: true } });
    return { ...proved, known: merged(proved.known, others) };
  }
  const work = state.work.map((each) => (each.held?.ask === ask ? { ...each, ...IDLE, ask } : each));
  return split({ ...found, work }, ask, { rows: keys.length, sorted: ascending([...keys, ...others]) });
}

interface Proof {
  /** The rows of the response, each once, ascending. */
  readonly sorted: readonly Key[];
  /** How what is left of the interval is requested. */
  readonly left?: Pick<Partial<Work>, 'doubts' | 'isPlain' | 'followsShort'>;
}

/** Takes a proven range out of the list. What is left of the interval is to be requested. */
function prove(state: ReadState, ask: Ask, range: Interval, { sorted, left = {} }: Proof): ReadState {
  const ranges: readonly Interval[] = within(state.work, range).map(({ after, through }) => ({
    after,
    through,
  }));
  const parts = joined(ranges, () => true).map(
    (part): Proven => ({ ...part, ask, keys: sorted.filter((key) => contains(part, key)) }),
  );
  const work = without(state.work, range).map((each) =>
    each.ask === ask || each.held?.ask === ask ? { ...each, ...IDLE, ...left } : each,
  );
  const proven = [...state.proven, ...parts].sort((a, b) => (a.after < b.after ? -1 : 1));
  const known = [
    ...state.known.filter((key) => key <= range.after),
    ...sorted.filter((key) => contains(range, key)),
    ...state.known.filter((key) => key > range.through),
  ];
  const delivered = known.findLastIndex((key) => key <= state.after) + 1;
  // Of those that were delivered, a page.
  const unneeded = Math.max(0, delivered - Math.max(state.pageSize, FEW));
  return {
    ...state,
    known: known.slice(unneeded),
    stalled: parts.length > 0 ? 0 : state.stalled,
    work: joinedWork(work),
    proven,
  };
}

/** So many mean gaps without a row at the end of an interval are seldom chance: 0.25 % (e^-6) of random gaps are as long. */
const GAPS_BEFORE_END = 6;

/** What an interval shows of those that follow: how dense the ids are, and whether it pays to read ahead. */
function learn(state: ReadState, { ask, rows, sorted, context }: Received): ReadState {
  const { pageSize, inOrder, highest, gap } = state;
  const splits = state.work.find((each) => each.ask === ask)?.splits ?? 0;
  // What was left between two responses shows nothing of what follows.
  const width = gap === undefined ? 0n : widthOf(gap, pageSize);
  if (splits === 0 && (ask.through - ask.after) * 2n < width) return state;

  const [first = ask.through] = sorted;
  const last = sorted.at(-1) ?? ask.after;
  const isFirst = ask.after === callersInterval(state.order, context).after;
  // In another order rows that were seen behind it are probably not the last ones.
  const isBehindAll = inOrder || highest === undefined || ask.through >= highest;
  const endsEarly = rows === 0 ? isBehindAll : Number(ask.through - last) > GAPS_BEFORE_END * (gap ?? 0);
  const isUnsure = isFirst || gap === undefined || endsEarly;
  // The half of a first page that is a whole response shows that the other half is probably all that follows.
  const isNearEnd = (isUnsure && isBehindAll) || (isFirst && splits <= 1);
  const depth = isUnsure ? 1 : splits > 0 ? state.depth : state.depth * 2;
  if (rows === 0 && splits > 0) return { ...state, isNearEnd, depth };

  // The ids before the very first row show nothing.
  const from = isFirst && rows > 0 ? first - 1n : ask.after;
  const span = (inOrder && rows > 0 ? last : ask.through) - from;
  return { ...state, isNearEnd, depth, gap: gapAfter(splits > 1 ? undefined : gap, span, rows) };
}

/** Takes what may be delivered: in the order of keys, as soon as everything before it was. */
export function delivered(
  state: ReadState,
): { readonly state: ReadState; readonly part: Proven } | undefined {
  const [part, ...others] = state.proven;
  if (part === undefined || part.after > state.after) return undefined;
  return { state: { ...state, after: part.through, proven: others }, part };
}

/** Neighbours that are not requested become one, unless a split cut them. It is doubted as the first of them is. */
function joinedWork(work: readonly Work[]): readonly Work[] {
  const isIdle = ({ ask, held, isPlain }: Work) => ask === undefined && held === undefined && !isPlain;
  return joined(
    work,
    (before, each) => isIdle(before) && isIdle(each) && before.splits === 0,
    ({ doubts, followsShort }, each) => ({
      ...each,
      doubts: doubts > each.doubts ? doubts : each.doubts,
      followsShort,
    }),
  );
}

const callersInterval = (order: Order, { range }: ReadContext): Interval => intervalOf(range, order);

/**
 * The ids that are integers, those of valid rows first, and whether all are: `abc` or `007` cannot be compared with a bound.
 */
function integerIds({ ids, invalid }: ResponseRows): {
  readonly ids: readonly bigint[];
  readonly isInteger: boolean;
} {
  const all = [...ids, ...invalid.map(({ id }) => id ?? '')].map(integerId);
  return { ids: all.filter((id) => id !== undefined), isInteger: !all.includes(undefined) };
}

const USE_PAGES = "Use pagination: 'page'.";

function boundsIgnored(facts: CallFacts, retryable: boolean): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned no complete interval of ids: the service ignored the bounds on id.`,
    { ...facts, retryable, hint: retryable ? `Read again. If this repeats: ${USE_PAGES}` : USE_PAGES },
  );
}
