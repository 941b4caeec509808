import { checkCallbacks, checkFiniteMs, checkOneOf } from '../errors/check-input.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { checkTimeZone } from '../reading/bound.ts';
import { READ_OPTIONS, type ReadOptions, resolveReadOptions } from '../reading/list-options.ts';
import { checkStateName } from '../reading/state.ts';
import { checkStart } from '../reading/watermark.ts';
import type { SyncProgress } from './batch.ts';

/** A sync has written a checkpoint. */
export interface CheckpointEvent {
  readonly collection: string;
  /** The key in the store. */
  readonly key: string;
  /** Whether this was the last of its run. */
  readonly last: boolean;
}

/** What `sync` and `changes` have in common. */
export interface RunOptions extends ReadOptions {
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
   * The time zone of the service, an IANA name such as `America/New_York` or `UTC`. A service that stores local times
   * needs it for the night when clocks go back, which has an hour twice. It also saves records that a service whose
   * `updatedSince` ignores offsets sends again. See the guide to syncing. Default: the lowest offset that the collection's own rows showed, less an hour; `-12:00` as long as they showed none.
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
  ...READ_OPTIONS,
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
export type ResolvedRunOptions = ReturnType<typeof resolveRunOptions>;

/** Checks the options of a run and applies every default. */
export function resolveRunOptions(options: RunOptions) {
  const { tenant, prefix = 'accounting-data-sdk', mode = 'incremental', lookbackMs = 120_000 } = options;
  const { updatedSince, serviceTimeZone, signal, onProgress, onCheckpoint } = options;
  checkStateName({ prefix, tenant });
  checkOneOf(mode, 'mode', ['incremental', 'full']);
  checkFiniteMs(lookbackMs, 'lookbackMs');
  checkTimeZone(serviceTimeZone);
  checkCallbacks(options, ['onProgress', 'onCheckpoint']);
  return {
    tenant,
    prefix,
    mode,
    lookbackMs,
    serviceTimeZone,
    signal,
    onProgress,
    onCheckpoint,
    /** The caller's own start, as ISO 8601. */
    updatedSince: updatedSince === undefined ? undefined : checkStart(updatedSince, 'updatedSince'),
    /** How every list and lookup is sent. */
    read: resolveReadOptions(options),
  };
}
