import { checkOptionNames } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import { CALL_OPTIONS, type CallOptions, type RequestOptions } from '../transport/call-options.ts';
import { PAGINATION_DEFAULTS, type PaginationDefaults, resolveListOptions } from './options.ts';
import { OutageClock, resolveMaxOutage } from './outage-clock.ts';
import type { SourceOptions, SyncSource } from './source.ts';

/** What a reconcile needs of a collection, such as `client.accounts`: a list, and a way to ask for one record. */
export interface ReconcileSource<T extends { id: string }> extends SyncSource<T> {
  /** One record; `undefined` where there is none. */
  find(id: string, options: RequestOptions): Promise<T | undefined>;
}

/** How far a reconcile is. */
export interface ReconcileProgress {
  readonly collection: string;
  /** It reads the local ids, walks the collection, asks for candidates one by one, or has them deleted. */
  readonly phase: 'local' | 'read' | 'confirm' | 'delete';
  /** Ids or records so far, in this phase. */
  readonly done: number;
  /** Whether it waits, for the budget of its key or to try again. */
  readonly waiting: boolean;
  /** When the wait ends, where that is known. */
  readonly waitingUntil: Date | undefined;
}

/** Options of {@link reconcile}. */
export interface ReconcileOptions<T> extends CallOptions, PaginationDefaults {
  /** The ids of the local copy, of this collection and company alone. Read to its end before the first request. */
  localIds: () => AsyncIterable<string> | Iterable<string>;
  /** Takes ids whose records are gone. Never called twice at once, and not before every candidate was confirmed. */
  onDelete: (ids: readonly string[]) => unknown;
  /** Takes records that the walk did not show and that are there all the same, to be upserted. */
  onRepair?: ((records: readonly T[]) => unknown) | undefined;
  /**
   * The most local ids that the walk may have missed: with more, nothing is deleted. `Infinity` where it is known that
   * much has gone. Default: 50, or a tenth of the local ids if that is more. Only `Infinity` allows that none of the
   * local ids is found upstream, because that is what a key of another company looks like.
   */
  maxCandidates?: number | undefined;
  /** Ids or records in one call of `onDelete` and `onRepair`. Default: 500. */
  batchSize?: number | undefined;
  /** Candidates asked for at a time. Default: 2. */
  concurrency?: number | undefined;
  /** The name of the collection in report and errors. Default: that of its segment. */
  name?: string | undefined;
  /** Stops: what is under way is aborted. Rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Told after each page and batch, and before each wait. */
  onProgress?: ((progress: ReconcileProgress) => void) | undefined;
}

export const RECONCILE_OPTIONS: OptionNames<ReconcileOptions<unknown>> = {
  ...CALL_OPTIONS,
  ...PAGINATION_DEFAULTS,
  localIds: true,
  onDelete: true,
  onRepair: true,
  maxCandidates: true,
  batchSize: true,
  concurrency: true,
  name: true,
  signal: true,
  onProgress: true,
};

/** ReconcileOptions with every default applied. */
export interface ResolvedReconcileOptions<T> {
  readonly localIds: ReconcileOptions<T>['localIds'];
  readonly onDelete: (ids: readonly string[]) => unknown;
  readonly onRepair: (records: readonly T[]) => unknown;
  readonly maxCandidates: number | undefined;
  readonly batchSize: number;
  readonly concurrency: number;
  readonly signal: AbortSignal | undefined;
  readonly outage: OutageClock;
  readonly list: SourceOptions;
}

/** Checks the options of a reconcile and applies every default. */
export function resolveReconcileOptions<T>(options: ReconcileOptions<T>): ResolvedReconcileOptions<T> {
  checkOptionNames(options, RECONCILE_OPTIONS, { of: 'reconcile' });
  const { localIds, onDelete, onRepair, maxCandidates, batchSize = 500, concurrency = 2 } = options;
  if (typeof localIds !== 'function') throw new InvalidInputError('localIds', 'must be a function');
  if (typeof onDelete !== 'function') throw new InvalidInputError('onDelete', 'must be a function');
  if (onRepair !== undefined && typeof onRepair !== 'function') {
    throw new InvalidInputError('onRepair', 'must be a function');
  }
  if (maxCandidates !== undefined && !(typeof maxCandidates === 'number' && maxCandidates >= 0)) {
    throw new InvalidInputError('maxCandidates', 'must be a number of at least 0');
  }
  checkCount('batchSize', batchSize);
  checkCount('concurrency', concurrency);
  return {
    localIds,
    onDelete,
    onRepair: onRepair ?? (() => undefined),
    maxCandidates,
    batchSize,
    concurrency,
    signal: options.signal,
    outage: new OutageClock(resolveMaxOutage(options.maxOutageMs)),
    list: resolveListOptions(options),
  };
}

function checkCount(argument: string, count: number): void {
  if (!Number.isInteger(count) || count < 1) {
    throw new InvalidInputError(argument, 'must be a whole number of at least 1');
  }
}
