import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkTimestamp } from '../input/checks.ts';
import type { ResponseTime } from '../pagination/page.ts';
import { isFarAhead } from '../schemas/timestamp.ts';

/** Without a `Date` header the local clock is used, which may be ahead of the service's. */
const LOCAL_CLOCK_MARGIN_MS = 5 * 60_000;

/** A timestamp to the second, rounded down: the precision of `Date` and of the service's own timestamps. */
export function toSeconds(ms: number): string {
  return new Date(ms - (((ms % 1000) + 1000) % 1000)).toISOString().replace('.000Z', 'Z');
}

/** The service's clock as the response shows it, in ms; the local clock if it does not. */
export function observedTime({ serverTime, requestedAt }: ResponseTime): number {
  return (serverTime ?? requestedAt).getTime();
}

/**
 * The watermark of a run, from its first response: the run reads everything that was visible before it. Never the
 * largest `updatedAt`, because a late commit may lie below it; never the end of the run, because a change may happen
 * during it.
 *
 * `Date` says when the response was sent. The data was read before that, but not before the request: a change made
 * in between has a timestamp before `Date` and is not in the response.
 */
export function watermarkOf(response: ResponseTime): string {
  const margin = response.serverTime === undefined ? LOCAL_CLOCK_MARGIN_MS : response.durationMs;
  // No watermark lies before 1970, even if the clock of the service does.
  return toSeconds(Math.max(0, observedTime(response) - margin));
}

/** Where the next run starts: the lookback covers commits that become visible after later ones. */
export function sinceOf(watermark: string, lookbackMs: number): string {
  return toSeconds(Math.max(0, Date.parse(watermark) - lookbackMs));
}

/** The caller's own start, as ISO 8601. */
export function checkStart(value: string | Date, argument: string): string {
  return toSeconds(Date.parse(checkTimestamp(value, argument)));
}

/** Rejects a start that lies in the service's future: nothing would ever be found. */
export function rejectFutureStart(since: string, nowMs: number, argument: string): void {
  if (!isFarAhead(since, nowMs)) return;
  throw new InvalidInputError(argument, "is more than 24 hours ahead of the service's clock");
}
