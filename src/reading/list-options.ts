import { type Check, is, type OptionInputs, option, optional, withDefaults } from '../internal/options.ts';
import {
  checkParameters,
  type ListOptions,
  type ListParameters,
  paginationOptions,
} from '../pagination/list-options.ts';
import { callOptions, type RunCallOptions, requestOptions } from '../transport/call-options.ts';
import { DEFAULT_MAX_OUTAGE_MS } from '../transport/outage.ts';

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
   * How it is read; see the same option of a list. Default: `keyset`, which becomes `page` if an id is not an integer.
   * After a crash `keyset` resumes where it stopped; any other starts again, with the watermark that it had.
   */
  pagination: option(paginationOptions.pagination, 'keyset'),
  /** What the service returns for a page after the last one; the API documentation does not say. Default: the client's. */
  afterLastPage: optional(paginationOptions.afterLastPage),
  /** The name of the parameter with the page number. Default: the client's. */
  pageParameter: optional(paginationOptions.pageParameter),
  /**
   * Query parameters of the service's own, such as `{ itemsPerPage: '100' }`, sent with each list. A state in a store
   * belongs to them: only a run in mode `full` may begin with others. Not for filters, because a record that is not listed
   * counts as deleted or missing.
   */
  parameters: optional(is.object as Check<ListParameters>),
  /**
   * How long a call may fail because the service is down, in ms: failed connections, timeouts, 502, 503 and 504, and a
   * 500 if a list of another collection fails too. Until then it is sent again, after its own retries, and `onProgress`
   * reports that the run waits. Then its collection fails. If a list of another collection fails too, all collections of
   * the tenant stop. Default: 120,000; 0 waits for nothing but the retries of each call.
   */
  maxOutageMs: option(is.durationFrom(0), DEFAULT_MAX_OUTAGE_MS),
  /** Further request headers. `Cache-Control: no-cache` is sent unless you name that one. */
  headers: optional(requestOptions.headers),
};

/** How a run reads. */
export interface ReadOptions extends OptionInputs<typeof readOptions> {}

/** How a run lists and looks up, checked, with the defaults of a run. The client's apply to what is undefined. */
export interface ReadSettings extends ListOptions, RunCallOptions, KeepInvalid {}

export interface KeepInvalid {
  /** Invalid rows are reported instead of thrown, unless the client says otherwise. */
  readonly keepInvalid?: boolean | undefined;
}

/**
 * The pages that a run requests ahead of its consumer. By keyset 4 take about a third of the time for a twentieth to a
 * quarter more requests, and 8 a fifth. By page they would only be older.
 */
const PAGES_AHEAD = { keyset: 4, other: 1 };

/**
 * How every list and lookup of a run is sent, from its checked options. A sync takes the time that it takes: a page has no
 * deadline, and no wait is too long. It reports its waits.
 */
export function readSettings(options: ReadOptions): ReadSettings {
  const { headers, parameters, ...own } = withDefaults(readOptions, options);
  return {
    ...own,
    prefetch: own.pagination === 'keyset' ? PAGES_AHEAD.keyset : PAGES_AHEAD.other,
    parameters: checkParameters(parameters, own.pageParameter),
    // A cached page may be a day old.
    headers: { 'cache-control': 'no-cache', ...lowerCased(headers) },
  };
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
