import { DatabaseSync } from 'node:sqlite';
import type { CopiedRecord } from './target-kills.ts';

/** Reads every record of a copy in SQLite. */
export function readSqlite(file: string): () => Promise<readonly CopiedRecord[]> {
  return async () => {
    const database = new DatabaseSync(file);
    try {
      const rows = database.prepare('SELECT collection, id, body FROM accounting_record').all();
      return rows.map(({ collection, id, body }) => ({
        collection: String(collection),
        id: String(id),
        body: JSON.parse(String(body)) as object,
      }));
    } finally {
      database.close();
    }
  };
}
