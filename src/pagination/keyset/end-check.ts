import type { Interval, Key } from './interval.ts';
import type { IntervalRequests } from './interval-requests.ts';
import { ascending } from './response-keys.ts';

/** How many pages are looked at once rows are known to follow. */
const MAX_HIDDEN_PAGES = 100;
/** The distances, in powers of four widths, at which ids further on are looked for. */
const MAX_DISTANCE = 5;

/** A read of so many pages can afford to look behind its end. */
const LONG_READ_PAGES = 10;
/** The pages after an empty one that are looked at: the last of them follows a run of three hidden pages. */
export const PAGES_BEHIND: readonly number[] = [2, 3, 4];

/** Which pages after an empty one to look at, by what the read has seen and what it may cost. */
export function pagesToCheck(read: {
  readonly shortPages: boolean;
  readonly rows: number;
  readonly longest: number;
  /** The page size of an earlier read that found no hidden rows; 0 if it is unknown. */
  readonly hint: number;
}): readonly number[] {
  const { shortPages, rows, longest, hint } = read;
  const isLong = rows >= LONG_READ_PAGES * Math.max(longest, hint);
  return shortPages || isLong || hint === 0 ? PAGES_BEHIND : [];
}

export interface EndCheck {
  /** The last key that was read. */
  readonly after: Key;
  /** The pages after the empty one to look at. */
  readonly pages: readonly number[];
  readonly pageSize: number;
  /** The width of intervals, if ids further on are looked for as well. */
  readonly width: bigint | undefined;
}

/** Where a read goes on after a run of hidden rows, and whether all rows before are known to be hidden. */
export interface Continuation {
  readonly after: Key;
  readonly isProven: boolean;
}

/**
 * Looks behind an empty response to an open interval. If the service hides rows, a whole page of them looks like the
 * end: then the pages after it have rows, or ids further on exist. Undefined if nothing was found.
 */
export async function findAfterEnd(
  requests: IntervalRequests<unknown>,
  { after, pages, pageSize, width }: EndCheck,
): Promise<Continuation | undefined> {
  const open: Interval = { after, through: undefined };
  for (const page of pages) {
    if ((await requests.keysOnPage(open, page)) === undefined) continue;
    const first = await firstFrom(requests, open, 2);
    return first === undefined ? undefined : { after: first - 1n, isProven: true };
  }
  if (width === undefined) return undefined;

  const limit = requests.outer.through ?? requests.largest;
  // The last of these begins a page before the largest id that may be requested.
  const last = limit === undefined ? undefined : limit - BigInt(pageSize);
  for (let distance = 1; distance <= MAX_DISTANCE; distance++) {
    const wanted = after + width * 4n ** BigInt(distance);
    const far = last !== undefined && wanted > last ? last : wanted;
    if (far <= after) return undefined;
    if ((await requests.keysOnPage({ after: far, through: undefined }, 1)) !== undefined) {
      const first = await firstFrom(requests, open, (pages.at(-1) ?? 1) + 1);
      if (first !== undefined) return { after: first - 1n, isProven: true };
      return { after: far, isProven: false };
    }
    if (far === last) return undefined;
  }
  return undefined;
}

/** The first row from a page on, each of which is looked at. */
export async function firstFrom(
  requests: IntervalRequests<unknown>,
  open: Interval,
  from: number,
): Promise<Key | undefined> {
  for (let page = from; page <= MAX_HIDDEN_PAGES; page++) {
    const found = await requests.keysOnPage(open, page);
    if (found === undefined) continue;
    // A row that was deleted meanwhile moves every later one up: the first of this page may be on the page before now.
    const before = await requests.keysOnPage(open, page - 1);
    return ascending([...found, ...(before ?? [])])[0];
  }
  return undefined;
}
