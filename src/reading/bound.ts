import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { formatUtcOffset, parseUtcOffset, zoneOffsetMs } from '../internal/utc-offset.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** The offsets that zones of the world have, in minutes. Anything else is not an offset of a service. */
const LOWEST_OFFSET = -12 * 60;
const HIGHEST_OFFSET = 14 * 60;

/** What daylight saving time and a change of the law may take off the lowest offset that was seen. */
const MARGIN = 60;

/** What is known of a service: the lowest offset that its rows showed, in minutes; `Z`: it rejects bounds with an offset. */
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

/** The offset for a zone, in minutes: never above its local times in the year after a timestamp. */
function offsetOfZone(timeZone: string, fromMs: number): number {
  const offsets = new Set<number>();
  // By the week: no zone is known to have kept an offset for a shorter time.
  for (let day = 0; day <= 371; day += 7)
    offsets.add(zoneOffsetMs(timeZone, fromMs + day * DAY_MS) / MINUTE_MS);
  const lowest = Math.floor(Math.min(...offsets));
  return offsets.size === 1 ? lowest : lowest - MARGIN;
}

/** The largest step that a zone makes back, that of Troll, in minutes, and how far apart the times are that are looked at. */
const LARGEST_STEP = 120;
const EVERY = 15;

/**
 * A time, less the step that the clocks of the zone make back around it. A service that stores local times and converts the
 * bound misses changes otherwise: in Amsterdam 00:53Z is 02:53 before the step, and a change at 01:05Z is stored as 02:05.
 */
function beforeStepBack(timeZone: string, atMs: number): number {
  const offsetAt = (ms: number) => zoneOffsetMs(timeZone, ms);
  for (let minutes = -LARGEST_STEP; minutes <= LARGEST_STEP; minutes += EVERY) {
    // Offsets change on the quarter of an hour.
    const stepMs = Math.ceil((atMs + minutes * MINUTE_MS) / (EVERY * MINUTE_MS)) * EVERY * MINUTE_MS;
    const lossMs = offsetAt(stepMs - 1) - offsetAt(stepMs);
    if (lossMs > 0 && Math.abs(atMs - stepMs) <= lossMs) return atMs - lossMs;
  }
  return atMs;
}

/**
 * A timestamp in UTC as `updatedSince` states it. Some services ignore the offset of the bound and compare its date
 * and time as written with local times. Written in an offset that is at most that of the service at any time, the
 * bound is the same moment for services that convert it, and an earlier one for services that do not.
 *
 * The offset is that of `timeZone`, or the known one less an hour. It is `-12:00`, the lowest on Earth, as long as no row
 * showed one: no timestamps, or timestamps in `Z`, say nothing about local times. With `timeZone` it also goes back by the
 * step of the clocks, if they are set back within that time before or after it.
 */
export function boundAt(since: string, known: KnownOffset, timeZone?: string): string {
  const fromMs = timeZone === undefined ? Date.parse(since) : beforeStepBack(timeZone, Date.parse(since));
  const inUtc = `${new Date(fromMs).toISOString().slice(0, 19)}Z`;
  if (known === 'Z') return inUtc;

  const shown = known === undefined ? LOWEST_OFFSET : Math.max(LOWEST_OFFSET, known - MARGIN);
  const offset = timeZone === undefined ? shown : offsetOfZone(timeZone, fromMs);
  const local = new Date(fromMs + offset * MINUTE_MS).toISOString();
  // Before the year 0 no offset fits into the form of a timestamp.
  if (offset === 0 || local.startsWith('-')) return inUtc;
  return local.slice(0, 19) + formatUtcOffset(offset);
}

/** Whether a bound misses changes on a service that ignores offsets, because its rows show a lower one. */
export function isTooLate(bound: string, shown: KnownOffset): boolean {
  return typeof shown === 'number' && (parseUtcOffset(bound) ?? 0) > shown;
}

/** Whether a bound has an offset, which a service may reject. */
export function hasOffset(bound: string): boolean {
  return !bound.endsWith('Z');
}

export function checkTimeZone(timeZone: string): void {
  try {
    zoneOffsetMs(timeZone, 0);
  } catch {
    throw new InvalidInputError(
      'serviceTimeZone',
      'must be an IANA time zone such as America/New_York, or an offset such as +12:45',
    );
  }
}
