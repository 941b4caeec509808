import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PGlite } from '@electric-sql/pglite';
import manifest from '../../package.json' with { type: 'json' };

const folder = fileURLToPath(new URL('../../node_modules/.cache/pglite/', import.meta.url));
const file = `${folder}${manifest.devDependencies['@electric-sql/pglite']}.tar`;

let started: Promise<PGlite> | undefined;

/**
 * The PostgreSQL of this process, without the schema of another test. It is never closed, because a start takes two
 * seconds, and the test files of a project share their processes.
 */
export async function openPglite(): Promise<PGlite> {
  started ??= startPglite();
  const database = await started;
  await database.exec('RESET search_path; DROP SCHEMA IF EXISTS accounting CASCADE');
  return database;
}

/** Loading the files of an empty database is faster than creating them, so they are kept for the next start. */
async function startPglite(): Promise<PGlite> {
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
