import { isAccountingError } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { checkObject, resolved } from '../input/checks.ts';
import { settled } from '../internal/callback.ts';
import { OF_CLIENT } from '../reading/list-options.ts';
import { type AnySource, runSource } from '../reading/source.ts';
import type { SyncReport } from '../reports/sync-report.ts';
import { asRun } from './run-options.ts';
import {
  type CollectionsIn,
  namesOf,
  type ResolvedSync,
  type SyncOptions,
  type SyncToTargetOptions,
  syncOptions,
} from './sync-options.ts';
import type { CollectionEnd, SyncTarget } from './target.ts';
import { checkTargetMethods, KEY_CHANGED, withTarget } from './target-run.ts';
import { TenantRun } from './tenant-run.ts';

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
 * Run one sync of a tenant at a time. Of two into one database, one goes on and the other rejects with ConcurrentRunError.
 * With functions, a second run is not prevented; if detected, its collections fail with that error.
 *
 * @throws SyncError if a collection failed, after all have ended: its `report` has the result of each, its `errors` say
 * why. A 403 fails only its own collection (see `onForbidden`); a 401 stops all collections, and so does a service that
 * is down (see `maxOutageMs`). ConcurrentRunError of a target that another sync of the tenant writes to. InvalidInputError
 * for invalid options. The signal's own reason if it stopped the run.
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

type Sources = Readonly<Record<string, AnySource>>;

/** The functions and the store of the caller, as a target. */
function functionsTarget(options: ResolvedSync): SyncTarget {
  const { store, onBatch, localIds, onDelete } = options;
  if (store === undefined || onBatch === undefined) {
    const missing = store === undefined ? 'store' : 'onBatch';
    throw new InvalidInputError(missing, 'is missing. Pass store and onBatch, or a target');
  }
  checkDeletions(options);
  return {
    open: () => ({
      store,
      // What the functions return is awaited, and never counted.
      async onBatch(batch) {
        await settled(onBatch(batch));
      },
      ...(localIds && { localIds }),
      async onDelete(ids, collection) {
        await settled(onDelete?.(ids, collection));
      },
    }),
  };
}

function sourceOf(sources: Sources, [name = '']: readonly string[]) {
  const source = sources[name];
  return source && runSource(source);
}

function rejectFunctions(options: ResolvedSync): void {
  const both = (['store', 'onBatch', 'localIds', 'onDelete'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (both === undefined) return;
  throw new InvalidInputError(both, 'cannot be combined with target, which has one of its own');
}

function syncInto(
  target: SyncTarget,
  { sources, names, given }: { sources: Sources; names: readonly string[]; given: ResolvedSync },
): Promise<SyncReport> {
  const { tenant, mode, sameCompany, signal } = given;
  const options = { ...given, settings: { ...given.settings, keepInvalid: given.target !== undefined } };
  const { settings } = options;
  const run = new TenantRun(names, sources, options);
  const onWait = (waitMs: number | undefined) => run.waits(waitMs);
  const from = { names, sources, settings, limit: run.limit };
  const isTarget = given.target !== undefined;
  const company = isTarget
    ? {}
    : { memories: () => run.memories(), onUnprovable: () => sourceOf(sources, names)?.warn(KEY_CHANGED) };
  const called = isTarget ? 'target' : 'functions';
  const into = { purpose: 'sync', target, called, tenant, sameCompany, onWait, needs: [] } as const;
  const work: Parameters<typeof withTarget<never, SyncReport>>[1] = async (copy, inTarget) => {
    if (copy.marks !== undefined) checkTargetMethods(copy, 'a target with marks', ['onDelete']);
    else if (mode === 'full' && given.target !== undefined)
      checkTargetMethods(copy, 'sync in mode full', ['onDelete', 'localIds']);
    /** Notifies the target of how the collections ended, with the times of the report that the caller gets. */
    const notifyEnd = async ({ collections, endedAt }: SyncReport, error?: unknown) => {
      const failed = isAccountingError(error, 'sync_failed') ? error : undefined;
      const reason = failed?.cause ?? error;
      const ends = collections.map((report): CollectionEnd => {
        const own = failed?.errors.find(({ collection }) => collection === report.collection);
        return {
          report,
          endedAt,
          error: own?.error ?? report.lastFailure ?? (report.status === 'stopped' ? reason : undefined),
        };
      });
      await copy.onEnd?.(ends);
    };
    let report: SyncReport;
    try {
      report = await run.run(copy, inTarget);
    } catch (error) {
      const isStopped = signal?.aborted === true && error === signal.reason;
      // The failure of the run is what to report, even if the database cannot be reached.
      const ended = isAccountingError(error, 'sync_failed') ? error.report : run.report();
      if (!isStopped) await notifyEnd(ended, error).catch(() => undefined);
      throw error;
    }
    await notifyEnd(report);
    return report;
  };
  return withTarget({ ...from, ...into, ...company }, work).finally(() => run.limit?.end());
}

function checkDeletions({ localIds, onDelete, maxCandidates }: ResolvedSync): void {
  if (localIds === undefined && onDelete === undefined && maxCandidates === undefined) return;

  if (localIds === undefined || onDelete === undefined) {
    const missing = localIds === undefined ? 'localIds' : 'onDelete';
    throw new InvalidInputError(missing, 'is missing. Deletions are found with localIds and onDelete');
  }
}
