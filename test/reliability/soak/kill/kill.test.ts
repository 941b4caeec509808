import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { killOften, readSqlite } from './kill.ts';
import { killPushes } from './kill-pushes.ts';

test('a sync to SQLite that is killed at random moments leaves no gap, no row twice, and no checkpoint ahead of its rows', {
  timeout: 600_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kill-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const to = join(folder, 'books.sqlite');
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const options = { kills: 3, seed, records: 100 };
  const { begun, findings } = await killOften({ writer: 'target', to, read: readSqlite(to) }, options);
  expect({ seed, begun: begun > 0, findings }).toEqual({ seed, begun: true, findings: [] });
});

test('a push that is killed at random moments and started again at once creates each product once', {
  timeout: 600_000,
}, async () => {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
  const { begun, findings } = await killPushes({ kills: 3, seed });
  expect({ seed, begun: begun > 0, findings }).toEqual({ seed, begun: true, findings: [] });
});
