import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, type TestContext, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { copyOf, type KillVerdict, killOften, programOf, readSqlite } from './kill.ts';
import { killPushes } from './kill-pushes.ts';

/** `SOAK_KILLS=200` kills each program more often. SEED repeats a run. */
const KILLS = Number(process.env.SOAK_KILLS ?? 3);
const isSoak = KILLS > 3;
const { DATABASE_URL } = process.env;

/** Fails, with the seed, if a kill has left something wrong, or none came after the first write. */
async function expectIntact(play: (run: { kills: number; seed: number }) => Promise<KillVerdict>) {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const { kills, begun, findings } = await play({ kills: KILLS, seed });
  if (isSoak) console.info(`seed ${seed}: ${kills} kills, ${begun} of them after it began to write`);
  expect({ seed, begun: begun > 0, findings }).toEqual({ seed, begun: true, findings: [] });
}

function newFolder({ onTestFinished }: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kill-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

// Concurrent, because most of the time is spent waiting for processes.
test('a sync to SQLite that is killed at random moments leaves no gap, no row twice, and no checkpoint ahead of its rows', {
  ...NO_HURRY,
  concurrent: true,
}, async (context) => {
  const to = join(newFolder(context), 'books.sqlite');
  const records = isSoak ? 300 : 100;
  await expectIntact((run) => killOften({ to, read: readSqlite(to) }, { ...run, records }));
});

interface Pool {
  query(text: string): Promise<{ rows: object[] }>;
  end(): Promise<void>;
}

test.runIf(DATABASE_URL)(
  'the same with a sync to the PostgreSQL of DATABASE_URL',
  NO_HURRY,
  async (context) => {
    const folder = newFolder(context);
    // No dependency of this package.
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, 'pg@8.23.1']);
    const modules = join(folder, 'package.json');
    const { Pool } = createRequire(modules)('pg') as { Pool: new (options: object) => Pool };
    const pool = new Pool({ connectionString: DATABASE_URL });
    context.onTestFinished(() => pool.end());
    await pool.query('DROP SCHEMA IF EXISTS accounting CASCADE');
    const all = async (sql: string) => (await pool.query(sql)).rows;
    const read = async () => {
      const [found] = await all("SELECT 1 WHERE to_regclass('accounting.checkpoint') IS NOT NULL");
      if (found === undefined) return copyOf([], []);
      return copyOf(
        await all('SELECT collection, id, body FROM accounting.record'),
        await all('SELECT key, value FROM accounting.checkpoint'),
      );
    };
    const killed = { to: DATABASE_URL ?? '', modules, read } as const;
    await expectIntact((run) => killOften(killed, run));
  },
);

test('a push that is killed at random moments and started again at once creates each product once', {
  ...NO_HURRY,
  concurrent: true,
}, async () => {
  await expectIntact(killPushes);
});

test('of two processes that push at the same moment with one folder, one creates each product once', {
  ...NO_HURRY,
  concurrent: true,
}, async (context) => {
  const program = await programOf('pusher');
  for (let trial = 0; trial < (isSoak ? KILLS : 1); trial++) {
    await using sandbox = createSandbox();
    await sandbox.listen();
    // The first list lasts until the other process has begun too.
    sandbox.faults.add({ kind: 'delay', ms: 1_000 }, { method: 'GET' });
    const { baseUrl, keys } = sandbox;
    const own = { folder: newFolder(context), rows: 40, visibleAfterMs: 0, waitsForInput: true };
    const args = [program, JSON.stringify({ baseUrl, apiKey: keys.full, ...own })];
    const start = () => spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const pushers = [start(), start()];
    await Promise.all(pushers.map(({ stdout }) => once(stdout, 'data')));
    const ends = pushers.map((pusher) => once(pusher, 'close'));
    for (const { stdin } of pushers) stdin.end('\n');
    const codes = (await Promise.all(ends)).map(([code]) => code);
    expect(codes.toSorted()).toEqual([0, 2]);
    expect(sandbox.count(({ method }) => method === 'POST')).toBe(40);
    expect(sandbox.store.products.count).toBe(40);
  }
});
