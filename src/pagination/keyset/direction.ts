import type { IdRange } from '../id-bounds.ts';
import type { IdBounds } from '../page.ts';
import { ABOVE_ALL, type Interval, type Key } from './interval.ts';

export type Order = 'asc' | 'desc';

export const keyOf = (id: bigint, order: Order): Key => (order === 'asc' ? id : -id);

/** The caller's range of ids as an interval of keys. */
export function intervalOf({ after, through = ABOVE_ALL }: IdRange, order: Order): Interval {
  return order === 'asc' ? { after, through } : { after: -through - 1n, through: -after - 1n };
}

/** The largest ids of the types that services store ids in: int4, the exact integers of a double, int8. */
const LARGEST_IDS = [2_147_483_647n, 2n ** 53n - 1n, 2n ** 63n - 1n];

/**
 * The largest id that may be requested as a bound after the id `highest` was seen. A service whose id column is an int4 responds
 * with 500 to a larger one, and then the read could never get past it.
 */
export function idLimitOf(highest: bigint): bigint {
  return LARGEST_IDS.find((largest) => highest <= largest) ?? ABOVE_ALL;
}

interface BoundOptions {
  /** The caller's own bounds. */
  readonly caller: IdBounds | undefined;
  /** What they leave: its ends need no bound. */
  readonly all: Interval;
  readonly order: Order;
  /** The largest id that may be requested as a bound. */
  readonly idLimit: bigint;
}

/** The operators of a bound, the preferred one first. */
const OPERATORS = {
  asc: { lower: ['gt', 'gte'], upper: ['lte', 'lt'] },
  desc: { lower: ['gte', 'gt'], upper: ['lt', 'lte'] },
} as const;

/**
 * The filters that request an interval, beside the caller's own: an operator that the caller uses is left to the
 * caller, and the other one of that side is used. Only if that bound would exceed `idLimit` the caller's is replaced,
 * which is safe because an interval lies within the caller's bounds.
 */
export function boundsOf(
  { after, through }: Interval,
  { caller = {}, all, order, idLimit }: BoundOptions,
): IdBounds | undefined {
  const [hasBegin, hasEnd] = [after !== all.after, through !== all.through];
  const isUp = order === 'asc';
  const [lowest, highest] = isUp ? [after + 1n, through] : [-through, -after - 1n];
  const choose = <Name extends keyof IdBounds>(
    [preferred, other]: readonly [Name, Name],
    smaller: Name,
    ids: Record<Name, bigint>,
  ) => {
    const isTaken = caller[preferred] !== undefined && caller[other] === undefined;
    const free = isTaken ? other : preferred;
    const name = ids[free] > idLimit ? smaller : free;
    return { [name]: String(ids[name]) };
  };
  const bounds: IdBounds = {
    // No id is below 0: a bound that excludes nothing else is not sent.
    ...((isUp ? hasBegin : hasEnd) && lowest > 0n
      ? choose(OPERATORS[order].lower, 'gt', { gt: lowest - 1n, gte: lowest })
      : {}),
    ...((isUp ? hasEnd : hasBegin)
      ? choose(OPERATORS[order].upper, 'lte', { lte: highest, lt: highest + 1n })
      : {}),
  };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}
