import { resolved } from '../input/checks.ts';
import { group, is, type OptionInputs, optional, required } from '../internal/options.ts';
import { Semaphore } from '../internal/semaphore.ts';
import { type IdBounds, idBounds } from '../pagination/page.ts';
import { admissionOf } from '../reading/admission.ts';
import { CallerCode } from '../reading/caller-code.ts';
import type { Admission } from '../reading/company.ts';
import { OF_CLIENT } from '../reading/list-options.ts';
import { type RecordIn, type RunSource, runSource, type SyncSource } from '../reading/source.ts';
import { label } from '../reading/state.ts';
import { guardedStore, type Store } from '../reading/store.ts';
import type { CollectionReport } from '../reports/sync-report.ts';
import type { Batch } from './batch.ts';
import { CollectionRun } from './collection-run.ts';
import { asRun, type RunOptions, runOptions } from './run-options.ts';
import { KEY_CHANGED } from './target-run.ts';

const ownOptions = {
  /** Where the state is kept: see {@link Store}. With a store without `set` you write the checkpoints yourself. */
  store: required(is.withMethods<Store>('get')),
  /** The name of the collection in state and batches. Default: that of its segment, as the client's property. */
  name: optional(label),
  /** Only records whose id lies within these bounds. The state belongs to them: give each part a `prefix` of its own. */
  id: optional(group<typeof idBounds, never, IdBounds>(idBounds)),
};

export const changesOptions = { ...runOptions, ...ownOptions };

/** Options of {@link changes}. */
export interface ChangesOptions extends RunOptions, OptionInputs<typeof ownOptions> {}

/**
 * What changed in one collection since the last run, batch by batch; everything the first time.
 *
 * ```ts
 * for await (const batch of changes(client.accounts, { store, tenant: 'acme' })) await upsert(batch.records);
 * ```
 * The checkpoint of a batch is written when you request the next one; `break` or a throw leaves the batch uncommitted,
 * and it comes again. The run ends with a batch without records, `last: true`, whose checkpoint carries the new
 * watermark: iterate to the end. Returns the report of the run.
 *
 * @throws At once: InvalidInputError for invalid options. While iterating: what a list throws; CheckpointError if the
 * state or the store cannot be trusted; ConcurrentRunError if another run was noticed, which is best effort: make sure
 * that only one run of a tenant and collection is active at a time.
 */
export function changes<Collection extends SyncSource<{ id: string }>>(
  collection: Collection,
  options: ChangesOptions,
): AsyncGenerator<Batch<RecordIn<Collection>>, CollectionReport, undefined> {
  const run = asRun(resolved(changesOptions, options, { of: 'changes', elsewhere: OF_CLIENT }));
  const { store, name, id, signal, tenant, sameCompany, settings } = run;
  const source = collection as unknown as SyncSource<RecordIn<Collection>>;
  // Its consumer requests one batch at a time.
  const consumer = new Semaphore(1);
  const { warn } = runSource(source);
  const callerCode = new CallerCode({ signal, warn });
  const context = {
    options: run,
    copy: () => ({ store: guardedStore(store, callerCode) }),
    name,
    id,
    signal,
    consumer,
  };
  const ofRun = { calls: () => ({ admission, callerCode }), keepsCompany: true };
  const one: CollectionRun<RecordIn<Collection>> = new CollectionRun(source, { ...context, ...ofRun });
  const admission: Admission = admissionOf({
    tenant,
    sameCompany,
    sources: [runSource(source) as RunSource<{ id: string }>],
    settings: { ...settings, callerCode },
    memories: () => one.memories(),
    needsNoDigests: true,
    onUnprovable: () => warn(KEY_CHANGED),
  });
  return batches(one);
}

async function* batches<T extends { id: string }>(
  run: CollectionRun<T>,
): AsyncGenerator<Batch<T>, CollectionReport, undefined> {
  for await (const batch of run.batches()) {
    await run.beforeConsumer();
    yield batch;
    await run.commit(batch);
  }
  return run.report();
}
