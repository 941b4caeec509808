import { is, type Named, type OptionInputs, option, optional, withDefaults } from '../internal/options.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import { type ListOptions, paginationOptions } from '../pagination/list-options.ts';
import { callOptions, type RunCallOptions, requestOptions } from '../transport/call-options.ts';
import { CallOutcomes } from '../transport/call-outcomes.ts';
import { OutageClock, type OutageView } from '../transport/outage-clock.ts';

/** Longer than a deployment and most incidents; short enough for a job that runs by the hour. */
const MAX_OUTAGE_MS = 120_000;

export const readOptions = {
  /** The longest that one attempt may take, body included. Default: the client's. */
  timeoutMs: optional(callOptions.timeoutMs),
  /** The longest that a call may take with all attempts and waits; each page of a list has its own. Default: no limit. */
  deadlineMs: option(callOptions.deadlineMs, Number.POSITIVE_INFINITY),
  /** The longest single wait: a Retry-After beyond it fails the call at once, a backoff is cut to it. Default: no limit. */
  maxWaitMs: option(callOptions.maxWaitMs, Number.POSITIVE_INFINITY),
  /** How a failed call is sent again. `false` for one attempt; a 429 is waited for anyway. Default: the client's. */
  retry: optional(callOptions.retry),
  /**
   * How long the service may be down, in ms, from the first failure on: lost connections, timeouts, 500, 502 to 504, 520 to
   * 527, and a page in place of JSON. After its own retries a call waits, and other collections are read. If one of them gets
   * a response, the call is sent once more, and if that fails too, its collection fails alone. If none does, `onProgress`
   * reports that the run waits, and it fails when this time is over; at once for a Retry-After beyond it. The retries of a
   * call, up to 15 seconds by default, are never cut short. Default: 120,000; 0 waits for nothing but these.
   */
  maxOutageMs: option(is.durationFrom(0), MAX_OUTAGE_MS),
  /** Further request headers. `Cache-Control: no-cache` is sent unless you name that one. */
  headers: optional(requestOptions.headers),
};

/** How the service behaves is said once, to the client. */
export const OF_CLIENT = [
  { names: paginationOptions, advice: 'Pass it to createClient, or to withOptions for a single run.' },
  { names: { bareNotFound: 1, contentTypes: 1, ids: 1, validation: 1 }, advice: 'Pass it to createClient.' },
];

/** How a run reads. */
export interface ReadOptions extends OptionInputs<typeof readOptions>, Named {}

/** How a run lists and looks up, checked, with the defaults of a run. The client's apply to what is undefined. */
export interface ReadSettings extends ListOptions, RunCallOptions, KeepInvalid {
  readonly maxOutageMs: number;
  /** The outage clock of the run, and how its calls see it. */
  readonly clock: OutageClock;
  readonly outage: OutageView;
  readonly outcomes: CallOutcomes;
}

export interface KeepInvalid {
  /** Invalid rows are reported instead of thrown, unless the client says otherwise. */
  readonly keepInvalid?: boolean | undefined;
}

/**
 * The pages that a run requests ahead of its consumer. By keyset 4 take about a third of the time for a twentieth to a
 * quarter more requests, and 8 a fifth. By page they would only be older.
 */
export const pagesAhead = (pagination: PaginationChoice): number => (pagination === 'keyset' ? 4 : 1);

/**
 * How every list and lookup of a run is sent, from its checked options. A sync takes the time that it takes: a page has no
 * deadline, and no wait is too long. It reports its waits.
 */
export function readSettings(options: ReadOptions & Pick<ReadSettings, 'signal'>): ReadSettings {
  const { headers, ...own } = withDefaults(readOptions, options);
  const clock = new OutageClock(own.maxOutageMs);
  return {
    ...own,
    clock,
    outage: clock.view(),
    outcomes: new CallOutcomes(),
    signal: options.signal,
    // A cached page may be a day old.
    headers: { 'cache-control': 'no-cache', ...headers },
  };
}
