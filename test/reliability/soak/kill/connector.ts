// A connector as a program that is killed. Its arguments: base URL, key, what writes the copy, the copy, what is read.

import { createRequire } from 'node:module';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, isAccountingError, reconcile, sync } from 'accounting-data-sdk';
import { type PostgresConnection, postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { COLLECTIONS } from './changing-records.ts';

const [, , baseUrl = '', apiKey = '', writer = '', to = '', mode = '', modules = ''] = process.argv;
const client = createClient({ baseUrl, apiKey });
const options = { tenant: 'acme', collections: COLLECTIONS };

/** A consumer as a user may write it: each batch and its checkpoint in one transaction, and a reconcile for deletions. */
async function syncIntoOwnTables(): Promise<void> {
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
}

interface Pool extends PostgresConnection {
  end(): Promise<void>;
}

function postgresPool(): Pool {
  const { Pool } = createRequire(modules)('pg') as { Pool: new (options: object) => Pool };
  return new Pool({ connectionString: to });
}

async function syncIntoTarget(): Promise<void> {
  const pool = to.startsWith('postgres:') ? postgresPool() : undefined;
  await sync(client, {
    ...options,
    target: pool === undefined ? sqliteTarget(to) : postgresTarget(pool),
    mode: mode === 'full' ? 'full' : 'incremental',
    // The sandbox commits at once: a larger one would hide a checkpoint that is ahead of its rows.
    lookbackMs: 1_000,
    // Full runs that are killed find no deletions, so many can be waiting for the one that is not.
    maxCandidates: 1_000_000,
  });
  await pool?.end();
}

await (writer === 'target' ? syncIntoTarget() : syncIntoOwnTables());
