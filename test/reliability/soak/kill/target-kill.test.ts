import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSqlite } from './read-sqlite.ts';
import { killTarget } from './target-kills.ts';

test('a sync into SQLite that is killed at random moments leaves no gap, no stale record and no deleted one', {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'target-kill-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const to = join(folder, 'books.sqlite');
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const verdict = await killTarget({ to, read: readSqlite(to) }, { kills: 3, seed, records: 300 });
  expect({ seed, ...verdict, begun: verdict.begun > 0 }).toEqual({
    seed,
    kills: 3,
    begun: true,
    lost: [],
    differences: [],
  });
});
