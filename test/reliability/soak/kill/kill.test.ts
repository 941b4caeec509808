import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, type TestContext, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { type Held, type KillVerdict, killPushes, killSyncs, pushTwice, start } from './kill.ts';

/** `SOAK_KILLS=200` kills each program more often, and `SOAK_TRIALS=100` starts two at once more often. SEED repeats a run. */
const KILLS = Number(process.env.SOAK_KILLS ?? 2);
const isSoak = KILLS > 2;
const TRIALS = Number(process.env.SOAK_TRIALS ?? 1);
/** Most of the time is spent waiting for processes. */
const CONCURRENT = { ...NO_HURRY, concurrent: true };

/** Fails, with the seed, if a kill has left something wrong, or none came after the first write. */
async function expectIntact(
  play: (run: { kills: number; seed: number; records: number }) => Promise<KillVerdict>,
) {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const { kills, begun, findings } = await play({ kills: KILLS, seed, records: isSoak ? 300 : 100 });
  if (isSoak) console.info(`seed ${seed}: ${kills} kills, ${begun} of them after it began to write`);
  expect({ seed, begun: begun > 0, findings }).toEqual({ seed, begun: true, findings: [] });
}

function newFolder({ onTestFinished }: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'kill-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

test(
  'a sync to SQLite that is killed at random moments leaves no gap, no row twice, and no checkpoint ahead of its rows',
  CONCURRENT,
  async (context) => {
    const to = join(newFolder(context), 'books.sqlite');
    const read = (): Held => {
      if (!existsSync(to)) return { rows: [], checkpoints: [] };
      const database = new DatabaseSync(to);
      const all = (sql: string) => database.prepare(sql).all() as never[];
      const exists = all("SELECT 1 FROM sqlite_master WHERE name = 'accounting_checkpoint'").length > 0;
      const rows = exists ? all('SELECT collection, id, body FROM accounting_record') : [];
      const checkpoints = exists ? all('SELECT key, value FROM accounting_checkpoint') : [];
      database.close();
      return { rows, checkpoints };
    };
    await expectIntact((run) => killSyncs({ to, read }, run));
  },
);

test(
  'a push that is killed at random moments and started again at once creates each product once',
  CONCURRENT,
  async () => {
    await expectIntact(killPushes);
  },
);

test(
  'of two processes that push at the same moment with one folder, one creates each product once',
  CONCURRENT,
  async (context) => {
    await using sandbox = createSandbox();
    await sandbox.listen();
    // The first list lasts until the other process has begun too.
    sandbox.faults.add({ kind: 'delay', ms: 500 }, { method: 'GET', times: 1 });
    const own = { folder: newFolder(context), rows: 40, visibleAfterMs: 0, waitsForInput: true };
    const task = { baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full, ...own };
    const pushers = [await start(task, 'pipe'), await start(task, 'pipe')];
    await Promise.all(pushers.map(({ stdout }) => once(stdout as NonNullable<typeof stdout>, 'data')));
    const ends = pushers.map((pusher) => once(pusher, 'close'));
    for (const { stdin } of pushers) stdin?.end('\n');
    const codes = (await Promise.all(ends)).map(([code]) => code);
    expect(codes.toSorted()).toEqual([0, 2]);
    expect(sandbox.count(({ method }) => method === 'POST')).toBe(40);
    expect(sandbox.store.products.count).toBe(40);
  },
);

test.skipIf(process.platform === 'win32').each([
  ['a lock that expires while the first one pushes', { lock: 600, secondAfterMs: 250, stops: false }, [0, 2]],
  ['no lock, while the first one is stopped', { lock: 'none', secondAfterMs: 0, stops: true }, [2, 0]],
  [
    'a lock that expires while the first one is stopped',
    { lock: 600, secondAfterMs: 250, stops: true },
    [2, 0],
  ],
] as const)(
  'of two processes with %s, each product is created once',
  CONCURRENT,
  async (_, play, expected) => {
    for (let trial = 0; trial < TRIALS; trial++) {
      const { codes, posts, products } = await pushTwice(play);
      expect({ trial, codes, posts, products }).toEqual({
        trial,
        codes: expected,
        posts: 120,
        products: 120,
      });
    }
  },
);
