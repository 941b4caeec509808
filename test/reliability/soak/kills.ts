/**
 * Kills connectors with SIGKILL at random moments while a writer changes, deletes and creates records: one that writes
 * its own tables, the targets SQLite and PostgreSQL; and pushes, which are started again at once. KILLS sets another
 * number than 200, of which each target gets half; SEED another beginning; DATABASE=sqlite or postgres only one target.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../../support/start-postgres.ts';
import { copyOf, type Killed, type KillVerdict, killOften, readSqlite } from './kill/kill.ts';
import { killPushes } from './kill/kill-pushes.ts';

const KILLS = Number(process.env.KILLS ?? 200);
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);

async function soak(
  name: string,
  kill: (options: { kills: number; seed: number }) => Promise<KillVerdict>,
  wanted = KILLS,
): Promise<boolean> {
  const startedAt = Date.now();
  const { kills, begun, findings } = await kill({ kills: wanted, seed: SEED });
  const seconds = ((Date.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `${name}, seed ${SEED}: ${kills} kills, ${begun} of them after it began to write; ${findings.length} findings, ${seconds} s`,
  );
  for (const line of findings.slice(0, 20)) console.log(`  ${line}`);
  return findings.length === 0;
}

async function soakSqlite(writer: Killed['writer']): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'soak-kills-'));
  const to = join(folder, 'books.sqlite');
  try {
    const killed = { writer, to, read: readSqlite(to) };
    const kills = writer === 'target' ? KILLS / 2 : KILLS;
    return await soak(`${writer} in SQLite`, (options) => killOften(killed, options), kills);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Pool {
  query(text: string): Promise<{ rows: object[] }>;
  on(event: 'error', listener: () => void): unknown;
  end(): Promise<void>;
}

async function soakPostgres(): Promise<boolean> {
  const postgres = await startPostgres();
  if (typeof postgres === 'string') {
    console.log(`PostgreSQL not tried: ${postgres}`);
    return false;
  }
  await using server = postgres;
  const folder = mkdtempSync(join(tmpdir(), 'soak-kills-'));
  // No dependency of this package.
  execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, 'pg@8.23.1']);
  const modules = join(folder, 'package.json');
  const { Pool } = createRequire(modules)('pg') as { Pool: new (options: object) => Pool };
  const pool = new Pool({ connectionString: server.url });
  // The server stops while connections of the pool are idle.
  pool.on('error', () => {});
  const all = async (sql: string) => (await pool.query(sql)).rows;
  const read = async () => {
    const [{ exists } = {}] = (await all("SELECT to_regclass('accounting.checkpoint') AS exists")) as {
      exists?: unknown;
    }[];
    if (exists === null) return copyOf([], []);
    return copyOf(
      await all('SELECT collection, id, body FROM accounting.record'),
      await all('SELECT key, value FROM accounting.checkpoint'),
    );
  };
  try {
    const killed = { writer: 'target', to: server.url, modules, read } as const;
    return await soak('target in PostgreSQL', (options) => killOften(killed, options), KILLS / 2);
  } finally {
    await pool.end();
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function soakKills(): Promise<boolean> {
  const inTables = await soakSqlite('own tables');
  return (await soak('pushes', killPushes)) && inTables;
}

export async function soakTargets(): Promise<boolean> {
  const { DATABASE } = process.env;
  const inSqlite = DATABASE === 'postgres' || (await soakSqlite('target'));
  return (DATABASE === 'sqlite' || (await soakPostgres())) && inSqlite;
}
