import type { IdRange } from '../id-bounds.ts';
import type { IdBounds } from '../page.ts';
import type { Interval, Key } from './interval.ts';

/** What differs between ids that are listed upwards and downwards. Everything else works on keys, which go up. */
interface Direction {
  keyOf(id: bigint): Key;
  /** The lowest and the highest id of an interval; undefined is unbounded. */
  idsOf(interval: Interval): readonly [lowest: bigint | undefined, highest: bigint | undefined];
  /** The caller's range of ids as an interval of keys; undefined is unbounded here. */
  intervalOf(range: IdRange): Interval;
  /** The operators of a bound, the preferred one first. */
  readonly lower: readonly ['gt' | 'gte', 'gt' | 'gte'];
  readonly upper: readonly ['lt' | 'lte', 'lt' | 'lte'];
  /** The highest key that may be requested as a bound. */
  keyLimit(idLimit: bigint | undefined): Key | undefined;
}

export const DIRECTIONS: Readonly<Record<'asc' | 'desc', Direction>> = {
  asc: {
    keyOf: (id) => id,
    idsOf: ({ after, through }) => [after === undefined ? undefined : after + 1n, through],
    intervalOf: ({ after, through }) => ({ after, through }),
    lower: ['gt', 'gte'],
    upper: ['lte', 'lt'],
    keyLimit: (idLimit) => idLimit,
  },
  desc: {
    keyOf: (id) => -id,
    idsOf: ({ after, through }) => [
      through === undefined ? undefined : -through,
      after === undefined ? undefined : -after - 1n,
    ],
    intervalOf: ({ after, through }) => ({
      after: through === undefined ? undefined : -through - 1n,
      through: -after - 1n,
    }),
    lower: ['gte', 'gt'],
    upper: ['lt', 'lte'],
    keyLimit: () => undefined,
  },
};

/** The largest ids of the types that services store ids in: int4, the exact integers of a double, int8. */
const LARGEST_IDS = [2_147_483_647n, 2n ** 53n - 1n, 2n ** 63n - 1n];

/**
 * The largest id that may be requested as a bound after the id `highest` was seen. A service whose id column is an int4 responds
 * with 500 to a larger one, and then the read could never get past it.
 */
export function idLimitOf(highest: bigint): bigint | undefined {
  return LARGEST_IDS.find((largest) => highest <= largest);
}

interface BoundOptions {
  /** The caller's own bounds. */
  readonly caller?: IdBounds | undefined;
  /** The largest id that may be requested as a bound. */
  readonly idLimit: bigint | undefined;
}

/**
 * The filters that request an interval, beside the caller's own: an operator that the caller uses is left to the
 * caller, and the other one of that side is used. Only if that bound would exceed `idLimit` the caller's is replaced,
 * which is safe because an interval lies within the caller's bounds.
 */
export function boundsOf(
  interval: Interval,
  direction: Direction,
  { caller = {}, idLimit }: BoundOptions,
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
    const name = idLimit !== undefined && ids[free] > idLimit ? smaller : free;
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
