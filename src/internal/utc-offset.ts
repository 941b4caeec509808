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

/** The offset at the end of a string such as `2026-01-31T12:00:00-05:00`, in minutes; undefined if there is none. */
export function parseUtcOffset(text: string): number | undefined {
  const match = /([+-])(\d\d):?([0-5]\d)$/.exec(text);
  if (match === null) return undefined;

  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? 0 - minutes : minutes;
}

/** An offset in minutes as ISO 8601 has it: `-05:00`. */
export function formatUtcOffset(minutes: number): string {
  const digits = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${digits(size / 60)}:${digits(size % 60)}`;
}
