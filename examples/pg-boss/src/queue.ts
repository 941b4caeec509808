import { type Client, isAccountingError, type StopAfter, sync } from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget } from 'accounting-data-sdk/targets';
import { type ConstructorOptions, PgBoss } from 'pg-boss';

const SYNC = 'sync';

interface Job {
  readonly tenant: string;
}

export interface WorkOptions {
  readonly connection: PostgresConnection;
  readonly clientOf: (tenant: string) => Client;
  /** The limit of one job: a large company then queues again, behind the others. */
  readonly stopAfter: StopAfter;
  /** Jobs at a time on this machine. */
  readonly atOnce: number;
  readonly onJob?: (tenant: string, result: Result) => void;
}

/** The result of a job, which pg-boss stores as its output. */
export interface Result {
  readonly records: number;
  readonly paused: boolean;
  /** The code of an error that a retry cannot cure, such as a revoked key. */
  readonly problem?: string;
}

export async function startQueue(options: ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss({ ...options, superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  // For each tenant at most one job that waits and one that runs: the one that waits resumes the other.
  await boss.createQueue(SYNC, {
    policy: 'stately',
    heartbeatSeconds: 30,
    retryLimit: 8,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 300,
  });
  return boss;
}

/** Adds a job for a tenant that has none waiting. */
export async function plan(boss: PgBoss, tenant: string): Promise<void> {
  await boss.send(SYNC, { tenant } satisfies Job, { singletonKey: tenant, group: { id: tenant } });
}

/** Works on jobs until the queue is stopped. Over all machines one job of a tenant at a time, because its key has one quota. */
export async function work(boss: PgBoss, options: WorkOptions): Promise<void> {
  const settings = { localConcurrency: options.atOnce, groupConcurrency: 1, pollingIntervalSeconds: 0.5 };
  await boss.work<Job, Result | undefined>(SYNC, settings, async ([job]) => {
    if (job === undefined) return undefined;
    const { tenant } = job.data;
    const result = await copy(tenant, options, job.signal);
    // Before this job ends: if the machine dies in between, this one is retried and resumes as well.
    if (result.paused) await plan(boss, tenant);
    options.onJob?.(tenant, result);
    return result;
  });
}

/** A retryable error is thrown, so that the queue tries again; any other becomes a result. */
async function copy(
  tenant: string,
  { connection, clientOf, stopAfter }: WorkOptions,
  signal: AbortSignal,
): Promise<Result> {
  try {
    const target = postgresTarget(connection);
    const { records, paused } = await sync(clientOf(tenant), { tenant, target, stopAfter, signal });
    return { records, paused };
  } catch (error) {
    if (!isAccountingError(error) || error.retryable) throw error;
    return { records: 0, paused: false, problem: error.code };
  }
}
