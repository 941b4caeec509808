import { createRequire } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import {
  type Client,
  createClient,
  isAccountingError,
  reconcile,
  type SyncTarget,
  sync,
  verify,
} from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { COLLECTIONS } from './changing-records.ts';

/** The task of a connector. */
export interface Task {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** A target of this package, or tables that the connector writes itself. */
  readonly writer: 'target' | 'own tables';
  /** A file of SQLite, or the address of PostgreSQL. */
  readonly to: string;
  /** A file beside the node_modules that have `pg`. */
  readonly modules?: string | undefined;
  readonly mode: 'full' | 'incremental';
  /** A target only: requests after which the sync pauses. */
  readonly stopAfter?: number | undefined;
}

const options = { tenant: 'acme', collections: COLLECTIONS } as const;

/** Brings the copy up to date. */
export async function connect(task: Task): Promise<void> {
  const client = createClient({ baseUrl: task.baseUrl, apiKey: task.apiKey });
  await (task.writer === 'target' ? syncIntoTarget(client, task) : syncIntoOwnTables(client, task));
}

/** A consumer as a user may write it: each batch and its checkpoint in one transaction, and a reconcile for deletions. */
async function syncIntoOwnTables(client: Client, { to, mode }: Task): Promise<void> {
  const database = new DatabaseSync(to);
  // No unique index: a row that is there twice must be seen, not prevented.
  database.exec(`
    CREATE TABLE IF NOT EXISTS accounting_record (collection TEXT, id TEXT, body TEXT);
    CREATE TABLE IF NOT EXISTS accounting_checkpoint (key TEXT PRIMARY KEY, value TEXT)`);
  const one = database.prepare('SELECT value FROM accounting_checkpoint WHERE key = ?');
  const ids = database.prepare('SELECT id FROM accounting_record WHERE collection = ?');
  const remove = database.prepare('DELETE FROM accounting_record WHERE collection = ? AND id = ?');
  const insert = database.prepare('INSERT INTO accounting_record VALUES (?, ?, ?)');
  const save = database.prepare('INSERT OR REPLACE INTO accounting_checkpoint VALUES (?, ?)');
  await sync(client, {
    ...options,
    store: { get: (key) => one.get(key)?.value as string | undefined },
    onBatch: async ({ collection, records, key, checkpoint }) => {
      database.exec('BEGIN IMMEDIATE');
      for (const record of records) {
        remove.run(collection, record.id);
        insert.run(collection, record.id, JSON.stringify(record));
      }
      // A database elsewhere takes time between two statements, in which the process can die.
      await wait(5);
      save.run(key, checkpoint);
      database.exec('COMMIT');
    },
  });
  for (const name of mode === 'full' ? COLLECTIONS : []) {
    await reconcile(client[name], {
      localIds: () => ids.all(name).map(({ id }) => String(id)),
      onDelete: (deleted) => {
        for (const id of deleted) remove.run(name, id);
      },
      maxCandidates: Number.POSITIVE_INFINITY,
    }).catch((error: unknown) => {
      // The first listed record was deleted meanwhile. The next reconcile will do.
      if (!isAccountingError(error, 'reconcile_aborted')) throw error;
    });
  }
  database.close();
}

interface Pool extends PostgresConnection {
  end(): Promise<void>;
}

/** Brings the copy in a target up to date, or as far as `stopAfter` allows. */
async function syncIntoTarget(client: Client, { mode, stopAfter, ...task }: Task): Promise<void> {
  await withTarget(task, (target) =>
    sync(client, {
      ...options,
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

/** What `verify` finds wrong in the copy in a target. */
export async function differencesOf(task: Omit<Task, 'mode'>): Promise<readonly string[]> {
  const client = createClient({ baseUrl: task.baseUrl, apiKey: task.apiKey });
  const report = await withTarget(task, (target) => verify(client, { ...options, target }));
  return report.collections.flatMap(({ collection, missing, different, extra, changedSince }) =>
    Object.entries({ missing, different, extra, changedSince }).flatMap(([what, ids]) =>
      ids.map((id) => `verify: ${collection} ${id} ${what}`),
    ),
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

// Run as a program, which is killed. Its argument is the task.
if (process.argv[1] === import.meta.filename) await connect(JSON.parse(process.argv[2] ?? '') as Task);
