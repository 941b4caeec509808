import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { CheckpointEvent } from '../events.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { zoneOffsetMs } from '../internal/utc-offset.ts';
import type { CustomCursor } from '../pagination/by-cursor.ts';
import type { AfterLastPage } from '../pagination/page.ts';
import {
  CALL_OPTIONS,
  type CallOptions,
  type CallSettings,
  callSettings,
  checkRequestOptions,
} from '../transport/call-options.ts';
import { resolveMaxOutage } from './outage-clock.ts';
import type { SyncProgress } from './progress.ts';
import type { SourceOptions } from './source.ts';
import type { Store } from './store.ts';
import { checkInstant } from './watermark.ts';

/** How a sync or a reconcile reads. */
export interface PaginationDefaults {
  /**
   * How it is read; see the same option of a list. Default: `keyset`, which turns to `page` where an id is no
   * integer. After a crash `keyset` goes on where it stood; every other begins again, with the watermark it had.
   */
  pagination?: 'keyset' | 'page' | CustomCursor<unknown> | undefined;
  /** How the service answers a page past the last one; not shown in the contract. Default: the client's. */
  afterLastPage?: AfterLastPage | undefined;
  /**
   * How long the service may be down, in ms, before the run ends with the error of its last call: connections that
   * fail, timeouts, 502, 503 and 504, after the retries of the call itself. Until then the call is made again, and
   * `onProgress` says that the run waits. Default: 120,000; 0 ends the run at once.
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
  /** Where the state is kept: see {@link Store}. One without `set` leaves the writing to you. */
  store: Store;
  /** A label for the company whose books these are: letters, digits and `_.-`. Never its API key. */
  tenant: string;
  /** The first part of the state's key, for several copies in one store. Default: `accounting-data-sdk`. */
  prefix?: string | undefined;
  /**
   * - `incremental`: what changed since the last run; everything the first time. The default.
   * - `full`: everything, as before a {@link reconcile}. The watermark is promoted as well.
   *
   * A run that was interrupted is ended first, but for a `full` that finds an incremental one.
   */
  mode?: 'incremental' | 'full' | undefined;
  /**
   * How far behind the watermark is asked, in ms, for changes that become visible after later ones. Records of that
   * time come twice. Longer than the longest transaction of the service. Default: 120,000.
   */
  lookbackMs?: number | undefined;
  /**
   * The time zone of the service, an IANA name such as `America/New_York`. Only for a service whose `updatedSince`
   * ignores offsets: see the guide to syncing. Default: the offsets that its timestamps show, of any collection.
   */
  serviceTimeZone?: string | undefined;
  /** For a first run: only what changed since then, instead of everything. Later runs go by the watermark. */
  updatedSince?: string | Date | undefined;
  /** Stops: what is under way is aborted, what was finished is committed. Rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Told after each batch, and before each wait. */
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
  /** A caller's own start, as ISO 8601. */
  readonly updatedSince: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: SyncProgress) => void) | undefined;
  readonly onCheckpoint: ((event: CheckpointEvent) => void) | undefined;
  /** What every list of the run is asked with. */
  readonly list: SourceOptions;
}

/** Checks the options of a run and applies every default. */
export function resolveRunOptions(options: RunOptions): ResolvedRunOptions {
  const { store, tenant, mode = 'incremental', lookbackMs = 120_000, updatedSince } = options;
  if (typeof (store as Partial<Store> | null | undefined)?.get !== 'function') {
    throw new InvalidInputError('store', 'must have a method get');
  }
  if (mode !== 'incremental' && mode !== 'full') {
    throw new InvalidInputError('mode', "must be 'incremental' or 'full'");
  }
  if (typeof lookbackMs !== 'number' || !(lookbackMs >= 0 && lookbackMs < Number.POSITIVE_INFINITY)) {
    throw new InvalidInputError('lookbackMs', 'must be a number of milliseconds, at least 0');
  }
  checkTimeZone(options.serviceTimeZone);
  return {
    store,
    tenant,
    prefix: options.prefix ?? 'accounting-data-sdk',
    mode,
    lookbackMs,
    serviceTimeZone: options.serviceTimeZone,
    maxOutageMs: resolveMaxOutage(options.maxOutageMs),
    updatedSince: updatedSince === undefined ? undefined : checkInstant(updatedSince, 'updatedSince'),
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
 * Checks how is to be read and applies every default. A sync takes the time that it takes: no deadline for a page, and
 * no wait that is too long. It says that it waits.
 */
export function resolveListOptions(
  options: CallOptions & PaginationDefaults & { readonly signal?: AbortSignal | undefined },
): SourceOptions {
  const { pagination = 'keyset', timeoutMs, retry } = options;
  if (pagination !== 'keyset' && pagination !== 'page' && typeof pagination?.next !== 'function') {
    throw new InvalidInputError('pagination', "must be 'keyset', 'page' or a cursor { first, next }");
  }
  checkRequestOptions(options);
  // For what it refuses: the settings themselves are the client's to make.
  callSettings({ retry: {} } as CallSettings, options);
  return {
    pagination,
    // Looking ahead is the run's own business: a sync shares its requests in flight among all collections.
    prefetch: 0,
    afterLastPage: options.afterLastPage,
    timeoutMs,
    deadlineMs: options.deadlineMs ?? Number.POSITIVE_INFINITY,
    maxWaitMs: options.maxWaitMs ?? Number.POSITIVE_INFINITY,
    retry,
    // A page out of a cache is a page of yesterday.
    headers: { 'cache-control': 'no-cache', ...lowerCased(options.headers) },
  };
}

function lowerCased(headers: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}
