import type { IdRange } from './id-bounds.ts';
import type { IdBounds } from './page.ts';

/**
 * An id in the order of the walk: the id itself going up, its negative going down. So every walk goes up, and only
 * this file knows of two directions.
 */
export type Key = bigint;

/** The keys above `after`, up to and including `through`; undefined is unbounded. */
export interface Interval {
  readonly after: Key | undefined;
  readonly through: Key | undefined;
}

export function keyOf(id: bigint, descending: boolean): Key {
  return descending ? -id : id;
}

/** A range of ids as an interval of keys. */
export function intervalOf(range: IdRange, descending: boolean): Interval {
  if (!descending) return range;
  return {
    after: range.through === undefined ? undefined : -range.through - 1n,
    through: -range.after - 1n,
  };
}

/** The filters that ask for an interval; undefined where it holds every id. */
export function boundsOf(interval: Interval, descending: boolean): IdBounds | undefined {
  const { after, through } = interval;
  // No id is below 0: a bound that says no more than that is not sent, for a service might not like its value.
  const bounds = descending
    ? {
        ...(after === undefined ? {} : { lt: String(-after) }),
        ...(through === undefined || through >= 0n ? {} : { gte: String(-through) }),
      }
    : {
        ...(after === undefined || after < 0n ? {} : { gt: String(after) }),
        ...(through === undefined ? {} : { lte: String(through) }),
      };
  return Object.keys(bounds).length === 0 ? undefined : bounds;
}

export function contains({ after, through }: Interval, key: Key): boolean {
  return (after === undefined || key > after) && (through === undefined || key <= through);
}

/** Whether there is room for one id alone: then any answer shows the interval whole. */
export function holdsOneId({ after, through }: Interval): boolean {
  return after !== undefined && through === after + 1n;
}
