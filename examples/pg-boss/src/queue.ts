import { setTimeout as wait } from 'node:timers/promises';
import { type Client, isAccountingError } from 'accounting-data-sdk';
import { PgBoss } from 'pg-boss';
import { COLLECTIONS, copyPair, type Pair, prepareCopy } from './copy.ts';
import type { Database } from './database.ts';

const SYNC = 'sync';
const PLAN = 'plan';

/** The result of a job, which pg-boss stores as its output. */
export interface Result {
  readonly records: number;
  /** The code of an error that a retry cannot cure, such as a revoked key. */
  readonly problem?: string;
}

/** A job that has ended. */
export interface Ended extends Pair, Result {
  readonly startedOn: Date;
  readonly completedOn: Date | null;
}

export interface QueueOptions {
  readonly database: Database;
  /** The companies, by label. Called each time, because companies may be added and removed. */
  readonly tenants: () => readonly string[];
  readonly clientOf: (tenant: string) => Client;
  /** After how many seconds without a heartbeat a worker counts as dead; at least 10. Default: 30. */
  readonly heartbeatSeconds?: number;
  /** Called when a job begins and when it ends, without a result if it failed. */
  readonly onJob?: (event: 'begin' | 'end', pair: Pair, result?: Result) => void;
}

/** The queue, seen from one machine. */
export class SyncQueue {
  readonly #boss: PgBoss;
  readonly #options: QueueOptions;

  private constructor(boss: PgBoss, options: QueueOptions) {
    this.#boss = boss;
    this.#options = options;
  }

  static async start(options: QueueOptions): Promise<SyncQueue> {
    const { database, heartbeatSeconds = 30 } = options;
    await prepareCopy(database);
    const boss = new PgBoss({ ...database.queue, superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 });
    boss.on('error', (error) => console.error(error.message));
    await boss.start();
    // A pair has at most one job, waiting or running: the queue does not accept a second.
    await boss.createQueue(SYNC, {
      policy: 'exclusive',
      heartbeatSeconds,
      // A first run may take long; the heartbeat shows that its worker is alive.
      expireInSeconds: 6 * 60 * 60,
      retryLimit: 8,
      retryDelay: 1,
      retryBackoff: true,
      retryDelayMax: 300,
    });
    await boss.createQueue(PLAN, { policy: 'exclusive' });
    return new SyncQueue(boss, options);
  }

  /**
   * Adds a job for each pair that has none, round by round, so that no company waits for all the collections of
   * another. Resolves to how many were new.
   */
  async plan(): Promise<number> {
    let added = 0;
    for (const collection of COLLECTIONS) {
      const round = this.#options.tenants().map((tenant) => ({
        data: { tenant, collection } satisfies Pair,
        singletonKey: `${tenant}:${collection}`,
        group: { id: tenant },
      }));
      const ids = await this.#boss.insert(SYNC, round, { returnId: true });
      added += ids?.length ?? 0;
      // Jobs created in the same millisecond have no order, and the clock of PGlite counts in milliseconds.
      await wait(2);
    }
    return added;
  }

  /** Plans by a cron expression, once for all machines. */
  async planEvery(cron: string): Promise<void> {
    await this.#boss.work(PLAN, async () => ({ added: await this.plan() }));
    await this.#boss.schedule(PLAN, cron);
  }

  /** Works on `atOnce` jobs at a time, but on one job of a company, over all machines: its key has one user. */
  async work(atOnce: number): Promise<void> {
    await this.#boss.work(
      SYNC,
      { localConcurrency: atOnce, groupConcurrency: 1, pollingIntervalSeconds: 0.5 },
      async ([job]: { data: Pair; signal: AbortSignal }[]) => job && this.#run(job.data, job.signal),
    );
  }

  /** How many jobs there are that have not ended. */
  async open(): Promise<number> {
    const jobs = await this.#boss.findJobs<Pair>(SYNC);
    return jobs.filter(({ state }) => ['created', 'retry', 'active'].includes(state)).length;
  }

  /** The jobs that have ended, and their results. */
  async ended(): Promise<Ended[]> {
    const jobs = await this.#boss.findJobs<Pair>(SYNC);
    return jobs
      .filter(({ state }) => state === 'completed' || state === 'failed')
      .map(({ data, output, startedOn, completedOn }) => ({
        ...data,
        ...(output as unknown as Result),
        startedOn,
        completedOn,
      }));
  }

  /** Takes no further job, and stops the running ones: what they have committed stays, and another machine continues. */
  async stop(): Promise<void> {
    await this.#boss.stop({ graceful: false });
  }

  async #run(pair: Pair, signal: AbortSignal): Promise<Result> {
    const { database, clientOf, onJob } = this.#options;
    let result: Result | undefined;
    onJob?.('begin', pair);
    try {
      result = await this.#copy(() => copyPair(database, clientOf(pair.tenant), { ...pair, signal }));
      return result;
    } finally {
      onJob?.('end', pair, result);
    }
  }

  /** A retryable error is thrown, so that the queue tries again; any other becomes a result. */
  async #copy(work: () => Promise<number>): Promise<Result> {
    try {
      return { records: await work() };
    } catch (error) {
      if (!isAccountingError(error) || error.retryable || error.code === 'concurrent_run') throw error;
      return { records: 0, problem: error.code };
    }
  }
}
