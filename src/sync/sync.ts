import {
  checkFunction,
  checkMethods,
  checkObject,
  checkOneOf,
  checkOptionNames,
  checkWhole,
} from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { SyncReport } from '../errors/sync-report.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { Paginator } from '../pagination/paginator.ts';
import { type RecordIn, runSource, type SyncSource } from '../reading/source.ts';
import type { Store } from '../reading/store.ts';
import { checkDeletionOptions } from '../reconcile/deletion-check.ts';
import type { Batch } from './batch.ts';
import { checkStopAfter, STOP_AFTER, type StopAfter } from './run-limit.ts';
import { RUN_OPTIONS, type RunOptions, resolveRunOptions } from './run-options.ts';
import { checkTarget, type OpenTarget, type SyncTarget, withTarget } from './target.ts';
import { type TenantContext, TenantRun } from './tenant-run.ts';

/** The names of a client's collections: of every property that can be listed. */
export type CollectionsIn<C> = {
  [Name in keyof C]: C[Name] extends { list(...args: never[]): Paginator<{ id: string }> } ? Name : never;
}[keyof C] &
  string;

/** A batch of any of a client's collections: `batch.collection` names it, and types its records. */
export type BatchOf<C, Names extends CollectionsIn<C> = CollectionsIn<C>> = {
  [Name in Names]: Batch<RecordIn<C[Name]>, Name>;
}[Names];

/** Options of every {@link sync}, wherever its records go. */
export interface SyncBaseOptions<Names extends string = string> extends RunOptions {
  /** The collections to read, by the names of the client's properties. Default: every collection of the client. */
  collections?: readonly Names[] | undefined;
  /** The most local ids of a collection that may be missing upstream: see the same option of {@link reconcile}. */
  maxCandidates?: number | undefined;
  /**
   * What a collection that the key may not read (403) means for the sync.
   * - `report`: the report lists it as `forbidden`, and the sync succeeds with what the key may read. It fails anyway if
   *   every collection is forbidden, or if this tenant could read the collection before: the copy of a collection whose
   *   right was revoked must not become stale unnoticed.
   * - `fail`: the sync rejects with a SyncError after the other collections have ended.
   *
   * @default 'report'
   */
  onForbidden?: 'report' | 'fail' | undefined;
  /** Collections read at a time. Default: 2. */
  concurrency?: number | undefined;
  /**
   * Pauses the sync at a limit of time or requests, such as that of a function in the cloud or of a job: it resolves with
   * `paused: true`, and every batch that was delivered is committed. The next sync with `stopAfter` resumes: it reads what
   * is left. Repeat it until `paused` is `false`, each time after `resumeAfterMs` of the report.
   *
   * Each sync delivers at least one batch, which usually needs up to 5 requests, so set `requests` to 10 or more. A
   * collection that is read by page cannot be resumed, so it is not paused: see `exceededLimit` of the report. Deletions
   * are found only if the full read of a collection fits within one limit. Default: no limit.
   */
  stopAfter?: StopAfter | undefined;
}

/** Options of {@link sync}: a store, and functions that take the records. */
export interface SyncOptions<C, Names extends CollectionsIn<C> = CollectionsIn<C>>
  extends SyncBaseOptions<Names> {
  /** Where the state is kept: see {@link Store}. With a store without `set` you write the checkpoints yourself. */
  store: Store;
  /**
   * Takes a batch: upserts its records, in one transaction with `batch.checkpoint` if the store has no `set`. The sync
   * waits until the result has resolved; an array of promises is awaited too. Never called twice at once, nor while the
   * store is: both may use one connection. If it throws, this collection fails, and the batch comes again in the next run.
   */
  // Not BatchOf: an editor shows the batches themselves.
  onBatch: (batch: { [Name in Names]: Batch<RecordIn<C[Name]>, Name> }[Names]) => unknown;
  /**
   * The ids of the local copy of a collection. With `onDelete`, a sync in mode `full` finds deletions in the same read,
   * as {@link reconcile} does: local ids that the service did not list are requested one by one, those with a 404 go to
   * `onDelete`, and records that exist come in a batch. Read to its end before the first request of the collection.
   *
   * A run that resumes an interrupted one has not listed every record: it deletes nothing, and its report says
   * `deletions: { skipped: 'resumed' }`. If the counts look like a mistake, the collection fails with a
   * ReconcileAbortedError, after its records were delivered, and nothing is deleted. The next run reads everything again.
   */
  localIds?: ((collection: Names) => AsyncIterable<string> | Iterable<string>) | undefined;
  /**
   * Takes ids of a collection whose records do not exist any more, at most 500 at a time. Never called twice at once, nor
   * while `onBatch` is.
   */
  onDelete?: ((ids: readonly string[], collection: Names) => unknown) | undefined;
  target?: undefined;
}

/** Options of {@link sync} with a target, which stands for `store`, `onBatch`, `localIds` and `onDelete`. */
export interface SyncToTargetOptions<Names extends string = string> extends SyncBaseOptions<Names> {
  /** Where records and state go: `sqliteTarget` and `postgresTarget` of the entry `./targets`, or one of your own. */
  target: SyncTarget;
  store?: undefined;
  onBatch?: undefined;
  localIds?: undefined;
  onDelete?: undefined;
}

export const SYNC_OPTIONS: OptionNames<SyncOptions<object>> = {
  ...RUN_OPTIONS,
  target: true,
  store: true,
  collections: true,
  onBatch: true,
  localIds: true,
  onDelete: true,
  maxCandidates: true,
  onForbidden: true,
  concurrency: true,
  stopAfter: STOP_AFTER,
};

type Source = SyncSource<{ id: string }>;

