import { createRequire } from 'node:module';
import { createClient, isAccountingError, type SyncTarget, sync } from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { COLLECTIONS } from './changing-records.ts';

/** The task of a connector. */
export interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** A file of SQLite, or the address of PostgreSQL. */
  readonly to: string;
  /** A file beside the node_modules that have `pg`. */
  readonly modules?: string | undefined;
  readonly mode: 'full' | 'incremental';
  /** Requests after which the sync pauses. */
  readonly stopAfter?: number | undefined;
}

interface Pool extends PostgresConnection {
  end(): Promise<void>;
}

/** Brings the copy up to date, or as far as `stopAfter` allows. */
export async function connect({ mode, stopAfter, ...task }: Task): Promise<void> {
  const client = createClient({ baseUrl: task.baseUrl, apiKey: task.apiKey });
  await withTarget(task, (target) =>
    sync(client, {
      tenant: 'acme',
      collections: COLLECTIONS,
      target,
      mode,
      stopAfter: stopAfter === undefined ? undefined : { requests: stopAfter },
      // The sandbox commits at once: a larger one would hide a checkpoint that is ahead of its rows.
      lookbackMs: 1_000,
      // Runs that are killed apply no deletions, so many can be waiting for the one that is not.
      maxCandidates: 1_000_000,
    }),
  );
}

async function withTarget<V>(
  { to, modules = '' }: Pick<Task, 'to' | 'modules'>,
  work: (target: SyncTarget) => Promise<V>,
): Promise<V> {
  if (!to.startsWith('postgres:')) return await work(sqliteTarget(to));
  const { Pool } = createRequire(modules)('pg') as { Pool: new (options: object) => Pool };
  const pool = new Pool({ connectionString: to });
  try {
    return await work(postgresTarget(pool));
  } finally {
    await pool.end();
  }
}

/** Whether a sync failed only because the writer deleted the records that prove that a 404 means something. */
function isUndecided(error: unknown): boolean {
  return (
    isAccountingError(error, 'sync_failed') &&
    error.errors.every(
      ({ error }) =>
        isAccountingError(error, 'deletions_aborted') && error.reason === 'first_record_not_found',
    )
  );
}

// Run as a program, which is killed. Its argument is the task. A run that cannot decide deletes nothing, and the next one
// reads everything again.
if (process.argv[1] === import.meta.filename) {
  await connect(JSON.parse(process.argv[2] ?? '') as Task).catch((error: unknown) => {
    if (!isUndecided(error)) throw error;
  });
}
