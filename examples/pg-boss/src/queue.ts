import { createHash } from 'node:crypto';
import {
  type ClientOptions,
  createClient,
  isAccountingError,
  type StopAfter,
  sync,
} from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget } from 'accounting-data-sdk/targets';
import { type ConstructorOptions, PgBoss } from 'pg-boss';

export const SYNC = 'sync';
/** The dead-letter queue: jobs that no retry can cure. */
export const FAILED = 'sync_failed';
const PLAN = 'plan';

const HOUR_MS = 3_600_000;
const HOURS_IN_WEEK = 168;
const DAY_SECONDS = 86_400;

interface Job {
  readonly tenant: string;
  /** A sync reads what changed, or everything, which finds deletions. */
  readonly mode: 'incremental' | 'full';
}

/** The result of a job, which pg-boss stores as its output. */
export type Result =
  | { readonly status: 'synced' | 'paused'; readonly records: number; readonly resumeAfterMs: number }
  | { readonly status: 'stopped' | 'removed' }
  | {
      readonly status: 'failed';
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
    };

export async function startQueue(options: ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss({
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    // pg-boss skips a tenant whose job was running when this cache was read, even if that job has ended.
    queueCacheIntervalSeconds: 1,
    ...options,
  });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue(FAILED);
  // For each tenant at most one job that waits and one that runs: the one that waits resumes the other.
  await boss.createQueue(SYNC, {
    policy: 'stately',
    heartbeatSeconds: 30,
    retryLimit: 8,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 300,
    deadLetter: FAILED,
    deleteAfterSeconds: DAY_SECONDS,
  });
  await boss.createQueue(PLAN, { policy: 'stately', deleteAfterSeconds: DAY_SECONDS });
  return boss;
}

/** Plans the jobs of all companies every hour. However many machines start this, one of them plans. */
export async function planHourly(boss: PgBoss, tenants: () => Promise<Iterable<string>>): Promise<void> {
  await boss.schedule(PLAN, '0 * * * *', null, { missed: 'once' });
  await boss.work(PLAN, async () => {
    const jobs = Array.from(await tenants(), slotOf);
    // One statement for each thousand.
    for (let start = 0; start < jobs.length; start += 1_000)
      await plan(boss, jobs.slice(start, start + 1_000));
  });
}

/**
 * The job of a company in this hour. Its minute follows from a hash of the tenant, and so does the hour of the week in
 * which everything is read: both are the same on every machine, and spread over all companies.
 */
function slotOf(tenant: string): Job & { readonly startAfter: Date } {
  const hash = createHash('sha256').update(tenant).digest();
  const hour = Math.floor(Date.now() / HOUR_MS);
  const isFull = hour % HOURS_IN_WEEK === hash.readUInt32BE(4) % HOURS_IN_WEEK;
  const startAfter = new Date((hour + hash.readUInt32BE(0) / 2 ** 32) * HOUR_MS);
  return { tenant, mode: isFull ? 'full' : 'incremental', startAfter };
}

/** Adds a job for each tenant that has none waiting. */
export async function plan(
  boss: PgBoss,
  jobs: readonly (Job & { readonly startAfter?: Date })[],
): Promise<void> {
  const inserts = jobs.map(({ tenant, mode, startAfter = new Date() }) => ({
    data: { tenant, mode },
    // A full read is queued even if a job for changes waits.
    singletonKey: mode === 'full' ? `${tenant} full` : tenant,
    group: { id: tenant },
    startAfter,
  }));
  await boss.insert(SYNC, inserts);
}

export interface WorkOptions {
  readonly connection: PostgresConnection;
  /** Called for each job: read your secret store here. Undefined for a company that was removed, whose jobs then end. */
  readonly companyOf: (tenant: string) => Promise<ClientOptions | undefined>;
  /** The limit of one job: a large company then queues again, behind the others. */
  readonly stopAfter: StopAfter;
  /** Jobs at a time on this machine. */
  readonly atOnce: number;
  /** Ends the jobs of this machine: each is queued again, for another machine. */
  readonly signal: AbortSignal;
  readonly onJob: (tenant: string, result: Result) => void;
}

/** Works on jobs until the queue is stopped. Over all machines one job of a tenant at a time, because its key has one quota. */
export async function work(boss: PgBoss, options: WorkOptions): Promise<void> {
  const settings = {
    localConcurrency: options.atOnce,
    groupConcurrency: 1,
    pollingIntervalSeconds: 0.5,
    perJobResults: true,
  } as const;
  await boss.work<Job>(SYNC, settings, async ([job]) => {
    if (job === undefined) return [];
    const signal = AbortSignal.any([job.signal, options.signal]);
    const result = await run(job.data, { ...options, signal }).catch((error: unknown) =>
      options.signal.aborted ? ({ status: 'stopped' } as const) : failureOf(error),
    );
    // Before this job ends: if the machine dies in between, this one is retried and resumes as well.
    const { status } = result;
    const delayMs = status === 'paused' ? result.resumeAfterMs : 0;
    if (status === 'paused' || status === 'stopped')
      await plan(boss, [{ ...job.data, startAfter: new Date(Date.now() + delayMs) }]);
    options.onJob(job.data.tenant, result);
    if (status !== 'failed') return [{ id: job.id, status: 'completed', output: result }];
    return [{ id: job.id, status: result.retryable ? 'failed' : 'deadletter', output: result }];
  });
}

async function run(
  { tenant, mode }: Job,
  { connection, companyOf, stopAfter, signal }: WorkOptions,
): Promise<Result> {
  const company = await companyOf(tenant);
  if (company === undefined) return { status: 'removed' };
  const target = postgresTarget(connection);
  // A service that stays down is left to the queue.
  const options = { tenant, target, mode, stopAfter, maxOutageMs: 10_000, signal };
  const { records, paused, resumeAfterMs } = await sync(createClient(company), options);
  return { status: paused ? 'paused' : 'synced', records, resumeAfterMs };
}

/** An error outside the SDK, such as one of `companyOf`, is retried. */
function failureOf(error: unknown): Result {
  const { message } = error as Error;
  if (!isAccountingError(error))
    return { status: 'failed', code: 'unexpected_error', message, retryable: true };
  const first = isAccountingError(error, 'sync_failed') ? error.errors[0]?.error : undefined;
  const { code } = isAccountingError(first) ? first : error;
  return { status: 'failed', code, message, retryable: error.retryable };
}
