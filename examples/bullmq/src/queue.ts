import { type Client, isAccountingError, type SyncError } from 'accounting-data-sdk';
import { DelayedError, type Job, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { copyCompany } from './copy.ts';

const SYNC = 'sync';
const PLAN = 'plan';

/** What a job is about. */
interface Work {
  readonly tenant: string;
}

/** What came of it: kept by BullMQ as its return value. */
export interface Result {
  readonly records: number;
  /** Collections that no repetition would bring, as of a key without the right, each with the code of its error. */
  readonly problems: readonly string[];
}

export interface SyncQueueOptions {
  readonly url: string;
  /** The companies, by label. Asked each time: they may come and go. */
  readonly tenants: () => readonly string[];
  readonly clientOf: (tenant: string) => Client;
  /** After how many ms without a sign of life a worker is taken for dead. Default: 30,000. */
  readonly lockMs?: number;
  /** Told when a job begins and when it has ended, without a result where it failed. */
  readonly onJob?: (event: 'begin' | 'end', tenant: string, result?: Result) => void;
}

/** The queue, seen from one machine. */
export class SyncQueue {
  readonly #options: SyncQueueOptions;
  readonly #redis: Redis;
  readonly #queue: Queue<Work, Result>;
  readonly #stopping = new AbortController();
  readonly #workers: Worker[] = [];

  constructor(options: SyncQueueOptions) {
    this.#options = options;
    // What BullMQ asks for: a worker waits for its server as long as it takes.
    this.#redis = new Redis(options.url, { maxRetriesPerRequest: null });
    this.#redis.on('error', (error) => console.error(error.message));
    this.#queue = new Queue(SYNC, { connection: this.#redis });
  }

  /**
   * Puts in a job for each company that has none: while one waits or runs, another one is not taken in. Resolves to how
   * many were new.
   */
  async plan(): Promise<number> {
    const before = await this.#total();
    for (const tenant of this.#options.tenants()) {
      await this.#queue.add(
        SYNC,
        { tenant },
        {
          deduplication: { id: tenant },
          attempts: 8,
          backoff: { type: 'exponential', delay: 1_000 },
          removeOnComplete: { count: 1_000 },
          removeOnFail: { count: 1_000 },
        },
      );
    }
    return (await this.#total()) - before;
  }

  /** Plans by a cron expression, once for all machines. */
  async planEvery(pattern: string): Promise<void> {
    const planning = new Queue(PLAN, { connection: this.#redis });
    await planning.upsertJobScheduler(PLAN, { pattern });
    await planning.close();
    this.#add(new Worker(PLAN, () => this.plan(), { connection: this.#redis }));
  }

  /** Works on jobs, so many at a time: each another company, so that each key has one user. */
  work(atOnce: number): void {
    const { lockMs = 30_000 } = this.#options;
    const worker = new Worker<Work, Result>(SYNC, (job, token) => this.#run(job, token), {
      connection: this.#redis,
      concurrency: atOnce,
      lockDuration: lockMs,
      stalledInterval: lockMs,
      // A company is not given up because machines died under it.
      maxStalledCount: 100,
    });
    this.#add(worker);
  }

  /** How many jobs there are that have not ended. */
  async open(): Promise<number> {
    return this.#queue.getJobCountByTypes('waiting', 'active', 'delayed', 'prioritized');
  }

  /** What came of the jobs that have ended. */
  async ended(): Promise<(Work & Result)[]> {
    const jobs = await this.#queue.getJobs(['completed']);
    return jobs.map(({ data, returnvalue }) => ({ ...data, ...returnvalue }));
  }

  /** Ends the jobs under way: what they have committed stays, and another machine goes on. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('this machine stops'));
    await Promise.all(this.#workers.map((worker) => worker.close()));
    await this.#queue.close();
    await this.#redis.quit();
  }

  #add(worker: Worker): void {
    worker.on('error', (error) => console.error(error.message));
    this.#workers.push(worker);
  }

  #total(): Promise<number> {
    return this.#queue.getJobCountByTypes();
  }

  async #run(job: Job<Work, Result>, token: string | undefined): Promise<Result> {
    const { clientOf, onJob } = this.#options;
    const { tenant } = job.data;
    const { signal } = this.#stopping;
    let result: Result | undefined;
    onJob?.('begin', tenant);
    try {
      result = await copyCompany(this.#redis, clientOf(tenant), { tenant, signal }).then(
        (records) => ({ records, problems: [] }),
        resultOf,
      );
      return result;
    } catch (error) {
      if (!signal.aborted) throw error;
      // Not a failed attempt: the job goes back for another machine.
      await job.moveToDelayed(Date.now(), token);
      throw new DelayedError();
    } finally {
      onJob?.('end', tenant, result);
    }
  }
}

/** What may be cured by waiting is thrown, so that the queue tries again; the rest is a result. */
function resultOf(error: unknown): Result {
  if (!isAccountingError(error, 'sync_failed') || error.errors.some(({ error }) => mayPass(error)))
    throw error;
  return { records: error.report.records, problems: error.errors.map(describe) };
}

function mayPass(error: unknown): boolean {
  return !isAccountingError(error) || error.retryable || error.code === 'concurrent_run';
}

function describe({ collection, error }: SyncError['errors'][number]): string {
  return `${collection} ${isAccountingError(error) ? error.code : 'unknown'}`;
}
