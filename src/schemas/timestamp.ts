/**
 * A date (`2026-01-31`), or a timestamp that names its offset (`2026-01-31T12:00:00Z`, `…+01:00`).
 * A timestamp without an offset is ISO 8601 too, but client and service may read it in different zones.
 */
const TIMESTAMP =
  /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d))?$/;

/** Whether a string is an ISO 8601 date, or a timestamp with an offset, that exists in the calendar. */
export function isTimestamp(value: string): boolean {
  const parts = TIMESTAMP.exec(value);
  if (parts === null) return false;

  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts
    .slice(1, 7)
    .map((n) => Number(n ?? 0));
  if (hour > 23 || minute > 59 || second > 59) return false;

  // A day that the month does not have is one of another month.
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1;
}

/** A caller's timestamp this far in the service's future is a mistake: nothing would ever be found. */
const FAR_AHEAD_MS = 24 * 3_600_000;

/** Whether a timestamp lies more than 24 hours ahead of a time in ms since the epoch. */
export function isFarAhead(timestamp: string, nowMs: number): boolean {
  return Date.parse(timestamp) > nowMs + FAR_AHEAD_MS;
}
