import { parseUtcOffset } from '../internal/utc-offset.ts';

const MINUTE_MS = 60_000;

/** Offsets change at most this often, and only at multiples of it. */
const BUCKET_MS = 15 * MINUTE_MS;

/** Enough for a year of buckets. */
const MAX_BUCKETS = 40_000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();

/** An offset in place of a zone. Not every runtime takes one for a zone. */
const OFFSET = /^[+-](?:[01]\d|2[0-3]):[0-5]\d$/;

/**
 * How far the local time of an IANA zone, or an offset such as `+12:45`, is ahead of UTC at a timestamp, in ms. Throws a
 * RangeError for an unknown zone.
 */
export function zoneOffsetMs(timeZone: string, ms: number): number {
  if (OFFSET.test(timeZone)) return (parseUtcOffset(timeZone) ?? 0) * MINUTE_MS;

  const { format, offsets } = zoneOf(timeZone);
  const bucket = Math.floor(ms / BUCKET_MS);
  const known = offsets.get(bucket);
  if (known !== undefined) return known;

  const name = format.formatToParts(bucket * BUCKET_MS).find(({ type }) => type === 'timeZoneName')?.value;
  const offset = (parseUtcOffset(name ?? '') ?? 0) * MINUTE_MS;
  if (offsets.size >= MAX_BUCKETS) offsets.clear();
  offsets.set(bucket, offset);
  return offset;
}

function zoneOf(timeZone: string): Zone {
  const known = zones.get(timeZone);
  if (known !== undefined) return known;

  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
  const zone = { format, offsets: new Map<number, number>() };
  zones.set(timeZone, zone);
  return zone;
}
