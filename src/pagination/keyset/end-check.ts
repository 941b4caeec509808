import { ascending, type Interval, type Key } from './interval.ts';
import type { IntervalRequests } from './interval-requests.ts';

/**
 * The pages that are looked at after an empty one. Page 4 follows a run of three hidden pages. They are requested from
 * the last to the first, because a row that is deleted meanwhile moves every later one to an earlier page.
 */
export const PAGES_BEHIND: readonly number[] = [4, 3, 2, 1];
/** How many pages are looked at once rows are known to follow. */
const MAX_HIDDEN_PAGES = 100;
/** The distances, in powers of four widths, at which ids further on are looked for. */
const MAX_DISTANCE = 5;

export interface EndCheck {
  /** The last key that was read. */
  readonly after: Key;
  readonly pageSize: number;
  /** The width of intervals, if ids further on are looked for as well. */
  readonly width: bigint | undefined;
}

/**
 * Looks behind an empty response to an open interval. If the service hides rows, a whole page of them looks like the
 * end: then the pages after it have rows, or ids further on exist. Returns the key to continue after, or undefined if
 * nothing was found. It takes several responses, between which rows may change, so it proves nothing about the rows
 * before that key.
 */
export async function findAfterEnd(
  requests: IntervalRequests<unknown>,
  { after, pageSize, width }: EndCheck,
): Promise<Key | undefined> {
  const open: Interval = { after, through: undefined };
  for (const page of PAGES_BEHIND) {
    if ((await requests.keysOnPage(open, page)) === undefined) continue;
    const first = await firstRow(requests, open);
    return first === undefined ? undefined : first - 1n;
  }
  if (width === undefined) return undefined;

  // The last of these requests begins a page before the largest id that may be requested.
  const largest = requests.outer.through ?? requests.largest;
  const last = largest === undefined ? undefined : largest - BigInt(pageSize);
  for (let distance = 1; distance <= MAX_DISTANCE; distance++) {
    const wanted = after + width * 4n ** BigInt(distance);
    const far = last !== undefined && wanted > last ? last : wanted;
    if (far <= after) return undefined;
    if ((await requests.keysOnPage({ after: far, through: undefined }, 1)) !== undefined) {
      const first = await firstRow(requests, open);
      return first === undefined ? far : first - 1n;
    }
    if (far === last) return undefined;
  }
  return undefined;
}

/** The first row of an interval, looked for page by page. */
export async function firstRow(
  requests: IntervalRequests<unknown>,
  open: Interval,
): Promise<Key | undefined> {
  for (let page = 1; page <= MAX_HIDDEN_PAGES; page++) {
    const found = await requests.keysOnPage(open, page);
    if (found === undefined) continue;
    // A row that was deleted meanwhile moves every later one up: the first of this page may be on the page before now.
    const before = page > 1 ? await requests.keysOnPage(open, page - 1) : undefined;
    return ascending([...found, ...(before ?? [])])[0];
  }
  return undefined;
}
