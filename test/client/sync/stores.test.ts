import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, type Store } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import Keyv from 'keyv';
import { createStorage } from 'unstorage';
import fsDriver from 'unstorage/drivers/fs';
import { expect, onTestFinished, test } from 'vitest';
import { leaveAtBatch, readAccounts, withAccounts } from './set-up.ts';

test.each<[string, (folder: string) => Store]>([
  ['a Map', () => new Map<string, string>()],
  ['memoryStore', () => memoryStore()],
  ['fileStore', (folder) => fileStore(folder)],
  ['Keyv', () => new Keyv()],
  ['unstorage in memory', () => createStorage()],
  ['unstorage in files', (folder) => createStorage({ driver: fsDriver({ base: folder }) })],
])('%s keeps a run that is interrupted, ended and followed by another', async (_, open) => {
  const folder = await mkdtemp(join(tmpdir(), 'stores-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const store = open(folder);
  const books = withAccounts(40);
  await leaveAtBatch(3, books, { store });
  const rest = await readAccounts(books, { store });
  expect(rest).toMatchObject({ resumed: true, status: 'done' });
  expect(rest.records).toBeLessThan(40);
  expect(await readAccounts(books, { store })).toMatchObject({ mode: 'incremental', records: 0 });
});
