import {
  type Batch,
  type CollectionReport,
  changes,
  isAccountingError,
  reconcile,
  sync,
} from 'accounting-data-sdk';
import { Crash, type FailureRates, type Process, SyncWorld, type WorldOptions } from './sync-world.ts';

const NO_FAILURES: FailureRates = { crash: 0, fault: 0 };

/** What one history did to the copy. */
export interface SyncVerdict {
  readonly world: SyncWorld;
  /** What the copy lacked or had in an old version after a last sync, when nothing changes any more. */
  readonly lost: readonly string[];
  /** What differed after a reconcile as well. */
  readonly afterReconcile: { readonly lost: readonly string[]; readonly left: readonly string[] };
  readonly crashes: number;
  readonly runs: number;
}

/**
 * Months of a connector: runs that end, crash or fail while records change, and from time to time a full run and
 * a reconcile. In the end the records stop changing, and the copy is brought up to date.
 */
export async function liveThrough(options: WorldOptions): Promise<SyncVerdict> {
  const world = new SyncWorld(options);
  const { random } = world;
  const transactional = random.chance(0.5);
  const crash = random.pick([0, 0.01, 0.03, 0.1]);
  const failureRates = { crash, fault: random.pick([0, 0.05, 0.3]) };
  const runs = random.int(2, 6);
  let crashes = 0;
  for (let run = 0; run < runs; run++) {
    const process = world.start(failureRates);
    await syncOnce(process, transactional, random.chance(0.15) ? 'full' : 'incremental', random.int(1, 3));
    // Page pagination can miss a row: then the GET saves it.
    const pagination = random.pick<'keyset' | 'page'>(['keyset', 'page']);
    if (!process.died && random.chance(0.3)) await reconcileAll(world, process, pagination);
    if (process.died) crashes++;
    world.live();
  }

  world.rest();
  const process = world.start(NO_FAILURES);
  // The first ends the runs that were interrupted, with the watermarks that they had.
  for (let run = 0; run < 2; run++) await syncOnce(process, transactional, 'incremental', 2);
  const { lost } = world.differences();
  await reconcileAll(world, process, 'keyset');
  return { world, lost, afterReconcile: world.differences(), crashes, runs };
}

/** What one history without a reconcile did to the copy. */
export interface RunsVerdict {
  /** What the copy lacked or had in an old version after the last run, when nothing changes any more. */
  readonly lost: readonly string[];
  /** Whether the report of a run said that a record can have been missed. */
  readonly likely: boolean;
  readonly crashes: number;
  readonly runs: number;
}

/** Runs of `sync` and `changes` over one collection that end, crash or fail. Nothing else keeps the copy up to date. */
export async function runRepeatedly(options: WorldOptions): Promise<RunsVerdict> {
  const world = new SyncWorld({ ...options, alone: true });
  const { random } = world;
  const transactional = random.chance(0.5);
  // A process dies at a request or a row, of which a run of hundreds of records has many.
  const failureRates = { crash: random.pick([0, 0.001, 0.005, 0.02]), fault: random.pick([0, 0.05, 0.3]) };
  const runs = random.int(2, 6);
  let [crashes, likely] = [0, false];
  const runOnce = async (process: Process, mode: 'incremental' | 'full') => {
    const report = random.chance(0.5)
      ? (await syncOnce(process, transactional, mode, random.int(1, 3)))?.[0]
      : await changesOnce(process, transactional, mode);
    if (report?.complete === 'likely') likely = true;
    if (process.died) crashes++;
  };
  for (let run = 0; run < runs; run++) {
    await runOnce(world.start(failureRates), random.chance(0.15) ? 'full' : 'incremental');
    world.live();
  }

  world.rest();
  const process = world.start(NO_FAILURES);
  // The first ends the run that was interrupted, with the watermark that it had.
  for (let run = 0; run < 2; run++) await runOnce(process, 'incremental');
  return { lost: world.differences().lost, likely, crashes, runs: runs + 2 };
}

async function changesOnce(
  process: Process,
  transactional: boolean,
  mode: 'incremental' | 'full',
): Promise<CollectionReport | undefined> {
  const [collection] = Object.values(process.client());
  if (collection === undefined) throw new Error('no collection');
  const store = transactional ? process.readOnlyStore() : process.store();
  try {
    const batches = changes(collection, { store, tenant: 'acme', mode, maxOutageMs: 0 });
    for (;;) {
      const { done, value } = await batches.next();
      if (done === true) return value;
      take(process, transactional, value);
    }
  } catch (error) {
    if (!isExpected(error)) throw error;
    return undefined;
  }
}

/** Takes a batch into the copy, in one transaction with its checkpoint or row by row. */
function take(process: Process, transactional: boolean, batch: Batch<{ id: string }>): void {
  if (transactional) process.transact(batch.collection, batch);
  else process.upsert(batch.collection, batch.records);
}

async function syncOnce(
  process: Process,
  transactional: boolean,
  mode: 'incremental' | 'full',
  concurrency: number,
): Promise<readonly CollectionReport[] | undefined> {
  try {
    const { collections } = await sync(process.client(), {
      store: transactional ? process.readOnlyStore() : process.store(),
      tenant: 'acme',
      mode,
      concurrency,
      maxOutageMs: 0,
      onBatch: (batch) => take(process, transactional, batch),
    });
    return collections;
  } catch (error) {
    for (const { error: each } of isAccountingError(error, 'sync_failed') ? error.errors : [{ error }]) {
      if (!isExpected(each)) throw error;
    }
    return undefined;
  }
}

async function reconcileAll(
  world: SyncWorld,
  process: Process,
  pagination: 'keyset' | 'page',
): Promise<void> {
  for (const [name, collection] of Object.entries(process.client())) {
    try {
      await reconcile(collection, {
        localIds: () => [...(world.sink.get(name)?.keys() ?? [])],
        onDelete: (ids) => process.remove(name, ids),
        onRepair: (records) => process.upsert(name, records),
        maxCandidates: Number.POSITIVE_INFINITY,
        maxOutageMs: 0,
        pagination,
      });
    } catch (error) {
      // The first listed record, or all of them, were deleted meanwhile.
      const aborted = isAccountingError(error, 'reconcile_aborted');
      // Listed in another order each time, pages repeat each other.
      const repeated = pagination === 'page' && isAccountingError(error, 'filter_ignored');
      if (!aborted && !repeated && !isExpected(error)) throw error;
    }
  }
}

/** A crash, even one in the middle of a store write; or a request without a response. */
function isExpected(error: unknown): boolean {
  if (error instanceof Crash || isAccountingError(error, 'connection_failed')) return true;
  return isAccountingError(error, 'checkpoint') && error.cause instanceof Crash;
}
