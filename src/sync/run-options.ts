import {
  is,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
  required,
} from '../internal/options.ts';
import { type ReadOptions, type ReadSettings, readOptions, readSettings } from '../reading/list-options.ts';
import { keyPrefix, label } from '../reading/state.ts';
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

const ownOptions = {
  /** A label for the company whose records these are: letters, digits and `_.-`. Never its API key. */
  tenant: required(label),
  /** The first part of the state's key, for several copies in one store. Default: `accounting-data-sdk`. */
  prefix: option(keyPrefix, 'accounting-data-sdk'),
  /**
   * - `incremental`: what changed since the last run; everything the first time. The default.
   * - `full`: everything. The watermark advances too.
   *
   * A run that was interrupted is finished first, except an incremental one if the mode is `full`.
   */
  mode: option(is.oneOf('incremental', 'full'), 'incremental'),
  /**
   * How far behind the watermark a run starts, in ms, to find changes that become visible after later ones. Records
   * changed in that time come twice. Set it longer than the longest transaction of the service. Default: 120,000.
   */
  lookbackMs: option(is.finiteDuration, 120_000),
  /**
   * For a first run: only what changed since then, instead of everything. Later runs start at the watermark. A start
   * more than 24 hours ahead of the service's clock is rejected when the first response shows that clock.
   */
  updatedSince: optional(is.verified<string | Date>(checkStart)),
  /**
   * Accepts API keys even if known records do not prove that they belong to the same company. With a key that is new, up to
   * five known records are requested: at least one must exist, and all that exist must have the same `createdAt`. Otherwise
   * the run ends, and no response to the key is used. Pass `true` once for a new key of the same company. Default: false.
   */
  sameCompany: option(is.flag, false),
  /** Stops the run: requests in flight are aborted, finished batches are committed. Rejects with the signal's own reason. */
  signal: optional(is.signal),
  /** Called after each batch, and before each wait. */
  onProgress: optional(is.callback<(progress: SyncProgress) => void>()),
  /** Called after a checkpoint was written to the store, with its collection and key; `last` ends the run. */
  onCheckpoint: optional(is.callback<(event: CheckpointEvent) => void>()),
};

export const runOptions = { ...readOptions, ...ownOptions };

/** What `sync` and `changes` have in common. */
export interface RunOptions extends ReadOptions, OptionInputs<typeof ownOptions> {}

export interface ResolvedRunOptions extends Omit<ResolvedOptions<typeof runOptions>, 'updatedSince'> {
  /** The caller's own start, as ISO 8601. */
  readonly updatedSince: string | undefined;
  /** How every list and lookup is sent. */
  readonly settings: ReadSettings;
}

/** What follows from the checked options of a run. */
export function asRun<Options extends ResolvedOptions<typeof runOptions>>(
  options: Options,
): Options & ResolvedRunOptions {
  const { updatedSince } = options;
  return {
    ...options,
    updatedSince: updatedSince && checkStart(updatedSince, 'updatedSince'),
    settings: readSettings(options),
  };
}
