import type { IdRange } from '../id-bounds.ts';
import type { IdBounds } from '../page.ts';
import type { Interval, Key } from './interval.ts';

/** What differs between ids that are listed upwards and downwards. Everything else works on keys, which go up. */
export interface Direction {
  keyOf(id: bigint): Key;
  /** The lowest and the highest id of an interval; undefined is unbounded. */
  idsOf(interval: Interval): readonly [lowest: bigint | undefined, highest: bigint | undefined];
  /** The caller's range of ids as an interval of keys; undefined is unbounded here. */
  outer(range: IdRange): Interval;
  /** The operators of a bound, the preferred one first. */
  readonly lower: readonly ['gt' | 'gte', 'gt' | 'gte'];
  readonly upper: readonly ['lt' | 'lte', 'lt' | 'lte'];
  /** The highest key that may be requested as a bound. */
  highestKey(largest: bigint | undefined): Key | undefined;
}

export const DIRECTIONS: Readonly<Record<'asc' | 'desc', Direction>> = {
  asc: {
    keyOf: (id) => id,
    idsOf: ({ after, through }) => [after === undefined ? undefined : after + 1n, through],
    outer: ({ after, through }) => ({ after, through }),
    lower: ['gt', 'gte'],
    upper: ['lte', 'lt'],
    highestKey: (largest) => largest,
  },
  desc: {
    keyOf: (id) => -id,
    idsOf: ({ after, through }) => [
      through === undefined ? undefined : -through,
      after === undefined ? undefined : -after - 1n,
    ],
    outer: ({ after, through }) => ({
      after: through === undefined ? undefined : -through - 1n,
      through: -after - 1n,
    }),
    lower: ['gte', 'gt'],
    upper: ['lt', 'lte'],
    highestKey: () => undefined,
  },
};

/** The largest ids of the types that services store ids in: int4, the exact integers of a double, int8. */
const LARGEST_IDS = [2_147_483_647n, 2n ** 53n - 1n, 2n ** 63n - 1n];

/**
 * The largest bound that may be requested after the id `highest` was seen. A service whose id column is an int4 responds
 * with 500 to a larger one, and then the read could never get past it.
 */
export function largestBound(highest: bigint): bigint | undefined {
  return LARGEST_IDS.find((largest) => highest <= largest);
}

export interface BoundOptions {
  /** The caller's own bounds. */
  readonly caller?: IdBounds | undefined;
  /** The largest bound that may be requested. */
  readonly largest: bigint | undefined;
}

/**
 * The filters that request an interval, beside the caller's own: an operator that the caller uses is left to the
 * caller, and the other one of that side is used. Only if that bound would exceed `largest` the caller's is replaced,
 * which is safe because an interval lies within the caller's bounds.
 */
export function boundsOf(
  interval: Interval,
  direction: Direction,
  { caller = {}, largest }: BoundOptions,
): IdBounds | undefined {
  const [lowest, highest] = direction.idsOf(interval);
  const choose = <Name extends string>(
    [preferred, other]: readonly [Name, Name],
    smaller: Name,
    ids: Record<Name, bigint>,
  ) => {
    const isTaken =
      caller[preferred as keyof IdBounds] !== undefined && caller[other as keyof IdBounds] === undefined;
    const free = isTaken ? other : preferred;
    const name = largest !== undefined && ids[free] > largest ? smaller : free;
    return { [name]: String(ids[name]) };
  };
  const bounds: IdBounds = {
    // No id is below 0: a bound that excludes nothing else is not sent.
    ...(lowest === undefined || lowest <= 0n
      ? {}
      : choose(direction.lower, 'gt', { gt: lowest - 1n, gte: lowest })),
    ...(highest === undefined ? {} : choose(direction.upper, 'lte', { lt: highest + 1n, lte: highest })),
  };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}
