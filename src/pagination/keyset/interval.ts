/** An id in the order of the read: the id itself upwards, its negative downwards. So every read goes up. */
export type Key = bigint;

/** Above every id: ids have at most 39 digits. An interval that ends there has no bound. */
export const ABOVE_ALL = 10n ** 39n;

/** The keys above `after`, up to and including `through`. */
export interface Interval {
  readonly after: Key;
  readonly through: Key;
}

export const lower = (a: Key, b: Key): Key => (a < b ? a : b);
export const higher = (a: Key, b: Key): Key => (a > b ? a : b);

export const contains = ({ after, through }: Interval, key: Key): boolean => key > after && key <= through;

export const includes = (outer: Interval, { after, through }: Interval): boolean =>
  outer.after <= after && through <= outer.through;

export const isSame = (a: Interval, b: Interval): boolean => a.after === b.after && a.through === b.through;

/** Whether any response shows the interval completely, because it has room for one id. */
export const isSingleId = ({ after, through }: Interval): boolean => through === after + 1n;

/** Each key once, ascending. */
export function ascending(keys: readonly Key[]): readonly Key[] {
  if (keys.every((key, index) => index === 0 || key > (keys[index - 1] ?? key))) return keys;
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
}

/** The keys of both, each once, ascending, as those of each are. */
export function merged(a: readonly Key[], b: readonly Key[]): readonly Key[] {
  const all: Key[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    const [x, y] = [a[i], b[j]];
    if (y === undefined || (x !== undefined && x <= y)) i += 1;
    if (x === undefined || (y !== undefined && y <= x)) j += 1;
    all.push((x === undefined || (y !== undefined && y < x) ? y : x) as Key);
  }
  return all;
}

export function isAscending(keys: readonly Key[]): boolean {
  return keys.every((key, index) => index === 0 || key >= (keys[index - 1] ?? key));
}

/** What intervals have in common with `range`. */
export function within<I extends Interval>(intervals: readonly I[], range: Interval): I[] {
  return intervals
    .map((each) => ({
      ...each,
      after: higher(each.after, range.after),
      through: lower(each.through, range.through),
    }))
    .filter(({ after, through }) => after < through);
}

/** What intervals have outside of `range`. */
export function without<I extends Interval>(intervals: readonly I[], range: Interval): I[] {
  return intervals.flatMap((each) =>
    [
      { ...each, through: lower(each.through, range.after) },
      { ...each, after: higher(each.after, range.through) },
    ].filter(({ after, through }) => after < through),
  );
}

/**
 * Ascending intervals of which those that touch become one if `mayJoin` allows it: what `join` makes of both, from the begin of
 * the first.
 */
export function joined<I extends Interval>(
  intervals: readonly I[],
  mayJoin: (before: I, each: I) => boolean,
  join: (before: I, each: I) => I = (_, each) => each,
): readonly I[] {
  const all: I[] = [];
  for (const each of intervals) {
    const before = all.at(-1);
    if (before?.through === each.after && mayJoin(before, each)) {
      all.splice(-1, 1, { ...join(before, each), after: before.after });
    } else {
      all.push(each);
    }
  }
  return all;
}

/*
 * Where to end an interval. Nothing below decides what is delivered: a bad guess costs a request, never a row.
 */

/** Splits of one interval after which it is halved, because the rows seen do not suffice. */
const HALVING_AFTER = 2;

/** What a full response showed of its interval. */
interface FullResponse {
  /** Its keys, each once, ascending; at least one. */
  readonly sorted: readonly Key[];
  readonly inOrder: boolean;
  /** How often the interval was split before. */
  readonly splits: number;
}

/** The begin of an interval whose response was full, as one or two intervals to request. What is behind them is left. */
export function splitOf(
  { after, through }: Interval,
  { sorted, inOrder, splits }: FullResponse,
): readonly Interval[] {
  const [first = after] = sorted;
  const last = sorted.at(-1) ?? first;
  const middle = sorted[(sorted.length - 1) >> 1] ?? first;
  const notEmpty = (parts: readonly Interval[]) => parts.filter((part) => part.after < part.through);
  // In id order the response held the first rows of the interval: it is complete up to the last but one.
  if (inOrder && sorted.length > 1) {
    return [{ after, through: splits > HALVING_AFTER ? middle : (sorted.at(-2) ?? first) }];
  }

  // Half of the interval. If the rows lie far up together, that leaves too much below them: then further below them each
  // time. Downwards an interval without a bound has no half.
  if (splits >= HALVING_AFTER && after >= -ABOVE_ALL) {
    const half = (after + lower(through, middle)) / 2n;
    const below = first - (last - first + 1n) * 2n ** BigInt(splits);
    const end = higher(half, below);
    if (end > after && end < middle) {
      // What lies between them and the rows: of a single row, which a page of one row shows alone, it is asked separately.
      const rest = sorted.length === 1 ? first - 1n : end === below ? middle : end;
      return notEmpty([
        { after, through: end },
        { after: end, through: rest },
      ]);
    }
  }
  return notEmpty([{ after, through: sorted.length > 1 ? middle : first - 1n }]);
}

/** Of random gaps, so many standard deviations are left as room for more rows than expected. */
const ROOM = 1.3;

/**
 * How wide an interval is expected to fit into one response, if `gap` ids have one row on average. As many ids as fit into
 * a page less one always do. Of wider ones, dense ids vary less than sparse ones: p of n ids vary by √(n p (1 − p)).
 */
export function widthOf(gap: number, pageSize: number): bigint {
  const most = Math.max(1, pageSize - 1);
  // At least half a page: with a width of 0, tiny pages would be read id by id.
  const rows = Math.max(most / 2, most - ROOM * Math.sqrt(most * (1 - 1 / gap)));
  return BigInt(Math.max(most, Math.floor(rows * gap)));
}

/**
 * The mean gaps by which an interval begins before the end of the one before it, which is still in flight. Of random gaps, 5 %
 * (e^-3) are longer; 2 and 4 were no better.
 */
const GAPS_OF_OVERLAP = 3;

/** The same in ids: 0 if the ids are dense, at most half of an interval. */
export function overlapOf(gap: number, pageSize: number): bigint {
  return lower(BigInt(Math.ceil(GAPS_OF_OVERLAP * (gap - 1))), widthOf(gap, pageSize) / 2n);
}

/** The next gap is expected to be at most this many times as wide as the last one. */
const MOST_GROWTH = 8;
/** Wider than the ids of any type. */
const WIDEST = 2 ** 64;
/** How much more an estimate counts than one response. */
const EARLIER = 5;

/** Ids per row, as the last response and those before it show. */
export function gapAfter(before: number | undefined, span: bigint, rows: number): number {
  const seen = Number(span) / Math.max(1, rows);
  if (before === undefined) return Math.max(1, seen);
  if (rows === 0) return Math.min(before * MOST_GROWTH, WIDEST);
  return Math.max(1, (before * EARLIER + Math.min(seen, before * MOST_GROWTH)) / (EARLIER + 1));
}
