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

/** The largest ids of the types that services store ids in: int4, the exact integers of a double, int8. */
const LARGEST_IDS = [2_147_483_647n, 2n ** 53n - 1n, 2n ** 63n - 1n];

/**
 * The largest bound that may be requested after the id `highest` was seen. A service whose id column is an int4 answers
 * 500 to a larger one, and then the read could never get past it.
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
