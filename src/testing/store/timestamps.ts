import { formatUtcOffset } from '../../internal/utc-offset.ts';
import type { ResolvedSandboxOptions } from '../options.ts';
import { zoneOffsetMs } from '../time-zone.ts';

type TimeOptions = Pick<ResolvedSandboxOptions, 'timestamps' | 'timeZone' | 'dateFilter'>;

/** A timestamp as a record shows it. */
export function formatTimestamp(ms: number, options: TimeOptions): string {
  if (options.timestamps === 'milliseconds') return new Date(ms).toISOString();
  if (options.timestamps === 'seconds') return `${withoutFraction(ms)}Z`;

  const local = ms + zoneOffsetMs(options.timeZone, ms);
  return withoutFraction(local) + formatUtcOffset(displayedOffset(ms, options) / 60_000);
}

function withoutFraction(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19);
}

/**
 * A service that stores local times cannot distinguish the two hours that the end of daylight saving time repeats: like
 * PHP, it takes both for the first.
 */
function displayedOffset(ms: number, { timeZone, dateFilter }: TimeOptions): number {
  const offset = zoneOffsetMs(timeZone, ms);
  if (dateFilter === 'utc') return offset;

  const before = zoneOffsetMs(timeZone, ms - 3 * 3_600_000);
  return zoneOffsetMs(timeZone, ms + offset - before) === before ? before : offset;
}

/**
 * A timestamp at the precision of the service. With whole seconds both sides of `updatedSince` lose their fraction, so
 * that everything written in the second of the bound is returned again (specification: updatedSince).
 */
export function atPrecision(ms: number, form: ResolvedSandboxOptions['timestamps']): number {
  return form === 'milliseconds' ? ms : Math.floor(ms / 1000) * 1000;
}

/** What `updatedSince` is compared with: the timestamp, or the local time as if it were UTC. */
export function comparedTime(ms: number, { timeZone, dateFilter }: TimeOptions): number {
  return dateFilter === 'utc' ? ms : ms + zoneOffsetMs(timeZone, ms);
}
