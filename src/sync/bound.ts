import { formatUtcOffset, parseUtcOffset, zoneOffsetMs } from '../internal/utc-offset.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The offsets that zones of the world have, in minutes. Anything else is not an offset of a service. */
const LOWEST_OFFSET = -12 * 60;
const HIGHEST_OFFSET = 14 * 60;

/** What daylight saving time and a change of the law may take off the lowest offset that was seen. */
const MARGIN = 60;

/**
 * The lowest offset that the rows' own timestamps show, in minutes: -300 for `2026-01-31T10:00:00-05:00`.
 * Undefined if they show none: `Z` says nothing about local times.
 */
export function lowestOffset(
  rows: readonly ({ createdAt?: unknown; updatedAt?: unknown } | null | undefined)[],
): number | undefined {
  let lowest: number | undefined;
  for (const row of rows) {
    for (const value of [row?.createdAt, row?.updatedAt]) {
      if (typeof value !== 'string' || !value.includes('T')) continue;
      const offset = parseUtcOffset(value);
      if (offset === undefined || offset < LOWEST_OFFSET || offset > HIGHEST_OFFSET) continue;
      if (lowest === undefined || offset < lowest) lowest = offset;
    }
  }
  return lowest;
}

/** The lowest offset of a zone in the year after a timestamp, in minutes: the requested records lie after it. */
export function lowestOffsetOfZone(timeZone: string, fromMs: number): number {
  let lowest = Number.POSITIVE_INFINITY;
  // By the week: no zone is known to have kept an offset for a shorter time.
  for (let day = 0; day <= 371; day += 7) {
    lowest = Math.min(lowest, zoneOffsetMs(timeZone, fromMs + day * DAY_MS) / MINUTE_MS);
  }
  return Math.floor(lowest);
}

/**
 * A timestamp in UTC as `updatedSince` states it. Some services ignore the offset of the bound and compare its date
 * and time as written with local times. Written in an offset that is at most that of the service at any time, the
 * bound is the same moment for services that convert it, and an earlier one for services that do not.
 */
export function boundAt(since: string, lowest: number | undefined): string {
  if (lowest === undefined) return since;

  const offset = lowest - MARGIN;
  const local = new Date(Date.parse(since) + offset * MINUTE_MS).toISOString();
  // Before the year 0 no offset fits into the form of a timestamp.
  return local.startsWith('-') ? since : local.slice(0, 19) + formatUtcOffset(offset);
}

/**
 * Whether a bound misses changes on a service that ignores its offset, because a lower offset was seen since it was
 * written.
 */
export function isTooLate(bound: string, lowest: number | undefined): boolean {
  return lowest !== undefined && (parseUtcOffset(bound) ?? 0) > lowest;
}
