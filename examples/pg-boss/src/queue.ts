import {
  type ClientOptions,
  createClient,
  isAccountingError,
  type StopAfter,
  type SyncError,
  sync,
} from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget } from 'accounting-data-sdk/targets';
import { type ConstructorOptions, type JobInsert, PgBoss } from 'pg-boss';
import { Circuit } from './circuit.ts';
import { Parked } from './parked.ts';
import { type Mode, slotOf } from './schedule.ts';

export const SYNC = 'sync';
/** The dead-letter queue: jobs that no retry can cure. */
export const FAILED = 'sync_failed';
const PLAN = 'plan';

const DAY_SECONDS = 86_400;

export interface Job {
  readonly tenant: string;
  readonly mode: Mode;
}

/** Options of `createClient`: where a company's data is, and the key that reads it. */
export type Company = ClientOptions & Readonly<Record<'baseUrl' | 'apiKey', string>>;

export interface WorkOptions {
  readonly connection: PostgresConnection;
  /**
   * Called for each job, so that a new key is used at once: read your secret store here. Undefined for a company that was
   * removed, whose jobs then end.
   */
  readonly companyOf: (tenant: string) => Company | undefined | Promise<Company | undefined>;
  /** The limit of one job: a large company then queues again, behind the others. */
  readonly stopAfter: StopAfter;
  /** How long a sync retries while the service is down, in ms: after that it is left to the queue. Default: 10 seconds. */
  readonly maxOutageMs?: number;
  /** Jobs at a time on this machine. */
  readonly atOnce: number;
  /** Ends the jobs of this machine: each is queued again, for another machine. */
  readonly signal?: AbortSignal;
  readonly onJob?: (tenant: string, result: Result) => void;
}

/** The result of a job, which pg-boss stores as its output. */
export type Result =
  | { readonly status: 'stopped' | 'parked' | 'removed' }
  /** The service is down for all companies. */
  | { readonly status: 'down'; readonly resumeAfterMs: number }
  | { readonly status: 'paused'; readonly records: number; readonly resumeAfterMs: number }
  | { readonly status: 'synced'; readonly records: number }
  | {
      readonly status: 'failed';
      /** The code of the first error, such as `unauthenticated`; `unexpected_error` for one that is no `AccountingError`. */
      readonly code: string;
      readonly message: string;
      readonly retryable: boolean;
    };

export async function startQueue(options: ConstructorOptions): Promise<PgBoss> {
  const boss = new PgBoss({
    superviseIntervalSeconds: 5,
    monitorIntervalSeconds: 5,
    // pg-boss skips a tenant whose job was running when this cache was read, even if that job has ended. The default is
    // 60, which delays the next job of a paused company by up to a minute.
    queueCacheIntervalSeconds: 1,
    ...options,
  });
  boss.on('error', (error) => console.error(error.message));
  await boss.start();
  await boss.createQueue(FAILED);
  // For each tenant at most one job that waits and one that runs: the one that waits resumes the other.
  const settings = {
    heartbeatSeconds: 30,
    retryLimit: 8,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 300,
    deadLetter: FAILED,
    deleteAfterSeconds: DAY_SECONDS,
  };
  await boss.createQueue(SYNC, { policy: 'stately', ...settings });
  await boss.createQueue(PLAN, { policy: 'stately', deleteAfterSeconds: DAY_SECONDS });
  return boss;
}

/**
 * Plans the jobs of all companies every hour. However many machines start this, and however often, there is one schedule
 * and one of them plans.
 */
export async function planHourly(
  boss: PgBoss,
  tenants: () => Iterable<string> | Promise<Iterable<string>>,
): Promise<void> {
  await boss.schedule(PLAN, '0 * * * *', null, { missed: 'once' });
  await boss.work(PLAN, async () => planAll(boss, await tenants()));
}

/** Adds the job of this hour for each tenant that has none waiting, with one statement for each thousand. */
export async function planAll(boss: PgBoss, tenants: Iterable<string>, now = new Date()): Promise<void> {
  const jobs = Array.from(tenants, (tenant) => {
    const { mode, startAfter } = slotOf(tenant, now);
    return jobOf({ tenant, mode }, startAfter);
  });
  for (let start = 0; start < jobs.length; start += 1_000) {
    await boss.insert(SYNC, jobs.slice(start, start + 1_000));
  }
}

