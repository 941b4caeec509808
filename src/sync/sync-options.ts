import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { readable } from '../input/checks.ts';
import {
  is,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
  type TableOf,
} from '../internal/options.ts';
import type { Paginator } from '../pagination/paginator.ts';
import { isCollection, type RecordIn } from '../reading/source.ts';
import type { Store } from '../reading/store.ts';
import type { Batch } from './batch.ts';
import { stopAfter } from './limit/stop-after.ts';
import { type ResolvedRunOptions, type RunOptions, runOptions } from './run-options.ts';
import type { OpenTarget, SyncTarget } from './target.ts';

/** The names of a client's collections: of every property that can be listed. */
export type CollectionsIn<C> = {
  [Name in keyof C]: C[Name] extends { list(...args: never[]): Paginator<{ id: string }> } ? Name : never;
}[keyof C] &
  string;

/**
 * A batch of any of a client's collections: `batch.collection` names it and determines the type of its records.
 *
 * ```ts
 * function store(batch: BatchOf<Client>) {
 *   if (batch.collection === 'budgets') saveBudgets(batch.records); // readonly Budget[]
 * }
 * ```
 */
export type BatchOf<C, Names extends CollectionsIn<C> = CollectionsIn<C>> = {
  [Name in Names]: Batch<RecordIn<C[Name]>, Name>;
}[Names];

const ownOptions = {
  /**
   * The most local ids of a collection that the read may have missed: with more, nothing is deleted. Pass `Infinity` if you
   * know that so many were deleted; only `Infinity` allows that most local ids are missing while the service lists mostly
   * unknown records, because that is what the API key of another company looks like.
   *
   * @default 50, or a tenth of the local ids if that is more
   */
  maxCandidates: optional(is.numberFrom(0)),
  /**
   * What a collection that the key may not read (403) means for the sync.
   * - `report`: the report lists it as `forbidden`, and the sync succeeds with what the key may read. It fails anyway if
   *   every collection is forbidden, or if this tenant could read the collection before: the copy of a collection whose
   *   right was revoked must not become stale unnoticed.
   * - `fail`: the sync rejects with a SyncError after the other collections have ended.
   *
   * @default 'report'
   */
  onForbidden: option(is.oneOf('report', 'fail'), 'report'),
  /** Collections read at a time. Default: 2. */
  concurrency: option(is.integerFrom(1), 2),
  /**
   * Pauses the sync at a limit of time or requests, such as that of a function in the cloud or of a job: it resolves with
   * `paused: true`, and every batch that was delivered is committed. The next sync with `stopAfter` resumes: it reads what
   * is left. Repeat it until `paused` is `false`, each time after `resumeAfterMs` of the report.
   *
   * An outage is not a pause: if the limit is reached while requests fail, the sync rejects with a SyncError. It also rejects
   * if only collections that always fail are left.
   *
   * Each sync delivers at least one batch, which usually needs up to 5 requests, so set `requests` to 10 or more. For that
   * batch one collection is read beyond the limit of time, for at most one `timeoutMs`. A collection that is read by page
   * cannot be resumed, so it is not paused while it is listed: see `exceededLimit` of the report. A target finds deletions
   * over any number of syncs; `localIds` only if the full read of a collection and its lookups fit within one limit.
   * Default: no limit.
   */
  stopAfter,
};

/** Options of every {@link sync}, wherever its records go. */
export interface SyncBaseOptions<Names extends string = string>
  extends RunOptions,
    OptionInputs<typeof ownOptions> {
  /** The collections to read, by the names of the client's properties. Default: every collection of the client. */
  collections?: readonly Names[] | undefined;
}

/** Options of {@link sync}: a store, and functions that take the records. */
export interface SyncOptions<C, Names extends CollectionsIn<C> = CollectionsIn<C>>
  extends SyncBaseOptions<Names> {
  /** Where the state is kept: see {@link Store}. With a store without `set` you write the checkpoints yourself. */
  store: Store;
  /**
   * Takes a batch: upserts its records, in one transaction with `batch.checkpoint` if the store has no `set`. The sync
   * waits until the result has resolved; an array of promises is awaited too. Calls of it and of the store never overlap,
   * so both may use one connection. If it throws, this collection fails, and the batch comes again in the next run.
   */
  // Not BatchOf: an editor shows the batches themselves.
  onBatch: (batch: { [Name in Names]: Batch<RecordIn<C[Name]>, Name> }[Names]) => unknown;
  /**
   * The ids of the local copy of a collection. With `onDelete`, a sync in mode `full` finds deletions in the same read:
   * local ids that the service did not list are requested one by one, those with a 404 go to `onDelete`, and records that
   * exist come in a batch. Read to its end before the first request of the collection.
   *
   * A run that resumes an interrupted one has not listed every record: it deletes nothing, and its report says
   * `deletions: { skipped: 'resumed' }`. If the counts look like a mistake, the collection fails with a
   * DeletionsAbortedError, after its records were delivered, and nothing is deleted. The next run reads everything again.
   */
  localIds?: ((collection: Names) => AsyncIterable<string> | Iterable<string>) | undefined;
  /**
   * Takes ids of a collection whose records do not exist any more, at most 500 at a time. Calls of it and of `onBatch`
   * never overlap.
   */
  onDelete?: ((ids: readonly string[], collection: Names) => unknown) | undefined;
  /** A target in place of `store` and `onBatch`: see {@link SyncToTargetOptions}. */
  target?: undefined;
}

/** Options of {@link sync} with a target, which replaces `store`, `onBatch`, `localIds` and `onDelete`. */
export interface SyncToTargetOptions<Names extends string = string> extends SyncBaseOptions<Names> {
  /** Where records and state go: `sqliteTarget` and `postgresTarget` of the entry `./targets`, or one of your own. */
  target: SyncTarget;
}

// What takes or returns records of the client has a type that depends on it, written above.
export const syncOptions = {
  ...runOptions,
  target: optional(is.withMethods<SyncTarget>('open')),
  store: optional(is.withMethods<Store>('get')),
  collections: optional(is.strings),
  onBatch: optional(is.callback<OpenTarget['onBatch']>()),
  localIds: optional(is.callback<NonNullable<OpenTarget['localIds']>>()),
  onDelete: optional(is.callback<NonNullable<OpenTarget['onDelete']>>()),
  ...ownOptions,
} satisfies TableOf<SyncOptions<object>>;

/** The options of a sync, checked, wherever its records go. */
export type ResolvedSync = ResolvedRunOptions & ResolvedOptions<typeof syncOptions>;

/** The collections of a client, or those of them that are wanted. */
export function namesOf(
  client: Readonly<Record<string, unknown>>,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const isKnown = (name: string) =>
    readable('client', () => Object.hasOwn(client, name) && isCollection(client[name]));
  if (wanted === undefined) {
    const names = readable('client', () => Object.keys(client)).filter(isKnown);
    if (names.length === 0) throw new InvalidInputError('client', 'has no collections');
    return names;
  }
  const unknown = wanted.find((name) => !isKnown(name));
  if (unknown !== undefined) {
    throw new InvalidInputError(
      'collections',
      `names ${JSON.stringify(unknown)}, which the client does not have`,
    );
  }
  return [...new Set(wanted)];
}
