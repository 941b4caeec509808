/** Keeps a copy in SQLite, with the checkpoint in the same transaction as the records. Run it every night. */
import { DatabaseSync } from 'node:sqlite';
import { createClient, reconcile, sync } from 'accounting-data-sdk';

const client = createClient();
const collections = ['accounts', 'products', 'budgets', 'budgetLines'] as const;
const db = new DatabaseSync(process.env.SQLITE_FILE ?? ':memory:');
db.exec(`CREATE TABLE IF NOT EXISTS record (collection TEXT, id TEXT, json TEXT, PRIMARY KEY (collection, id));
  CREATE TABLE IF NOT EXISTS checkpoint (key TEXT PRIMARY KEY, value TEXT)`);
const upsert = db.prepare('INSERT OR REPLACE INTO record VALUES (?, ?, ?)');
const remove = db.prepare('DELETE FROM record WHERE collection = ? AND id = ?');
const ids = db.prepare('SELECT id FROM record WHERE collection = ?');
const getCheckpoint = db.prepare('SELECT value FROM checkpoint WHERE key = ?');
const setCheckpoint = db.prepare('INSERT OR REPLACE INTO checkpoint VALUES (?, ?)');
const save = (collection: string, records: readonly { id: string }[]) =>
  records.forEach((record) => void upsert.run(collection, record.id, JSON.stringify(record)));
await sync(client, {
  tenant: 'acme',
  collections,
  store: { get: (key) => getCheckpoint.get(key)?.value as string | undefined },
  onBatch: ({ collection, records, key, checkpoint }) => {
    db.exec('BEGIN');
    try {
      save(collection, records);
      setCheckpoint.run(key, checkpoint);
      db.exec('COMMIT');
    } catch (error) {
      db.exec('ROLLBACK');
      throw error;
    }
  },
});
for (const collection of collections) {
  const { deleted } = await reconcile(client[collection], {
    localIds: () => ids.all(collection).map(({ id }) => String(id)),
    onDelete: (gone) => gone.forEach((id) => void remove.run(collection, id)),
    onRepair: (missed) => save(collection, missed),
  });
  console.log(`${collection}: ${ids.all(collection).length} in the copy, ${deleted} deleted`);
}
