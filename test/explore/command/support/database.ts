import { DatabaseSync } from 'node:sqlite';
import { collectionNames } from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';

/** The records that `pull --to` wrote into a file of SQLite, each with its collection. */
export function copied(file: string): readonly string[] {
  using database = new DatabaseSync(file);
  const rows = database.prepare('SELECT collection, body FROM accounting_record').all();
  return rows.map(({ collection, body }) => `${collection} ${body}`).sort();
}

/** The records of the service in the same form. */
export const upstream = ({ store }: Sandbox): readonly string[] =>
  collectionNames
    .flatMap((name) => store[name].all().map((record) => `${name} ${JSON.stringify(record)}`))
    .sort();
