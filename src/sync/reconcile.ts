import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { SyncError } from '../errors/sync-error.ts';
import type { ReconcileAbortReason } from '../errors/sync-report.ts';
import { Confirmation } from './confirmation.ts';
import { finished } from './finished.ts';
import { IdSet } from './id-set.ts';
import {
  type ReconcileOptions,
  type ReconcileSource,
  type ResolvedReconcileOptions,
  resolveReconcileOptions,
} from './reconcile-options.ts';
import type { ReconcileReport } from './reconcile-report.ts';
import { ReconcileTally } from './reconcile-tally.ts';
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
  const tally = new ReconcileTally(nameOf(collection, options.name), options.onProgress);
  if (typeof collection.find !== 'function') {
    throw new InvalidInputError('collection', 'must be a collection of a client, with find');
  }
  const resolved = resolveReconcileOptions(options);
  const local = await readLocal(resolved, tally);
  const first = await walk(collection, { ...resolved, local, tally });
  tally.candidates = local.countUnseen();
  await deleteGone(collection, { ...resolved, local, first, tally });
  return tally.report();
}

type Reconciling<T> = ResolvedReconcileOptions<T> & { readonly local: IdSet; readonly tally: ReconcileTally };

/** Reads the local ids to their end: one that is added while the walk is under way must not look deleted. */
async function readLocal<T>(
  { localIds, signal }: ResolvedReconcileOptions<T>,
  tally: ReconcileTally,
): Promise<IdSet> {
  const local = new IdSet();
  for await (const id of localIds()) {
    signal?.throwIfAborted();
    if (typeof id !== 'string' || id === '') {
      throw new InvalidInputError('localIds', 'must give ids: strings that are not empty');
    }
    local.add(id);
    tally.reached('local');
  }
  local.seal();
  tally.local = local.size;
  return local;
}

/** Walks the whole collection. Returns the id of the first record. */
async function walk<T extends { id: string }>(
  source: ReconcileSource<T>,
  { list, signal, local, tally }: Reconciling<T>,
): Promise<string | undefined> {
  let first: string | undefined;
  const options = { ...list, prefetch: 1, signal, onWait: tally.waits };
  for await (const page of source.list({}, options).pages()) {
    first ??= page.records[0]?.id;
    tally.pagination = page.pagination;
    for (const { id } of [...page.records, ...page.invalid]) {
      // A row that does not fit is there all the same.
      if (id === undefined || !local.see(id)) tally.missing++;
      tally.reached('read');
    }
    tally.tell();
  }
  return first;
}

async function deleteGone<T extends { id: string }>(
  source: ReconcileSource<T>,
  reconciling: Reconciling<T> & { readonly first: string | undefined },
): Promise<void> {
  const { local, first, tally, batchSize, onDelete, signal } = reconciling;
  if (tally.candidates === 0) return;
  if (tally.seen === 0) throw refused(tally, 'empty_read');
  if (tooMany(tally, reconciling.maxCandidates)) throw refused(tally, 'too_many_candidates');

  const confirmation = new Confirmation(source, reconciling);
  // A wrong key makes everything a 404: then also what the walk has just shown.
  if (first === undefined || (await confirmation.isGone(first)))
    throw refused(tally, 'first_record_not_found');

  const gone = await confirmation.goneOf(local.unseen());
  for (let from = 0; from < gone.length; from += batchSize) {
    signal?.throwIfAborted();
    const ids = gone.slice(from, from + batchSize);
    await finished(onDelete(ids));
    tally.deleted += ids.length;
    tally.reached('delete', ids.length);
    tally.tell();
  }
}

/** Where not one local id was shown, these may be the books of another company: then everything is a candidate. */
function tooMany({ candidates, local }: ReconcileTally, maxCandidates: number | undefined): boolean {
  if (maxCandidates !== undefined) return candidates > maxCandidates;
  return candidates > Math.max(50, local / 10) || (candidates === local && local >= 10);
}

const REASONS: Readonly<Record<ReconcileAbortReason['reason'], string>> = {
  empty_read: 'the service showed no record at all, and there are local ones',
  too_many_candidates: 'more local records were not shown than maxCandidates allows',
  first_record_not_found:
    'a record that the walk had shown is not found by its id, so that a 404 proves nothing',
};

function refused(tally: ReconcileTally, reason: ReconcileAbortReason['reason']): SyncError {
  const { collection, local, seen, candidates } = tally;
  return new SyncError(
    `The reconcile of ${collection} deleted nothing: ${REASONS[reason]}. ${candidates} of ${local} local ids would have been candidates.`,
    tally.asSyncReport(),
    { aborted: { reason, local, seen, candidates } },
  );
}
