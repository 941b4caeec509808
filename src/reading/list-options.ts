import { checkMs, given } from '../errors/check-input.ts';
import { namesOf, type OptionNames } from '../internal/option-names.ts';
import { withDefaults } from '../internal/options.ts';
import type { CustomCursor } from '../pagination/by-cursor.ts';
import {
  checkParameters,
  type ListOptions,
  type PaginationSettings,
  paginationOptions,
} from '../pagination/list-options.ts';
import type { AfterLastPage } from '../pagination/page.ts';
import {
  type CallOptions,
  callOptions,
  type RunCallOptions,
  requestOptions,
} from '../transport/call-options.ts';
import { DEFAULT_MAX_OUTAGE_MS } from '../transport/outage.ts';

/** How a sync or a reconcile reads. */
export interface ReadOptions extends CallOptions {
  /**
   * How it is read; see the same option of a list. Default: `keyset`, which becomes `page` if an id is not an integer.
   * After a crash `keyset` resumes where it stopped; any other starts again, with the watermark that it had.
   */
  pagination?: 'keyset' | 'page' | 'none' | CustomCursor<unknown> | undefined;
  /** What the service returns for a page after the last one; the API documentation does not say. Default: the client's. */
  afterLastPage?: AfterLastPage | undefined;
  /** The name of the parameter with the page number. Default: the client's. */
  pageParameter?: string | undefined;
  /**
   * Query parameters of the service's own, such as `{ itemsPerPage: '100' }`, sent with each list. A state in a store
   * belongs to them: only a run in mode `full` may begin with others. Not for filters, because a record that is not listed
   * counts as deleted or missing.
   */
  parameters?: Readonly<Record<string, string>> | undefined;
  /**
   * How long a call may fail because the service is down, in ms: failed connections, timeouts, 502, 503 and 504, and a
   * 500 if a list of another collection fails too. Until then it is sent again, after its own retries, and `onProgress`
   * reports that the run waits. Then its collection fails. If a list of another collection fails too, all collections of
   * the tenant stop. Default: 120,000; 0 waits for nothing but the retries of each call.
   */
  maxOutageMs?: number | undefined;
  /** The longest that a call may take with all attempts and waits; each page of a list has its own. Default: no limit. */
  deadlineMs?: number | undefined;
  /** The longest single wait: a Retry-After beyond it is thrown at once, a backoff is cut to it. Default: no limit. */
  maxWaitMs?: number | undefined;
  /** Further request headers. `Cache-Control: no-cache` is sent unless you name that one. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export const READ_OPTIONS: OptionNames<ReadOptions> = {
  ...(namesOf(callOptions) as OptionNames<CallOptions>),
  pagination: true,
  afterLastPage: true,
  pageParameter: true,
  parameters: true,
  headers: true,
  maxOutageMs: true,
};

/** How a run lists and looks up, checked, with the defaults of a run. The client's apply to what is undefined. */
export interface ReadSettings extends ListOptions, RunCallOptions, KeepInvalid {}

export interface KeepInvalid {
  /** Invalid rows are reported instead of thrown, unless the client says otherwise. */
  readonly keepInvalid?: boolean | undefined;
}

const PAGINATION: PaginationSettings = {
  pagination: 'keyset',
  // The run itself requests one page ahead, so that it can close what it opened.
  prefetch: 0,
  afterLastPage: 'empty',
  pageParameter: '_page',
};

/**
 * The pages that a read of everything requests ahead, beside the one of its run: 4 take about a third of the time for an
 * eighth more requests, 8 a fifth for a quarter more. By page it would read older pages for nothing in return.
 */
export function fullReadAhead({ pagination }: ReadSettings): Pick<ReadSettings, 'prefetch'> {
  return pagination === 'keyset' ? { prefetch: 4 } : {};
}

/**
 * Checks how to read and applies every default. A sync takes the time that it takes: a page has no deadline, and no wait
 * is too long. It reports its waits.
 */
export function resolveReadOptions(
  options: ReadOptions & { readonly signal?: AbortSignal | undefined },
): ReadSettings {
  const { timeoutMs, retry, maxOutageMs = DEFAULT_MAX_OUTAGE_MS } = options;
  const { timeoutMs: _, ...names } = options;
  const checked = { ...names };
  for (const name of Object.keys(checked)) {
    if (!Object.hasOwn({ ...requestOptions, ...paginationOptions }, name) || name.startsWith('on'))
      delete (checked as Record<string, unknown>)[name];
  }
  given({ ...requestOptions, ...paginationOptions }, { ...checked, timeoutMs }, { of: 'sync' });
  const { pagination, prefetch } = withDefaults(
    paginationOptions,
    { pagination: options.pagination },
    PAGINATION,
  );
  return {
    pagination,
    prefetch,
    afterLastPage: options.afterLastPage,
    pageParameter: options.pageParameter,
    parameters: checkParameters(options.parameters, options.pageParameter),
    timeoutMs,
    deadlineMs: options.deadlineMs ?? Number.POSITIVE_INFINITY,
    maxWaitMs: options.maxWaitMs ?? Number.POSITIVE_INFINITY,
    retry,
    maxOutageMs: checkMs(maxOutageMs, 'maxOutageMs', 0),
    // A cached page may be a day old.
    headers: { 'cache-control': 'no-cache', ...lowerCased(options.headers) },
  };
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
