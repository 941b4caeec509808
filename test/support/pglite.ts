import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import manifest from '../../package.json' with { type: 'json' };

const folder = fileURLToPath(new URL('../../node_modules/.cache/pglite/', import.meta.url));
const file = `${folder}${manifest.devDependencies['@electric-sql/pglite']}.tar`;

/**
 * Starts an empty PostgreSQL in this process. Loading the files of an empty database takes a tenth of the time of
 * creating them, so they are kept for the next start.
 */
export async function startPglite(): Promise<PGlite> {
  if (existsSync(file)) return PGlite.create({ loadDataDir: new Blob([readFileSync(file)]) });

  const database = await PGlite.create();
  const files = await database.dumpDataDir('none');
  mkdirSync(folder, { recursive: true });
  // Another process may do the same at the same time.
  const own = `${file}.${process.pid}`;
  writeFileSync(own, new Uint8Array(await files.arrayBuffer()));
  renameSync(own, file);
  return database;
}