/** Adds a job for a tenant that has none waiting. */
export async function plan(boss: PgBoss, job: Job, startAfter = new Date()): Promise<void> {
  await boss.insert(SYNC, [jobOf(job, startAfter)]);
}

function jobOf(job: Job, startAfter: Date): JobInsert<Job> {
  const { tenant, mode } = job;
  // A full read is queued even if a job for changes waits.
  const singletonKey = mode === 'full' ? `${tenant} full` : tenant;
  return { data: job, singletonKey, group: { id: tenant }, startAfter };
}

/** Works on jobs until the queue is stopped. Over all machines one job of a tenant at a time, because its key has one quota. */
export async function work(boss: PgBoss, options: WorkOptions): Promise<void> {
  const parked = await Parked.open(options.connection);
  const circuit = await Circuit.open(options.connection);
  const settings = {
    localConcurrency: options.atOnce,
    groupConcurrency: 1,
    pollingIntervalSeconds: 0.5,
    perJobResults: true,
  } as const;
  await boss.work<Job>(SYNC, settings, async ([job]) => {
    if (job === undefined) return [];
    const result = await run(job.data, options, { parked, circuit, jobSignal: job.signal }).catch(unexpected);
    // Before this job ends: if the machine dies in between, this one is retried and resumes as well.
    if (result.status === 'stopped') await plan(boss, job.data);
    if ('resumeAfterMs' in result) {
      await plan(boss, job.data, new Date(Date.now() + result.resumeAfterMs));
    }
    options.onJob?.(job.data.tenant, result);
    return [{ id: job.id, status: outcomeOf(result), output: result }];
  });
}

/** The queue retries a retryable error, and moves any other to the dead-letter queue. */
function outcomeOf(result: Result): 'completed' | 'failed' | 'deadletter' {
  if (result.status !== 'failed') return 'completed';
  return result.retryable ? 'failed' : 'deadletter';
}

/** A failure outside the SDK, such as one of `companyOf` or of the database: the queue retries the job. */
function unexpected(error: unknown): Result {
  const code = 'unexpected_error';
  const message = `${code}: ${error instanceof Error ? error.message : String(error)}`;
  return { status: 'failed', code, message, retryable: true };
}

interface Gates {
  readonly parked: Parked;
  readonly circuit: Circuit;
  readonly jobSignal: AbortSignal;
}

async function run(job: Job, options: WorkOptions, { parked, circuit, jobSignal }: Gates): Promise<Result> {
  const { tenant } = job;
  const { companyOf, signal: stop } = options;
  const company = await companyOf(tenant);
  if (company === undefined) return { status: 'removed' };
  const { apiKey, baseUrl } = company;
  if (await parked.has(tenant, apiKey)) return { status: 'parked' };
  const { waitMs, failures } = await circuit.enter(baseUrl);
  if (waitMs > 0) return { status: 'down', resumeAfterMs: waitMs };
  try {
    const signal = stop === undefined ? jobSignal : AbortSignal.any([jobSignal, stop]);
    const result = await copy(job, company, { ...options, signal });
    if (failures) await circuit.succeeded(baseUrl);
    return result;
  } catch (error) {
    if (stop?.aborted) return { status: 'stopped' };
    if (!isAccountingError(error)) throw error;
    const { stopped, errors: [first] = [] } = error as Partial<SyncError>;
    if (stopped === 'outage') {
      const resumeAfterMs = await circuit.failed(baseUrl, tenant);
      if (resumeAfterMs > 0) return { status: 'down', resumeAfterMs };
    }
    if (stopped === 'key_rejected') await parked.add(tenant, apiKey);
    const { code } = isAccountingError(first?.error) ? first.error : error;
    return { status: 'failed', code, message: error.message, retryable: error.retryable };
  }
}

async function copy(
  { tenant, mode }: Job,
  company: Company,
  { connection, stopAfter, maxOutageMs = 10_000, signal }: WorkOptions,
): Promise<Result> {
  const target = postgresTarget(connection);
  const { records, paused, resumeAfterMs } = await sync(createClient(company), {
    tenant,
    target,
    mode,
    stopAfter,
    maxOutageMs,
    signal,
  });
  return paused ? { status: 'paused', records, resumeAfterMs } : { status: 'synced', records };
}
