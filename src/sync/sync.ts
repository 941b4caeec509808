import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkObject, readable, resolved } from '../input/checks.ts';
import { settled } from '../internal/callback.ts';
import { is, option, optional, type ResolvedOptions, type TableOf } from '../internal/options.ts';
import type { Paginator } from '../pagination/paginator.ts';
import { OF_CLIENT } from '../reading/list-options.ts';
import { type AnySource, isCollection, type RecordIn, runSource } from '../reading/source.ts';
import type { Store } from '../reading/store.ts';
import type { SyncReport } from '../reports/sync-report.ts';
import type { Batch } from './batch.ts';
import { type StopAfter, stopAfter } from './limit/stop-after.ts';
import { asRun, type RunOptions, runOptions } from './run-options.ts';
import type { CollectionEnd, OpenTarget, SyncTarget } from './target.ts';
import { checkTargetMethods, withTarget } from './target-run.ts';
import { type ResolvedSync, TenantRun } from './tenant-run.ts';

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

/** Options of every {@link sync}, wherever its records go. */
export interface SyncBaseOptions<Names extends string = string> extends RunOptions {
  /** The collections to read, by the names of the client's properties. Default: every collection of the client. */
  collections?: readonly Names[] | undefined;
  /**
   * The most local ids of a collection that the read may have missed: with more, nothing is deleted. Pass `Infinity` if you
   * know that so many were deleted; only `Infinity` allows that most local ids are missing while the service lists mostly
   * unknown records, because that is what the API key of another company looks like.
   *
   * @default 50, or a tenth of the local ids if that is more
   */
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
   * collection that is read by page cannot be resumed, so it is not paused while it is listed: see `exceededLimit` of the
   * report. A target finds deletions over any number of syncs; `localIds` only if the full read of a collection and its
   * lookups fit within one limit. Default: no limit.
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
  /** Only with a target: a store of your own has nothing to compare. */
  sameCompany?: undefined;
}

/** Options of {@link sync} with a target, which replaces `store`, `onBatch`, `localIds` and `onDelete`. */
export interface SyncToTargetOptions<Names extends string = string> extends SyncBaseOptions<Names> {
  /** Where records and state go: `sqliteTarget` and `postgresTarget` of the entry `./targets`, or one of your own. */
  target: SyncTarget;
  /**
   * Accepts an API key even if the records of the copy do not prove that it belongs to the same company. Pass `true` once.
   * Without it, up to five known records are requested with a key that is new to the copy: one that was created at the
   * same moment proves it. One that was created at another moment, or none at all, and nothing is written. Default: false.
   */
  sameCompany?: boolean | undefined;
}

export const syncOptions = {
  ...runOptions,
  target: optional(is.withMethods<SyncTarget>('open')),
  sameCompany: option(is.flag, false),
  store: optional(is.withMethods<Store>('get')),
  collections: optional(is.strings),
  onBatch: optional(is.callback<OpenTarget['onBatch']>()),
  localIds: optional(is.callback<NonNullable<OpenTarget['localIds']>>()),
  onDelete: optional(is.callback<NonNullable<OpenTarget['onDelete']>>()),
  maxCandidates: optional(is.numberFrom(0)),
  onForbidden: option(is.oneOf('report', 'fail'), 'report'),
  concurrency: option(is.integerFrom(1), 2),
  stopAfter,
} satisfies TableOf<SyncOptions<object>>;

/**
 * Brings a copy of a company's records up to date: everything the first time, then what changed.
 *
 * ```ts
 * await sync(client, { tenant: 'acme', target: sqliteTarget('books.sqlite') });
 * ```
 * Or use a store and functions of your own: a batch is committed when `onBatch` has resolved. To find deletions, pass
 * `localIds` and `onDelete` in mode `full`.
 *
 * ```ts
 * await sync(client, { store, tenant: 'acme', onBatch: ({ collection, records }) => upsert(collection, records) });
 * ```
 * Parents are read before children, and the collections of a level at the same time, two by default. Each collection has
 * its own state and resumes where it was interrupted. There is no deadline, and no wait is too long; `onProgress` reports
 * waits, and `signal` stops the sync. A list of changes does not show deletions: a sync in mode `full` removes what the
 * service has deleted.
 *
 * Run one sync of a tenant at a time. A second run is not prevented; if detected, it fails with ConcurrentRunError.
 *
 * @throws SyncError if a collection failed, after all have ended: its `report` has the result of each, its `errors` say
 * why. A 403 fails only its own collection (see `onForbidden`); a 401 stops all collections, and so does a service that
 * is down (see `maxOutageMs`). InvalidInputError for invalid options. The signal's own reason if it stopped the run.
 */
