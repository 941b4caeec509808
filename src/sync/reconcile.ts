import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { ReconcileAbortedError, type ReconcileAbortReason } from '../errors/reconcile-aborted-error.ts';
import type { ReconcileReport } from '../errors/reconcile-report.ts';
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
import { ReconcileStats } from './reconcile-stats.ts';
import { settleAll } from './settle-all.ts';
import { nameOf, type RecordIn } from './source.ts';

/**
 * Finds records of a local copy that the service has no more: the deletions that a sync cannot see.
 *
 * ```ts
 * await reconcile(client.accounts, { localIds: () => ids('accounts'), onDelete: (gone) => remove('accounts', gone) });
 * ```
 * Local ids that a complete read did not list are candidates. Each is requested by itself and deleted only if the service
 * returns 404; a record that exists goes to `onRepair`. Any other response ends the reconcile before anything is
 * deleted, and so does every sign of a mistake: no record at all, none of the local records, too many candidates, or a
 * 404 for a record that was just listed.
 *
 * @throws ReconcileAbortedError if it stopped for one of these signs; what a list and a GET throw; InvalidInputError;
 * the signal's own reason.
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
  const maxCandidates = reconciling.maxCandidates ?? Math.max(50, Math.floor(stats.local / 10));
  const reason = abortReason(stats, maxCandidates);
  if (reason !== undefined) throw aborted(stats, reason, maxCandidates);

  const confirmation = new Confirmation(source, reconciling);
  // A wrong key makes everything a 404: then also what was just listed.
  if (first === undefined || (await confirmation.isGone(first))) {
    throw aborted(stats, 'first_record_not_found', maxCandidates);
  }

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

/** What makes the result of a read look like a mistake. */
function abortReason(
  { seen, candidates, local }: ReconcileStats,
  maxCandidates: number,
): ReconcileAbortReason | undefined {
  if (seen === 0) return 'empty_read';
  if (maxCandidates === Number.POSITIVE_INFINITY) return undefined;
  if (candidates === local) return 'no_local_id_seen';
  return candidates > maxCandidates ? 'too_many_candidates' : undefined;
}

function aborted(
  stats: ReconcileStats,
  reason: ReconcileAbortReason,
  maxCandidates: number,
): ReconcileAbortedError {
  const { collection, local, seen, candidates } = stats;
  const messages: Readonly<Record<ReconcileAbortReason, string>> = {
    empty_read: `the service listed no record, but the local copy has ${local}; nothing was deleted. Check that the API key belongs to the company of these records and may read them. If the company really has none, delete the local records yourself.`,
    no_local_id_seen: `0 of ${local} local records were found upstream, where there are ${seen} others; nothing was deleted. Check that the API key belongs to the company of these records. If they were really all deleted, pass maxCandidates: Infinity.`,
    too_many_candidates: `${candidates} of ${local} local records were not found upstream; maxCandidates is ${maxCandidates}; nothing was deleted. Check the API key and localIds. If so many were really deleted, pass a higher maxCandidates.`,
    first_record_not_found: `the first record that the service listed cannot be read by its id, so a 404 does not prove that a record was deleted; ${candidates} of ${local} local records were not found upstream; nothing was deleted. Run it again: the record may have been deleted meanwhile. If this repeats, check the API key.`,
  };
  return new ReconcileAbortedError(
    `The reconcile of ${collection} was aborted: ${messages[reason]}`,
    stats.report(),
    { reason, maxCandidates },
  );
}