/**
 * Brings a copy of a company's records up to date: everything the first time, then what changed.
 *
 * ```ts
 * await sync(client, { store, tenant: 'acme', onBatch: ({ collection, records }) => upsert(collection, records) });
 * ```
 * Parents are read before children, and the collections of a level at the same time, two by default. Each has a
 * state of its own in the store and resumes where it was interrupted: a batch is committed when `onBatch` has resolved.
 * There is no deadline, and no wait is too long; `onProgress` reports waits, `signal` stops the sync.
 * A list of changes does not show deletions: pass `localIds` and `onDelete` in mode `full`, or see {@link reconcile}.
 *
 * One run of a tenant at a time: a second one is reported if it is noticed (ConcurrentRunError), not prevented.
 *
 * @throws SyncError if a collection failed, once all have ended: its `report` has the result of each, its `errors` say
 * why. A 403 concerns its collection alone (see `onForbidden`); a 401 stops all collections, and so does a service that
 * is down (see `maxOutageMs`). InvalidInputError for invalid options. The signal's own reason if it stopped the run.
 */
export function sync<C extends object, Names extends CollectionsIn<C> = CollectionsIn<C>>(
  client: C,
  options: SyncToTargetOptions<Names>,
): Promise<SyncReport>;
export function sync<C extends object, Names extends CollectionsIn<C> = CollectionsIn<C>>(
  client: C,
  options: SyncOptions<C, Names>,
): Promise<SyncReport>;
export async function sync(
  client: object,
  options: SyncBaseOptions & { readonly [Name in keyof Destination | 'target']?: unknown },
): Promise<SyncReport> {
  checkObject(client, 'client');
  checkObject(options, 'options');
  checkOptionNames(options, SYNC_OPTIONS, { of: 'sync' });
  const { onForbidden = 'report', concurrency = 2, mode, maxCandidates, target, stopAfter } = options;
  checkOneOf(onForbidden, 'onForbidden', ['report', 'fail']);
  checkWhole(concurrency, 'concurrency', 1);
  if (stopAfter !== undefined) checkStopAfter(stopAfter);
  const sources = client as Readonly<Record<string, Source>>;
  const names = namesOf(sources, options.collections);
  const resolved = resolveRunOptions(options);
  const run = async (destination: Destination) => {
    const { store, onBatch } = destination;
    const deletions = deletionsOf(
      { mode, maxCandidates, ...destination },
      names.map((name) => sources[name]),
    );
    const context = { options: resolved, store, onBatch, deletions, onForbidden, concurrency, stopAfter };
    return await new TenantRun(names, sources, context).run();
  };
  let work = () => run(options as unknown as Destination);
  if (target === undefined) {
    checkMethods(options.store, 'store', ['get']);
    checkFunction(options.onBatch, 'onBatch');
  } else {
    const checked = checkTarget(options);
    work = () => withTarget(checked, resolved, (opened) => run(destinationOf(opened, mode)));
  }
  const { tenant } = resolved;
  const [first] = names;
  if (first === undefined) return await work();
  return await runSource(sources[first] as Source).inRun({ name: 'sync', tenant, collections: names }, work);
}

/** Where records and state go. */
type Destination = Pick<OpenTarget, 'store' | 'onBatch'> &
  Partial<Pick<OpenTarget, 'localIds' | 'onDelete'> & { maxCandidates: undefined }>;

function destinationOf(opened: OpenTarget, mode: RunOptions['mode']): Destination {
  const { store } = opened;
  const onBatch = (batch: Batch<{ id: string }>) => opened.onBatch(batch);
  // Only a full read shows deletions: without one there is nothing that maxCandidates could limit.
  if (mode !== 'full') return { store, onBatch, maxCandidates: undefined };
  return {
    store,
    onBatch,
    localIds: (collection) => opened.localIds(collection),
    onDelete: (ids, collection) => opened.onDelete(ids, collection),
  };
}

function namesOf(
  client: Readonly<Record<string, unknown>>,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const isCollection = (name: string) => {
    const property = Object.hasOwn(client, name) ? client[name] : undefined;
    return typeof (property as Partial<Source> | null | undefined)?.list === 'function';
  };
  if (wanted === undefined) {
    const names = Object.keys(client).filter(isCollection);
    if (names.length === 0) throw new InvalidInputError('client', 'has no collections');
    return names;
  }
  if (!Array.isArray(wanted)) throw new InvalidInputError('collections', 'must be an array of names');
  const unknown = wanted.find((name) => !isCollection(name));
  if (unknown !== undefined) {
    throw new InvalidInputError(
      'collections',
      `names ${JSON.stringify(unknown)}, which the client does not have`,
    );
  }
  return [...new Set(wanted)];
}

function deletionsOf(
  {
    mode,
    localIds,
    onDelete,
    maxCandidates,
  }: Pick<Destination, 'localIds' | 'onDelete'> & Pick<SyncBaseOptions, 'mode' | 'maxCandidates'>,
  sources: readonly (Source | undefined)[],
): TenantContext['deletions'] {
  if (localIds === undefined && onDelete === undefined && maxCandidates === undefined) return undefined;

  // A list of ids could not say whose they are: a sync reads several collections.
  checkFunction(localIds, 'localIds');
  checkDeletionOptions({ localIds, onDelete, maxCandidates });
  if (mode !== 'full') {
    throw new InvalidInputError(
      'localIds',
      "requires mode: 'full', because a list of changes shows no deletions",
    );
  }
  if (sources.some((source) => typeof source?.find !== 'function')) {
    throw new InvalidInputError('localIds', 'requires collections of a client, with find');
  }
  return { localIds, onDelete, maxCandidates } as TenantContext['deletions'];
}
