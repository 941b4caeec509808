import type { CallFacts } from '../../errors/accounting-error.ts';
import { FilterIgnoredError } from '../../errors/filter-ignored-error.ts';
import { BELOW_ALL, type IdRange, integerId, outsideBounds } from '../id-bounds.ts';
import { type IdBounds, MAX_FRUITLESS, type PageQuery, type PageResponse } from '../page.ts';
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
 *                 that hides rows after cutting a page shortens a page, and shows nothing behind what it cut.
 *   5 empty       It proves its interval, unless that had rows before and no bound has shown any row yet: the service
 *                 may not understand the bounds. Then the read begins again, and one of these rows ends it (an error).
 *   6 end         A short response without an end: `_page=2` is requested, because a page of hidden rows looks like the
 *                 end. If it has no other rows, that is the end. A list of changes ends with an empty response.
 *   7 fruitless   1,000 responses in a row that prove nothing, or a row outside of its interval: FilterIgnoredError. An id
 *                 that is not an integer cannot be compared with a bound: the list is read by page.
 *
 * A collection with the ids 1 to 75 is read so, 30 per page:
 *
 *   request                   response   rule
 *   _page=1                   1 … 30     3
 *   id[lte]=29                1 … 29     4: 29 ids cannot fill a page
 *   id[gt]=29&id[lte]=58      30 … 58    4
 *   id[gt]=58&id[lte]=87      59 … 75    4: far before 87, so the end is near, and the next interval has none
 *   id[gt]=75                 (empty)    6
 *   _page=2&id[gt]=75         (empty)    6
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
  /** Its rows in the full response that split it. */
  readonly seen: readonly Key[];
  /** Its short response, which waits for the second page, and the keys of that response. */
  readonly held: { readonly ask: Ask; readonly keys: readonly Key[] } | undefined;
}

const IDLE = { ask: undefined, splits: 0, seen: [], held: undefined } as const;

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
  readonly mayMissRows: boolean;
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
  readonly fruitless: number;
  /** Rows that an interval did not show which had them before (rule 5). */
  readonly missing: readonly Key[];
  /** Everything up to here was delivered. */
  readonly after: Key;
  readonly work: readonly Work[];
  readonly proven: readonly Proven[];
}

const NOTHING_LEARNED: Learned = {
  order: 'asc',
  inOrder: true,
  mayMissRows: false,
  boundsApply: false,
  notByDate: false,
  gap: undefined,
  highest: undefined,
  idLimit: idLimitOf(BELOW_ALL),
};

