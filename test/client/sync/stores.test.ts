import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changes, memoryStore, type Store, sync } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import Keyv from 'keyv';
import { createStorage } from 'unstorage';
import fsDriver from 'unstorage/drivers/fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addAccounts, collect, setUpSync } from './set-up.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stores-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

const STORES: Readonly<Record<string, () => Store>> = {
  'a Map': () => new Map<string, string>(),
  memoryStore: () => memoryStore(),
  fileStore: () => fileStore(join(folder, 'own')),
  Keyv: () => new Keyv(),
  'unstorage in memory': () => createStorage(),
  'unstorage in files': () => createStorage({ driver: fsDriver({ base: join(folder, 'unstorage') }) }),
};

describe.each(Object.entries(STORES))('%s as a store', (_, open) => {
  test('keeps a run that is interrupted, ended and followed by another', async () => {
    const store = open();
    const books = setUpSync();
    addAccounts(books, 40);
    const options = { store, tenant: 'acme' };
    let batches = 0;
    for await (const _batch of changes(books.client.accounts, options)) if (++batches === 3) break;

    const rest = await collect(changes(books.client.accounts, options));
    expect(rest).toMatchObject({ resumed: true, status: 'done' });
    expect(rest.records).toBeLessThan(40);

    const report = await sync(books.client, {
      ...options,
      collections: ['accounts'],
      onBatch: () => undefined,
    });
    expect(report.collections).toMatchObject([{ mode: 'incremental', records: 0, status: 'done' }]);
  });
});
