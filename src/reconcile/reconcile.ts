import { resolved, text } from '../input/checks.ts';
import { settled } from '../internal/callback.ts';
import { notify } from '../internal/notify.ts';
import { is, type OptionInputs, option, optional, required } from '../internal/options.ts';
import { isIterable } from '../reading/each.ts';
import { readOptions, readSettings } from '../reading/list-options.ts';
import { nameOf, type RecordIn, runSource, type SyncSource, withoutFind } from '../reading/source.ts';
import type { ReconcileReport } from '../reports/reconcile-report.ts';
import type { RequestOptions } from '../transport/call-options.ts';
import { DeletionCheck, type LocalIds } from './deletion-check.ts';

/** What a reconcile needs of a collection, such as `client.accounts`: a list, and a way to get one record. */
export interface ReconcileSource<T extends { id: string }> extends SyncSource<T> {
  /** One record; `undefined` if it does not exist. */
  find(id: string, options: RequestOptions): Promise<T | undefined>;
}

/** How far a reconcile is. */
export interface ReconcileProgress {
  readonly collection: string;
  /**
   * - `local`: it reads the local ids.
   * - `read`: it reads the collection.
   * - `confirm`: it requests the candidates, one by one.
   * - `delete`: it passes deleted ids to `onDelete`.
   */
  readonly phase: 'local' | 'read' | 'confirm' | 'delete';
  /** Ids or records so far, in this phase. */
  readonly done: number;
  /** Whether it waits, for the quota of its key or to try again. */
  readonly waiting: boolean;
  /** When the wait ends, if that is known. */
  readonly waitingUntil: Date | undefined;
}

export const reconcileOptions = {
  ...readOptions,
  /**
   * The ids of the local copy, of this collection and company alone, or a function that returns them, which is called
   * with the name of the collection. Read to its end before the first request.
   */
  localIds: required(
    is.check<LocalIds>(
      'an Iterable, an AsyncIterable or a function',
      (ids) => isIterable(ids) || typeof ids === 'function',
    ),
  ),
  /**
   * Takes ids whose records do not exist any more, and the name of the collection. Called after every candidate is
   * confirmed; its calls never overlap.
   */
  onDelete: required(is.callback<(ids: readonly string[], collection: string) => unknown>()),
  onRepair: optional(is.callback<(records: readonly never[]) => unknown>()),
  /**
   * The most local ids that the read may have missed: with more, nothing is deleted. Pass `Infinity` if you know that
   * so many were deleted; only `Infinity` allows that most local ids are missing while the service lists mostly unknown
   * records, because that is what the API key of another company looks like.
   *
   * @default 50, or a tenth of the local ids if that is more
   */
  maxCandidates: optional(is.numberFrom(0)),
  /** Ids or records in one call of `onDelete` and `onRepair`. Default: 500. */
  batchSize: option(is.integerFrom(1), 500),
  /** Candidates requested at a time. Default: 2. */
  concurrency: option(is.integerFrom(1), 2),
  /** The name of the collection in report and errors. Default: that of its segment. */
  name: optional(text),
  /** Stops the reconcile: requests in flight are aborted, and it rejects with the signal's own reason. */
  signal: optional(is.signal),
  /** Called after each page and batch, and before each wait. */
  onProgress: optional(is.callback<(progress: ReconcileProgress) => void>()),
};

/** Options of {@link reconcile}. */
export interface ReconcileOptions<T> extends Omit<OptionInputs<typeof reconcileOptions>, 'onRepair'> {
  /** Takes records that exist although the read did not list them, to be upserted. */
  onRepair?: ((records: readonly T[]) => unknown) | undefined;
}

/**
 * Finds records of a local copy that the service no longer has: the deletions that a list of changes does not show.
 *
 * ```ts
 * await reconcile(client.accounts, { localIds: () => ids('accounts'), onDelete: (gone) => remove('accounts', gone) });
 * ```
 * Local ids that a complete read did not list are candidates. Each is requested by itself and deleted only if the service
 * returns 404; a record that exists goes to `onRepair`. Any other response ends the reconcile before anything is
 * deleted, and so does every sign of a mistake: no record at all, hardly any of the local records, too many candidates,
 * or a 404 for a record that was just listed.
 *
 * `sync` with `mode: 'full'` and `localIds` does the same in one read.
 *
 * @throws ReconcileAbortedError if it stopped for one of these signs; what a list and a GET throw; InvalidInputError;
 * the signal's own reason.
 */
export async function reconcile<Collection extends ReconcileSource<{ id: string }>>(
  collection: Collection,
  options: ReconcileOptions<RecordIn<Collection>>,
): Promise<ReconcileReport> {
  const source = collection as unknown as ReconcileSource<RecordIn<Collection>>;
  const own = resolved(reconcileOptions, options, { of: 'reconcile' });
  const name = nameOf(source, own.name);
  if (typeof source.find !== 'function') throw withoutFind();
  const { localIds, onDelete, maxCandidates, batchSize, concurrency, signal } = own;
  const { onRepair } = options;
  const reading = runSource(source);

  let progress: Pick<ReconcileProgress, 'phase' | 'done'> = { phase: 'local', done: 0 };
  const report = (waiting: boolean, waitingUntil?: Date) =>
    notify(own.onProgress, { collection: name, ...progress, waiting, waitingUntil }, (thrown) =>
      reading.callbackFailed('onProgress', thrown),
    );
  const onWait = (waitMs: number | undefined) =>
    report(true, waitMs === undefined ? undefined : new Date(Date.now() + waitMs));
  const settings = { ...readSettings(own), signal, onWait };
  const check = new DeletionCheck<RecordIn<Collection>>({
    collection: name,
    localIds,
    onDelete,
    lookUp: (id) => reading.lookUp(id, settings),
    maxCandidates,
    batchSize,
    concurrency,
    signal,
    onProgress: (phase, done) => {
      progress = { phase, done };
      report(false);
    },
  });
  await check.readLocalIds();
  for await (const page of reading.list({}, settings)) check.see(page);
  for await (const { records } of check.confirm()) await settled(onRepair?.(records), signal);
  return check.report();
}