/** A read of everything, or of everything behind `after`. */
export function startOf(context: ReadContext, learned: Learned = NOTHING_LEARNED, after?: Key): ReadState {
  const all = callersInterval(learned.order, context);
  const rest = { ...all, after: after ?? all.after };
  return {
    ...learned,
    pageSize: 0,
    isNearEnd: true,
    depth: 1,
    fruitless: 0,
    missing: [],
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
    const isCovered = [...inFlight, ...asks].some((ask) => ask.page !== 2 && includes(ask, range));
    const isFirst = isAwaited && work.length === 0;
    if (item.ask !== undefined || isCovered || (room <= 0 && !isFirst)) {
      work.push(item);
      continue;
    }
    const ask = askFor(item, work.at(-1), state, context);
    const through = lower(ask.through, item.through);
    work.push({ ...item, through, ask });
    if (through < item.through) left.unshift({ ...item, after: through });
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
  if (item.splits > 0 || gap === undefined || isSortedById(state, context)) return { after, through };
  if (through === all.through && isNearEnd) return { after, through };

  // The last row of an interval in flight is rarely its last id: begin a little before its end.
  const overlaps = inOrder && before?.through === after && before.ask !== undefined && before.splits === 0;
  const from = overlaps ? higher(before.ask.after, after - overlapOf(gap, pageSize)) : after;
  const end = from + widthOf(gap, pageSize);
  if (end >= through) {
    // Up to a row that was seen: the response then ends with it, so that nothing is left in between.
    const following = inOrder ? state.proven.find((each) => each.after === through) : undefined;
    return { after: from, through: following?.keys[0] ?? through };
  }
  if (order === 'desc' || end <= idLimit) return { after: from, through: end };
  return { after: from, through: after < idLimit ? idLimit : through };
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
  const state: ReadState = {
    ...before,
    inOrder: before.inOrder && isAscending(sent.map((id) => keyOf(id, before.order))),
    pageSize: ask.page === 2 ? before.pageSize : Math.max(before.pageSize, rows),
    highest: last === undefined ? before.highest : higher(before.highest ?? last, last),
    idLimit: ids.reduce((limit, id) => (id > limit ? idLimitOf(id) : limit), before.idLimit),
    notByDate: before.notByDate || (context.listOrder === 'id' && !isByDate(response.rows)),
    boundsApply: before.boundsApply || (rows > 0 && !isSame(ask, callersInterval(before.order, context))),
    fruitless: before.fruitless + 1,
  };
  if (state.fruitless >= MAX_FRUITLESS || sorted.some((key) => state.missing.includes(key)))
    throw boundsIgnored(context.facts);

  const item = before.work.find((each) => each.ask === ask);
  if (item?.held !== undefined) return afterSecondPage(state, item.held, sorted);
  const isFull = rows > 0 && rows >= state.pageSize && !isSingleId(ask);
  if (isFull && !isSortedById(state, context)) return split(state, ask, { rows, sorted });

  const isOpen = ask.through === callersInterval(before.order, context).through;
  if (isOpen && !isFull && !isSingleId(ask) && (rows > 0 || !context.onlyChanges)) {
    const held = { ask, keys: sorted };
    return {
      ...state,
      work: state.work.map((each) => (each.ask === ask ? { ...each, ask: undefined, held } : each)),
    };
  }
  if (rows === 0 && !state.boundsApply && item !== undefined && item.seen.length > 0)
    return beginAgain(state, item.seen, context);

  const through = state.inOrder && last !== undefined && !isSingleId(ask) ? last : ask.through;
  return prove(learn(state, ask, { rows, sorted }, context), ask, { after: ask.after, through }, sorted);
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

interface ReceivedRows {
  readonly rows: number;
  /** Its keys, each once, ascending. */
  readonly sorted: readonly Key[];
}

/** Rule 3: the interval becomes its begin, which is requested as it is, and the rest. */
function split(state: ReadState, ask: Ask, { rows, sorted }: ReceivedRows): ReadState {
  const splits = (state.work.find((each) => each.ask === ask)?.splits ?? 0) + 1;
  const parts = splitOf(ask, { sorted, inOrder: state.inOrder, splits: splits - 1 });
  const cut = parts.at(-1)?.through ?? ask.after;
  const work = state.work.flatMap((each) => {
    if (each.ask !== ask) return [each];
    const begin = parts.flatMap((part) =>
      within([{ ...each, ...IDLE, splits, seen: sorted.filter((key) => contains(part, key)) }], part),
    );
    // If almost all of it was proven before, it does not show where to cut the rest.
    const rest = { ...each, ...IDLE, splits: begin.length === 0 ? splits : 0 };
    return [...begin, ...without([rest], { after: ask.after, through: cut })];
  });
  const [first = 0n] = sorted;
  // In another order there may be more rows than these between the first and the last one.
  const seen = gapAfter(undefined, (sorted.at(-1) ?? first) - first + 1n, rows);
  const gap = sorted.length > 1 && !state.inOrder ? Math.min(state.gap ?? seen, seen) : state.gap;
  return { ...state, gap, work: joinedWork(work) };
}

/** Rule 5: begins again behind what was delivered. A row that is missing now and comes again was not deleted. */
function beginAgain(state: ReadState, missing: readonly Key[], context: ReadContext): ReadState {
  const { order, inOrder, idLimit, pageSize, fruitless, after } = state;
  const start = startOf(context, { ...NOTHING_LEARNED, order, inOrder, idLimit }, after);
  return { ...start, pageSize, fruitless, missing };
}

/** Rule 6: the second page of a short response without an end. */
function afterSecondPage(
  state: ReadState,
  { ask, keys }: NonNullable<Work['held']>,
  second: readonly Key[],
): ReadState {
  const others = second.filter((key) => !keys.includes(key));
  const [first] = others;
  if (first === undefined) return prove(state, ask, ask, keys);

  const found = { ...state, mayMissRows: true };
  const through = keys.at(-1) ?? first - 1n;
  if (state.inOrder && through > ask.after) return prove(found, ask, { after: ask.after, through }, keys);
  const work = state.work.map((each) => (each.held?.ask === ask ? { ...each, ...IDLE, ask } : each));
  return split({ ...found, work }, ask, { rows: keys.length, sorted: ascending([...keys, ...others]) });
}

/** Takes a proven range out of the list. What is left of the interval is to be requested. */
function prove(state: ReadState, ask: Ask, range: Interval, sorted: readonly Key[]): ReadState {
  const ranges: readonly Interval[] = within(state.work, range).map(({ after, through }) => ({
    after,
    through,
  }));
  const parts = joined(ranges, () => true).map(
    (part): Proven => ({ ...part, ask, keys: sorted.filter((key) => contains(part, key)) }),
  );
  const work = without(state.work, range).map((each) =>
    each.ask === ask || each.held?.ask === ask ? { ...each, ...IDLE } : each,
  );
  const proven = [...state.proven, ...parts].sort((a, b) => (a.after < b.after ? -1 : 1));
  return { ...state, fruitless: parts.length > 0 ? 0 : state.fruitless, work: joinedWork(work), proven };
}

/** So many mean gaps without a row at the end of an interval are seldom chance: 0.25 % (e^-6) of random gaps are as long. */
const GAPS_BEFORE_END = 6;

/** What an interval shows of those that follow: how dense the ids are, and whether it pays to read ahead. */
function learn(state: ReadState, ask: Ask, { rows, sorted }: ReceivedRows, context: ReadContext): ReadState {
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

/** Neighbours that are not requested become one, unless a split cut them. */
function joinedWork(work: readonly Work[]): readonly Work[] {
  const isIdle = ({ ask, held }: Work) => ask === undefined && held === undefined;
  return joined(work, (before, each) => isIdle(before) && isIdle(each) && before.splits === 0);
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

function boundsIgnored(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned no complete interval of ids: the service ignored the bounds on id.`,
    { ...facts, hint: "Use pagination: 'page'." },
  );
}
