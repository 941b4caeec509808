import { formatUtcOffset, parseUtcOffset } from '../internal/utc-offset.ts';

const MINUTE_MS = 60_000;

/** The offsets in use, in minutes. Anything else is not an offset of a service. */
const LOWEST_OFFSET = -12 * 60;
const HIGHEST_OFFSET = 14 * 60;

/** What is known of a service: the offset that its rows showed, in minutes; `Z`: it rejects bounds with an offset. */
type KnownOffset = number | 'Z' | undefined;

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

/**
 * A timestamp in UTC as `updatedSince` states it. Some services ignore the offset of the bound and compare its date and
 * time as written with local times. So it is written in the offset that rows showed last, or in `-12:00`, the lowest in
 * use: a service that converts it reads the same moment, one that ignores it an earlier one, by up to 26 hours.
 */
export function boundAt(since: string, known: KnownOffset): string {
  const sinceMs = Date.parse(since);
  const inUtc = `${new Date(sinceMs).toISOString().slice(0, 19)}Z`;
  if (known === 'Z' || known === 0) return inUtc;

  const offset = known ?? LOWEST_OFFSET;
  const local = new Date(sinceMs + offset * MINUTE_MS).toISOString();
  // Before the year 0 no offset fits into the form of a timestamp.
  return local.startsWith('-') ? inUtc : local.slice(0, 19) + formatUtcOffset(offset);
}

/** Whether a bound has an offset, which a service may reject. */
export function hasOffset(bound: string): boolean {
  return !bound.endsWith('Z');
}
