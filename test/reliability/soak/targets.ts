/**
 * Syncs into SQLite and into a real PostgreSQL that are killed with SIGKILL at random moments while a writer changes,
 * deletes and creates records: both copies must be those of the service, field by field. KILLS sets another number
 * than 200 for SQLite and half of that for PostgreSQL, SEED another beginning, DATABASE=sqlite or postgres only one.
 *
 *   npm run soak targets
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { startPostgres } from '../../support/start-postgres.ts';
import { readSqlite } from './kill/read-sqlite.ts';
import { type CopiedRecord, type KilledTarget, killTarget } from './kill/target-kills.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

async function soak(
  name: string,
  target: KilledTarget,
  options: { kills: number; seed: number },
): Promise<boolean> {
  const startedAt = Date.now();
  const { kills, begun, lost, differences } = await killTarget(target, options);
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  say(
    `targets: ${name}, seed ${options.seed}: ${kills} kills, ${begun} of them with a copy begun; ${lost.length} records lost, ${differences.length} differences at the end, ${seconds} s`,
  );
  for (const line of [...lost, ...differences].slice(0, 20)) say(`  ${line}`);
  return lost.length === 0 && differences.length === 0;
}

interface Pool {
  query(text: string): Promise<{ rows: unknown[] }>;
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

async function soakPostgres(folder: string, options: { kills: number; seed: number }): Promise<boolean> {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') {
    say(`targets: PostgreSQL not tried: ${postgres}`);
    return false;
  }
  await using server = postgres;
  // No dependency of this package.
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, 'pg@8.23.1']);
  const modules = join(folder, 'package.json');
  const { Pool } = createRequire(modules)('pg') as { Pool: new (options: object) => Pool };
  const pool = new Pool({ connectionString: server.url });
  // The server stops while connections of the pool are idle.
  pool.on('error', () => {});
  try {
    const { rows } = await pool.query('SHOW server_version');
    const name = `PostgreSQL ${(rows[0] as { server_version: string }).server_version}`;
    const read = async () =>
      (await pool.query('SELECT collection, id, body FROM accounting.record')).rows as CopiedRecord[];
    return await soak(name, { to: server.url, modules, read }, options);
  } finally {
    await pool.end();
  }
}

/** Both databases, one after the other. */
export async function soakTargets(): Promise<boolean> {
  const kills = Number(process.env.KILLS ?? 200);
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
  const folder = mkdtempSync(join(tmpdir(), 'soak-targets-'));
  try {
    const file = join(folder, 'books.sqlite');
    const { version } = new DatabaseSync(':memory:').prepare('SELECT sqlite_version() AS version').get() as {
      version: string;
    };
    const sqlite = { to: file, read: readSqlite(file) };
    const { DATABASE } = process.env;
    const inSqlite = DATABASE === 'postgres' || (await soak(`SQLite ${version}`, sqlite, { kills, seed }));
    if (DATABASE === 'sqlite') return inSqlite;
    return (await soakPostgres(folder, { kills: Math.ceil(kills / 2), seed })) && inSqlite;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename && !(await soakTargets())) process.exitCode = 1;
