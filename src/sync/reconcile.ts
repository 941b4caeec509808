import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { SyncError } from '../errors/sync-error.ts';
import type { ReconcileAbortReason } from '../errors/sync-report.ts';
import { OUTAGE } from '../internal/outage.ts';
import { abortable } from './abortable.ts';
import { Confirmation } from './confirmation.ts';
import { IdSet } from './id-set.ts';
import {
  type ReconcileOptions,
  type ReconcileSource,
  type ResolvedReconcileOptions,
  resolveReconcileOptions,
} from './reconcile-options.ts';
import type { ReconcileReport } from './reconcile-report.ts';
import { ReconcileStats } from './reconcile-stats.ts';
import { settleAll } from './settle-all.ts';
import { nameOf, type RecordIn } from './source.ts';

/**
 * Finds records of a local copy that the service has no more: the deletions that a sync cannot see.
 *
 * ```ts
 * await reconcile(client.accounts, { localIds: () => ids('accounts'), onDelete: (gone) => remove('accounts', gone) });
 * ```
 * Local ids that a complete walk did not show are candidates. Each is asked for by itself, and deleted only if it
 * answers 404; what answers 200 goes to `onRepair`. Any other answer ends it all before anything is deleted, and so do
 * the signs of a mistake: no record at all, too many candidates, or a record of the walk that answers 404 too.
 *
 * @throws SyncError with `aborted` where it did not delete for one of these signs; what a list and a GET throw;
 * InvalidInputError; the signal's own reason.
 */
export async function reconcile<Collection extends ReconcileSource<{ id: string }>>(
  collection: Collection,
  options: ReconcileOptions<RecordIn<Collection>>,
): Promise<ReconcileReport> {
  return run(collection as unknown as ReconcileSource<RecordIn<Collection>>, options);
}

async function run<T extends { id: string }>(
  collection: ReconcileSource<T>,
  options: ReconcileOptions<T>,
): Promise<ReconcileReport> {
  const stats = new ReconcileStats(nameOf(collection, options.name), options.onProgress);
  if (typeof collection.find !== 'function') {
    throw new InvalidInputError('collection', 'must be a collection of a client, with find');
  }
  const resolved = resolveReconcileOptions(options);
  const local = await abortable(readLocal(resolved, stats), resolved.signal);
  const first = await walk(collection, { ...resolved, local, stats });
  stats.candidates = local.countUnseen();
  await deleteGone(collection, { ...resolved, local, first, stats });
  return stats.report();
}

type Reconciling<T> = ResolvedReconcileOptions<T> & { readonly local: IdSet; readonly stats: ReconcileStats };

/** Reads the local ids to their end: one that is added while the walk is under way must not look deleted. */
async function readLocal<T>(
  { localIds, signal }: ResolvedReconcileOptions<T>,
  stats: ReconcileStats,
): Promise<IdSet> {
  const local = new IdSet();
  for await (const id of localIds()) {
    signal?.throwIfAborted();
    if (typeof id !== 'string' || id === '') {
      throw new InvalidInputError('localIds', 'must give ids: strings that are not empty');
    }
    local.add(id);
    stats.reached('local');
  }
  local.seal();
  stats.local = local.size;
  return local;
}

/** Walks the whole collection. Returns the id of the first record. */
async function walk<T extends { id: string }>(
  source: ReconcileSource<T>,
  { list, signal, local, outage, stats }: Reconciling<T>,
): Promise<string | undefined> {
  let first: string | undefined;
  const options = { ...list, prefetch: 1, signal, onWait: stats.waits, [OUTAGE]: outage };
  for await (const page of source.list({}, options).pages()) {
    first ??= page.records[0]?.id;
    stats.pagination = page.pagination;
    for (const { id } of [...page.records, ...page.invalid]) {
      // A row that does not fit is there all the same.
      if (id === undefined || !local.see(id)) stats.missing++;
      stats.reached('read');
    }
    stats.tell();
  }
  return first;
}

async function deleteGone<T extends { id: string }>(
  source: ReconcileSource<T>,
  reconciling: Reconciling<T> & { readonly first: string | undefined },
): Promise<void> {
  const { local, first, stats, batchSize, onDelete, signal } = reconciling;
  if (stats.candidates === 0) return;
  if (stats.seen === 0) throw refused(stats, 'empty_read');
  if (tooMany(stats, reconciling.maxCandidates)) throw refused(stats, 'too_many_candidates');

  const confirmation = new Confirmation(source, reconciling);
  // A wrong key makes everything a 404: then also what the walk has just shown.
  if (first === undefined || (await confirmation.isGone(first)))
    throw refused(stats, 'first_record_not_found');

  const gone = await confirmation.goneOf(local.unseen());
  for (let from = 0; from < gone.length; from += batchSize) {
    signal?.throwIfAborted();
    const ids = gone.slice(from, from + batchSize);
    await abortable(settleAll(onDelete(ids)), signal);
    stats.deleted += ids.length;
    stats.reached('delete', ids.length);
    stats.tell();
  }
}

/** If not one local id was seen upstream, the key may be that of another company, whose records none of these are. */
function tooMany({ candidates, local }: ReconcileStats, maxCandidates: number | undefined): boolean {
  if (maxCandidates === Number.POSITIVE_INFINITY) return false;
  return candidates === local || candidates > (maxCandidates ?? Math.max(50, local / 10));
}

const REASONS: Readonly<Record<ReconcileAbortReason['reason'], string>> = {
  empty_read: 'the service showed no record at all, and there are local ones',
  too_many_candidates: 'more local records were not shown than maxCandidates allows',
  first_record_not_found:
    'a record that the walk had shown is not found by its id, so that a 404 proves nothing',
};

function refused(stats: ReconcileStats, reason: ReconcileAbortReason['reason']): SyncError {
  const { collection, local, seen, candidates } = stats;
  return new SyncError(
    `The reconcile of ${collection} deleted nothing: ${REASONS[reason]}. ${candidates} of ${local} local ids would have been candidates.`,
    stats.asSyncReport(),
    { aborted: { reason, local, seen, candidates } },
  );
}
