import { type IdRange, isInRange } from '../id-bounds.ts';
import type { IdBounds } from '../page.ts';

/**
 * An id in the order of the read: the id itself in ascending order, its negative in descending order. So every read
 * goes up, and only this file knows of two directions.
 */
export type Key = bigint;

/** The keys above `after`, up to and including `through`. Undefined: as far as the caller's bounds go. */
export interface Interval {
  readonly after: Key | undefined;
  readonly through: Key | undefined;
}

export function keyOf(id: bigint, descending: boolean): Key {
  return descending ? -id : id;
}

/** The caller's range of ids as an interval of keys; undefined is unbounded here. */
export function outerInterval({ after, through }: IdRange, descending: boolean): Interval {
  if (!descending) return { after, through };
  return { after: through === undefined ? undefined : -through - 1n, through: -after - 1n };
}

export function contains({ after, through }: Interval, key: Key): boolean {
  return isInRange(key, { after: after ?? key - 1n, through });
}

/** Each key once, ascending. */
export function ascending(keys: readonly Key[]): readonly Key[] {
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
}

export function isAscending(keys: readonly Key[]): boolean {
  return keys.every((key, index) => index === 0 || key >= (keys[index - 1] ?? key));
}

/** The largest ids of the types that services store ids in: int4, the exact integers of a double, int8. */
const LARGEST_IDS = [2_147_483_647n, 2n ** 53n - 1n, 2n ** 63n - 1n];

/**
 * The largest bound that may be requested after the id `highest` was seen. A service whose id column is an int4 responds
 * with 500 to a larger one, and then the read could never get past it.
 */
export function largestBound(highest: bigint): bigint | undefined {
  return LARGEST_IDS.find((largest) => highest <= largest);
}

/**
 * The filters that request an interval, beside the caller's own: an operator that the caller uses is left to the
 * caller, and the other one of that side is used. Only if that bound would exceed `largest` the caller's is replaced,
 * which is safe because an interval lies within the caller's bounds.
 */
export function boundsOf(
  { after, through }: Interval,
  descending: boolean,
  { caller = {}, largest }: { readonly caller?: IdBounds | undefined; readonly largest: bigint | undefined },
): IdBounds | undefined {
  const fits = (bound: bigint) => largest === undefined || bound <= largest;
  const from = (id: bigint): IdBounds => {
    const prefersGt = caller.gt === undefined && (!descending || caller.gte !== undefined);
    return prefersGt || !fits(id) ? { gt: String(id - 1n) } : { gte: String(id) };
  };
  const to = (id: bigint): IdBounds => {
    const prefersLte = caller.lte === undefined && (!descending || caller.lt !== undefined);
    return prefersLte || !fits(id + 1n) ? { lte: String(id) } : { lt: String(id + 1n) };
  };
  const [lowest, highest] = descending
    ? [through === undefined ? undefined : -through, after === undefined ? undefined : -after - 1n]
    : [after === undefined ? undefined : after + 1n, through];
  // No id is below 0: a bound that excludes nothing else is not sent.
  const bounds = {
    ...(lowest === undefined || lowest <= 0n ? {} : from(lowest)),
    ...(highest === undefined ? {} : to(highest)),
  };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

/*
 * Where to end the next interval. Nothing below decides what is delivered: a bad guess costs a request, never a row.
 */

/** Splits of one interval after which it is halved, because the rows seen do not suffice. */
const HALVING_AFTER = 2;

/** A full response: the service perhaps cut it. */
export interface FullResponse {
  /** Its keys, each once, ascending; at least one. */
  readonly sorted: readonly Key[];
  /** Whether every response so far was in the order of ids. */
  readonly inOrder: boolean;
  /** How often the interval was narrowed before. */
  readonly splits: number;
}

/** The new end of an interval. `pin` is a single row, before which everything is requested first. */
export interface Narrowed {
  readonly through: Key;
  readonly pin: Key | undefined;
}

/** Narrows an interval to what one response is expected to hold. Undefined if it cannot be narrowed any more. */
export function narrow(
  { after, through }: Interval,
  { sorted, inOrder, splits }: FullResponse,
): Narrowed | undefined {
  const [first = 0n] = sorted;
  if (sorted.length === 1) {
    if (after !== first - 1n) return { through: first - 1n, pin: first };
    return through === first ? undefined : { through: first, pin: undefined };
  }
  // In id order the response held the first rows of the interval: it is complete up to the last but one.
  const middle = sorted[(sorted.length - 1) >> 1] ?? first;
  if (inOrder) return { through: splits > HALVING_AFTER ? middle : (sorted.at(-2) ?? first), pin: undefined };

  const half = after === undefined ? middle : (after + (through ?? middle)) / 2n;
  const isHalved = splits >= HALVING_AFTER && after !== undefined && half > after && half < middle;
  return { through: isHalved ? half : middle, pin: undefined };
}

/** A completed interval. */
export interface Completed {
  readonly span: bigint;
  readonly rows: number;
  readonly pageSize: number;
}

/** How wide the next interval may be to fill four fifths of a page. */
export function nextWidth({ span, rows, pageSize }: Completed, before: bigint | undefined): bigint {
  const most = span * 4n;
  const fitting = rows === 0 ? most : (most * BigInt(pageSize)) / (5n * BigInt(rows));
  const width = fitting < most ? fitting : most;
  // The mean of two estimates is a better one.
  const next = before === undefined || rows === 0 ? width : (before + width + 1n) / 2n;
  return next > 1n ? next : 1n;
}
