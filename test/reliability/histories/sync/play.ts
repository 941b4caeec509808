import {
  type Batch,
  type CollectionReport,
  changes,
  isAccountingError,
  memoryStore,
  sync,
} from 'accounting-data-sdk';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { Crash, type FailureRates, type Process, SyncWorld, type WorldOptions } from './world.ts';

/**
 * A list ends so if three rows or more that it had shown were deleted, or come no more, or a bound seems to be ignored: the
 * next run resumes.
 */
const RETRIED = ['incomplete_list', 'filter_ignored'];

const NO_FAILURES: FailureRates = { crash: 0, fault: 0 };

/** Months of a connector. */
export interface SyncHistory {
  readonly findings: readonly string[];
  readonly world: SyncWorld;
  readonly crashes: number;
  readonly runs: number;
}

/** A service that hides rows, and cuts longer and shorter pages from run to run. */
function hidingService(random: SeededRandom): Partial<WorldOptions> {
  const pageSize = random.pick([10, 30]);
  // A run of a page or more can hide what is behind it: the guide names that.
  const hiddenRun = random.chance(0.5) ? pageSize - 2 : 0;
  return {
    alone: true,
    order: random.pick(['id asc', 'id desc']),
    ids: random.pick(['dense', 'sparse', 'bursts']),
    records: random.pick([5, 40, 150, 400]),
    pageSizes: [pageSize, pageSize + 3, pageSize * 2],
    hidden: random.pick(hiddenRun > 0 ? [0, 0.003] : [0, 0.003, 0.02, 0.2]),
    hiddenRun,
  };
}

/** A service that lists by id, and for a moment shows no rows, ends responses by bytes, or has a node that is late. */
function oddService(random: SeededRandom): Partial<WorldOptions> {
  const pageSize = random.pick([10, 30]);
  return {
    alone: true,
    order: random.pick(['id asc', 'id desc']),
    ids: random.pick(['dense', 'sparse']),
    records: random.pick([5, 40, 150]),
    pageSizes: [pageSize],
    ...random.pick<Partial<WorldOptions>>([
      { maxBytes: pageSize * 270 },
      { emptyMoments: 0.05 },
      { late: 0.5 },
    ]),
  };
}

/**
 * Runs of `sync` and `changes` that end, crash or fail while records change, and in some histories a search for deletions
 * from time to time. In the end the records stop changing, and the copy is brought up to date.
 */
export async function playSync(seed: number): Promise<SyncHistory> {
  const drawn = new SeededRandom(seed * 11 + 5);
  const hides = drawn.chance(0.6);
  const isOdd = !hides && drawn.chance(0.3);
  const options = hides ? hidingService(drawn) : isOdd ? oddService(drawn) : {};
  const world = new SyncWorld({ ...options, seed, churn: drawn.pick([0, 1, 1, 1]) });
  const { random } = world;
  const transactional = random.chance(0.5);
  // A process dies at a request or a row, of which a run of hundreds of records has many.
  const crash = hides ? [0, 0.001, 0.005, 0.02] : [0, 0.01, 0.03, 0.1];
  const failureRates = { crash: random.pick(crash), fault: random.pick([0, 0.05, 0.3]) };
  // It repairs what the runs before it have lost.
  const findsDeletions = !hides && !isOdd && random.chance(0.6);
  const runs = random.int(2, 6);
  let crashes = 0;
  let complete: CollectionReport['complete'];
  const findings: string[] = [];
  const runOnce = async (process: Process, mode: Mode, codes: readonly string[]) => {
    const run =
      world.servers.size === 1 && random.chance(0.4)
        ? changesOnce(process, transactional, mode)
        : syncOnce(process, transactional, mode, random.int(1, 3));
    await endsAsExpected(
      run.then((found) => {
        // Only a full read strengthens what is known.
        const isStronger = complete === 'likely' && found.complete === 'certain';
        if (isStronger && found.mode !== 'full') findings.push('certain after an incremental run');
        ({ complete } = found);
      }),
      codes,
    );
  };
  for (let run = 0; run < runs; run++) {
    const process = world.start(failureRates);
    await runOnce(process, random.chance(0.15) ? 'full' : 'incremental', RETRIED);
    // Page pagination can miss a row: then the GET saves it.
    if (!process.died && findsDeletions) await findDeletions(world, process, random.pick(['keyset', 'page']));
    if (process.died) crashes++;
    // Not after the last run: later changes would hide what that one loses.
    if (run < runs - 1) world.live();
  }

  world.rest();
  const process = world.start(NO_FAILURES);
  // The first ends the runs that were interrupted, with the watermarks that they had.
  for (let run = 0; run < 2; run++) await runOnce(process, 'incremental', []);
  // What a run can have lost is there after a full read.
  if (isOdd && complete === 'likely') await runOnce(process, 'full', []);
  findings.push(...world.lost());
  await findDeletions(world, process, 'keyset');
  return { findings: [...findings, ...world.lost(), ...world.left()], world, crashes, runs };
}

type Mode = 'incremental' | 'full';

/** Of the collection that is read alone. */
type Ended = Pick<CollectionReport, 'mode' | 'complete'>;

async function changesOnce(process: Process, transactional: boolean, mode: Mode): Promise<Ended> {
  const [collection] = Object.values(process.client());
  if (collection === undefined) throw new Error('no collection');
  const store = transactional ? process.readOnlyStore() : process.store();
  const run = changes(collection, { store, tenant: 'acme', mode, maxOutageMs: 0 });
  for (;;) {
    const { done, value } = await run.next();
    if (done) return value;
    take(process, transactional, value);
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
  mode: Mode,
  concurrency: number,
): Promise<Ended> {
  const { collections } = await sync(process.client(), {
    store: transactional ? process.readOnlyStore() : process.store(),
    tenant: 'acme',
    mode,
    concurrency,
    maxOutageMs: 0,
    onBatch: (batch) => take(process, transactional, batch),
  });
  return collections[0] as Ended;
}

/** A full read with a state of its own, which compares the ids of the copy. */
async function findDeletions(world: SyncWorld, process: Process, pagination: 'keyset' | 'page') {
  const run = sync(process.client(pagination), {
    store: memoryStore(),
    tenant: 'acme',
    mode: 'full',
    localIds: (name) => [...(world.sink.get(name)?.keys() ?? [])],
    onDelete: (ids, name) => process.remove(name, ids),
    onBatch: ({ collection, records }) => process.upsert(collection, records),
    maxCandidates: Number.POSITIVE_INFINITY,
    maxOutageMs: 0,
  });
  // The first listed record, or all of them, were deleted meanwhile. Listed in another order each time, pages repeat
  // each other.
  const codes = pagination === 'page' ? ['filter_ignored'] : [];
  await endsAsExpected(run, ['deletions_aborted', ...RETRIED, ...codes]);
}

/** A run ends well, by a crash, even one in the middle of a store write, by a request without a response, or so. */
async function endsAsExpected(run: Promise<unknown>, codes: readonly string[] = []): Promise<void> {
  const isExpected = (error: unknown) => {
    if (error instanceof Crash) return true;
    if (!isAccountingError(error)) return false;
    if (isAccountingError(error, 'checkpoint')) return error.cause instanceof Crash;
    const { code } = error;
    return ['connection_failed', ...codes].includes(code === 'unexpected_response' ? error.reason : code);
  };
  await run.catch((error: unknown) => {
    const errors = isAccountingError(error, 'sync_failed') ? error.errors : [{ error }];
    if (!errors.every((each) => isExpected(each.error))) throw error;
  });
}
