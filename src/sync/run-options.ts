import { checkFiniteMs, checkMethods, checkOneOf } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { zoneOffsetMs } from '../internal/utc-offset.ts';
import { type CustomCursor, checkPaginationKind } from '../pagination/by-cursor.ts';
import type { AfterLastPage } from '../pagination/page.ts';
import {
  CALL_OPTIONS,
  type CallOptions,
  type CallSettings,
  callSettings,
  checkRequestOptions,
} from '../transport/call-options.ts';
import type { SyncProgress } from './batch.ts';
import { resolveMaxOutage } from './outage.ts';
import type { SourceOptions } from './source.ts';
import type { Store } from './store.ts';
import { checkStart } from './watermark.ts';

/** A sync has written a checkpoint. */
export interface CheckpointEvent {
  readonly collection: string;
  /** The key in the store. */
  readonly key: string;
  /** Whether this was the last of its run. */
  readonly last: boolean;
}

/** How a sync or a reconcile reads. */
export interface PaginationDefaults {
  /**
   * How it is read; see the same option of a list. Default: `keyset`, which becomes `page` if an id is not an integer.
   * After a crash `keyset` resumes where it stopped; any other starts again, with the watermark that it had.
   */
  pagination?: 'keyset' | 'page' | CustomCursor<unknown> | undefined;
  /** What the service returns for a page after the last one; the API documentation does not say. Default: the client's. */
  afterLastPage?: AfterLastPage | undefined;
  /**
   * How long the calls of a collection may fail because the service is down, in ms: failed connections, timeouts, 502,
   * 503 and 504. Until then a call is sent again, after its own retries, and `onProgress` reports that the run waits.
   * Then the collection fails. If a second collection fails in the same way while no call succeeds, the service is
   * taken to be down, and all collections of the tenant stop. Default: 120,000; 0 waits for nothing but the retries of
   * each call.
   */
  maxOutageMs?: number | undefined;
  /** Further request headers. `Cache-Control: no-cache` is sent unless you name that one. */
  headers?: Readonly<Record<string, string>> | undefined;
}

export const PAGINATION_DEFAULTS: OptionNames<PaginationDefaults> = {
  pagination: true,
  afterLastPage: true,
  headers: true,
  maxOutageMs: true,
};

/** What `sync` and `changes` have in common. */
export interface RunOptions extends CallOptions, PaginationDefaults {
  /** Where the state is kept: see {@link Store}. With a store without `set` you write the checkpoints yourself. */
  store: Store;
  /** A label for the company whose records these are: letters, digits and `_.-`. Never its API key. */
  tenant: string;
  /** The first part of the state's key, for several copies in one store. Default: `accounting-data-sdk`. */
  prefix?: string | undefined;
  /**
   * - `incremental`: what changed since the last run; everything the first time. The default.
   * - `full`: everything. The watermark advances as well.
   *
   * A run that was interrupted is finished first, except an incremental one if the mode is `full`.
   */
  mode?: 'incremental' | 'full' | undefined;
  /**
   * How far behind the watermark a run starts, in ms, to find changes that become visible after later ones. Records
   * changed in that time come twice. Set it longer than the longest transaction of the service. Default: 120,000.
   */
  lookbackMs?: number | undefined;
  /**
   * The time zone of the service, an IANA name such as `America/New_York`. Only for a service whose `updatedSince`
   * ignores offsets: see the guide to syncing. Default: the offsets that its timestamps show, of any collection.
   */
  serviceTimeZone?: string | undefined;
  /**
   * For a first run: only what changed since then, instead of everything. Later runs start at the watermark. A start
   * more than 24 hours ahead of the service's clock is rejected when the first response shows that clock.
   */
  updatedSince?: string | Date | undefined;
  /** Stops the run: requests in flight are aborted, finished batches are committed. Rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Called after each batch, and before each wait. */
  onProgress?: ((progress: SyncProgress) => void) | undefined;
  /** Called after a checkpoint was written to the store, with its collection and key; `last` ends the run. */
  onCheckpoint?: ((event: CheckpointEvent) => void) | undefined;
}

export const RUN_OPTIONS: OptionNames<RunOptions> = {
  ...CALL_OPTIONS,
  ...PAGINATION_DEFAULTS,
  store: true,
  tenant: true,
  prefix: true,
  mode: true,
  lookbackMs: true,
  updatedSince: true,
  serviceTimeZone: true,
  signal: true,
  onProgress: true,
  onCheckpoint: true,
};

/** RunOptions with every default applied. */
export interface ResolvedRunOptions {
  readonly store: Store;
  readonly tenant: string;
  readonly prefix: string;
  readonly mode: 'incremental' | 'full';
  readonly lookbackMs: number;
  readonly serviceTimeZone: string | undefined;
  readonly maxOutageMs: number;
  /** The caller's own start, as ISO 8601. */
  readonly updatedSince: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: SyncProgress) => void) | undefined;
  readonly onCheckpoint: ((event: CheckpointEvent) => void) | undefined;
  /** The options of every list. */
  readonly list: SourceOptions;
}

/** Checks the options of a run and applies every default. */
export function resolveRunOptions(options: RunOptions): ResolvedRunOptions {
  const { store, tenant, mode = 'incremental', lookbackMs = 120_000, updatedSince } = options;
  checkMethods(store, 'store', ['get']);
  checkOneOf(mode, 'mode', ['incremental', 'full']);
  checkFiniteMs(lookbackMs, 'lookbackMs');
  checkTimeZone(options.serviceTimeZone);
  return {
    store,
    tenant,
    prefix: options.prefix ?? 'accounting-data-sdk',
    mode,
    lookbackMs,
    serviceTimeZone: options.serviceTimeZone,
    maxOutageMs: resolveMaxOutage(options.maxOutageMs),
    updatedSince: updatedSince === undefined ? undefined : checkStart(updatedSince, 'updatedSince'),
    signal: options.signal,
    onProgress: options.onProgress,
    onCheckpoint: options.onCheckpoint,
    list: resolveListOptions(options),
  };
}

function checkTimeZone(timeZone: string | undefined): void {
  try {
    if (timeZone !== undefined) zoneOffsetMs(timeZone, 0);
  } catch {
    throw new InvalidInputError('serviceTimeZone', 'must be an IANA time zone such as America/New_York');
  }
}

/**
 * Checks how to read and applies every default. A sync takes the time that it takes: a page has no deadline, and no wait
 * is too long. It reports its waits.
 */
export function resolveListOptions(
  options: CallOptions & PaginationDefaults & { readonly signal?: AbortSignal | undefined },
): SourceOptions {
  const { pagination = 'keyset', timeoutMs, retry } = options;
  checkPaginationKind(pagination);
  checkRequestOptions(options);
  // Only to reject invalid options: the client resolves them.
  callSettings({ retry: {} } as CallSettings, options);
  return {
    pagination,
    // The run itself requests one page ahead, so that it can close what it opened.
    prefetch: 0,
    afterLastPage: options.afterLastPage,
    timeoutMs,
    deadlineMs: options.deadlineMs ?? Number.POSITIVE_INFINITY,
    maxWaitMs: options.maxWaitMs ?? Number.POSITIVE_INFINITY,
    retry,
    // A cached page may be a day old.
    headers: { 'cache-control': 'no-cache', ...lowerCased(options.headers) },
  };
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