export async function sync<C extends object, Names extends CollectionsIn<C> = CollectionsIn<C>>(
  client: C,
  options: SyncToTargetOptions<Names> | SyncOptions<C, Names>,
): Promise<SyncReport> {
  checkObject(client, 'client');
  const given = asRun(resolved(syncOptions, options, { of: 'sync', elsewhere: OF_CLIENT }));
  const sources = client as Sources;
  const names = namesOf(sources, given.collections);
  const target = given.target ?? functionsTarget(given);
  if (given.target !== undefined) rejectFunctions(given);
  const work = () => syncInto(target, { sources, names, given });
  const [first] = names;
  if (first === undefined) return await work();
  const event = { name: 'sync', tenant: given.tenant, collections: names } as const;
  return await runSource(sources[first] as AnySource).inRun(event, work);
}

type Resolved = ResolvedSync & ResolvedOptions<typeof syncOptions>;
type Sources = Readonly<Record<string, AnySource>>;

/** The functions and the store of the caller, as a target. */
function functionsTarget(options: Resolved): SyncTarget {
  const { store, onBatch, localIds, onDelete, sameCompany } = options;
  if (store === undefined || onBatch === undefined) {
    const missing = store === undefined ? 'store' : 'onBatch';
    throw new InvalidInputError(missing, 'is missing. Pass store and onBatch, or a target');
  }
  if (sameCompany) {
    throw new InvalidInputError('sameCompany', 'requires target: with a store there is nothing to compare');
  }
  checkDeletions(options);
  return {
    open: () => ({
      store,
      // What the functions return is awaited, and never counted.
      async onBatch(batch) {
        await settled(onBatch(batch), undefined);
      },
      ...(localIds && { localIds }),
      async onDelete(ids, collection) {
        await settled(onDelete?.(ids, collection), undefined);
      },
    }),
  };
}

function rejectFunctions(options: Resolved): void {
  const both = (['store', 'onBatch', 'localIds', 'onDelete'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (both === undefined) return;
  throw new InvalidInputError(both, 'cannot be combined with target, which has one of its own');
}

function syncInto(
  target: SyncTarget,
  { sources, names, given }: { sources: Sources; names: readonly string[]; given: Resolved },
): Promise<SyncReport> {
  const { tenant, mode, sameCompany, signal } = given;
  const options = { ...given, settings: { ...given.settings, keepInvalid: given.target !== undefined } };
  const { settings } = options;
  const run = new TenantRun(names, sources, options);
  const onWait = (waitMs: number) => run.waits(waitMs);
  const from = { names, sources, settings };
  const into = { purpose: 'sync', target, tenant, sameCompany, onWait, needs: [] } as const;
  return withTarget({ ...from, ...into }, async (copy, admitKey) => {
    if (copy.marks !== undefined) checkTargetMethods(copy, 'a target with marks', ['onDelete']);
    else if (mode === 'full' && given.target !== undefined)
      checkTargetMethods(copy, 'sync in mode full', ['onDelete', 'localIds']);
    /** Notifies the target of how the collections ended, with the times of the report that the caller gets. */
    const notifyEnd = async ({ collections, endedAt }: SyncReport, error?: unknown) => {
      const failed = isAccountingError(error, 'sync_failed') ? error : undefined;
      const reason = failed?.cause ?? error;
      const ends = collections.map((report): CollectionEnd => {
        const own = failed?.errors.find(({ collection }) => collection === report.collection);
        return { report, endedAt, error: own?.error ?? (report.status === 'stopped' ? reason : undefined) };
      });
      await copy.onEnd?.(ends);
    };
    let report: SyncReport;
    try {
      report = await run.run(copy, await admitKey());
    } catch (error) {
      const isStopped = signal?.aborted === true && error === signal.reason;
      // The failure of the run is what to report, even if the database cannot be reached.
      const ended = isAccountingError(error, 'sync_failed') ? error.report : run.report();
      if (!isStopped) await notifyEnd(ended, error).catch(() => undefined);
      throw error;
    }
    await notifyEnd(report);
    return report;
  });
}

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

function checkDeletions({ mode, localIds, onDelete, maxCandidates }: Resolved): void {
  if (localIds === undefined && onDelete === undefined && maxCandidates === undefined) return;

  if (localIds === undefined || onDelete === undefined) {
    const missing = localIds === undefined ? 'localIds' : 'onDelete';
    throw new InvalidInputError(missing, 'is missing. Deletions are found with localIds and onDelete');
  }
  if (mode !== 'full') {
    throw new InvalidInputError(
      'localIds',
      "requires mode: 'full', because a list of changes shows no deletions",
    );
  }
}
