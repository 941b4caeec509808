import { type Batch, createClient, isAccountingError, type SyncError, sync } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import { type SyncSetUp, setUpSync } from './set-up.ts';

type Name = 'accounts' | 'budgets';

/** A copy of two collections, and full syncs of it that look for deletions. */
function copyOf({ client, run }: SyncSetUp) {
  const copy: Record<Name, Set<string>> = { accounts: new Set(), budgets: new Set() };
  const deleted: string[] = [];
  let isBusy = false;
  const exclusively = async (work: () => void) => {
    expect(isBusy).toBe(false);
    isBusy = true;
    await Promise.resolve();
    work();
    isBusy = false;
  };
  const options = {
    ...run,
    mode: 'full' as const,
    collections: ['accounts', 'budgets'] as const,
    onBatch: ({ collection, records }: { collection: Name; records: readonly { id: string }[] }) =>
      exclusively(() => {
        for (const { id } of records) copy[collection].add(id);
      }),
    localIds: (collection: Name) => copy[collection],
    onDelete: (ids: readonly string[], collection: Name) =>
      exclusively(() => {
        for (const id of ids) {
          copy[collection].delete(id);
          deleted.push(`${collection}/${id}`);
        }
      }),
  };
  return { copy, deleted, options, fullSync: (more = {}) => sync(client, { ...options, ...more }) };
}

test('a full sync with localIds deletes what the service no longer has, in the same read', async () => {
  const books = setUpSync({ records: { accounts: 60, budgets: 30 } });
  const { store } = books.sandbox;
  const { copy, deleted, fullSync } = copyOf(books);
  const first = await fullSync();
  expect(first.collections[0]?.deletions).toMatchObject({ local: 0, candidates: 0, deleted: 0 });

  const gone = { accounts: store.accounts.ids().slice(7, 10), budgets: store.budgets.ids().slice(0, 1) };
  for (const id of gone.accounts) store.accounts.delete(id);
  for (const id of gone.budgets) store.budgets.delete(id);
  books.sandbox.clearLogs();
  const report = await fullSync();
  const expected = [
    ...gone.accounts.map((id) => `accounts/${id}`),
    ...gone.budgets.map((id) => `budgets/${id}`),
  ];
  expect(deleted.toSorted()).toEqual(expected.toSorted());
  expect([...copy.accounts].toSorted()).toEqual(store.accounts.ids().toSorted());
  expect(report.collections.map(({ deletions }) => deletions)).toEqual([
    { skipped: undefined, local: 60, candidates: 3, deleted: 3, repaired: 0 },
    { skipped: undefined, local: 30, candidates: 1, deleted: 1, repaired: 0 },
  ]);
  // Each candidate, and the first record of each list before and after them.
  expect(books.sandbox.count(({ path }) => /\/(accounts|budgets)\/./.test(path))).toBe(8);
});

test('a record that the read missed is delivered instead of deleted', async () => {
  const books = setUpSync({ records: { accounts: 25 } });
  const { copy, deleted, fullSync } = copyOf(books);
  await fullSync();
  books.sandbox.faults.add(
    { kind: 'rewrite', body: (body) => JSON.stringify(JSON.parse(body).slice(1)) },
    { collection: 'accounts', times: 1, skip: 1 },
  );
  const before = copy.accounts.size;
  const batches: (readonly { id: string }[])[] = [];
  const report = await fullSync({
    pagination: 'page',
    onBatch: ({ collection, records }: { collection: Name; records: readonly { id: string }[] }) => {
      if (collection === 'accounts') batches.push(records);
    },
  });
  expect(deleted).toEqual([]);
  expect(copy.accounts.size).toBe(before);
  expect(batches.map((records) => records.length)).toEqual([10, 9, 5, 1, 0]);
  expect(report.collections[0]).toMatchObject({
    status: 'done',
    records: 25,
    deletions: { candidates: 1, deleted: 0, repaired: 1 },
  });
});

test.each(['keyset', 'page'] as const)(
  'a run that resumes an interrupted one deletes nothing and says so, unless it reads everything again: %s',
  async (pagination) => {
    const books = setUpSync({ records: { accounts: 60 } });
    const { store } = books.sandbox;
    const { deleted, fullSync } = copyOf(books);
    await fullSync({ pagination });
    const [gone = ''] = store.accounts.ids();
    store.accounts.delete(gone);
    let batches = 0;
    const interrupted = fullSync({
      pagination,
      onBatch: () => {
        if (++batches > 2) throw new Error('killed');
      },
    });
    await caught(interrupted);
    const resumed = await fullSync({ pagination });
    const [accounts] = resumed.collections;
    if (pagination === 'page') {
      expect(deleted).toEqual([`accounts/${gone}`]);
    } else {
      expect(accounts).toMatchObject({ status: 'done', resumed: true, deletions: { skipped: 'resumed' } });
      expect(deleted).toEqual([]);
      await fullSync({ pagination });
      expect(deleted).toEqual([`accounts/${gone}`]);
    }
  },
);

test('a mistake fails the collection after its records were delivered, and nothing is deleted', async () => {
  const books = setUpSync({ records: { accounts: 25, budgets: 5 } });
  const { copy, deleted, fullSync } = copyOf(books);
  const foreign = (collection: Name) =>
    collection === 'accounts' ? Array.from({ length: 60 }, (_, n) => `${n + 5000}`) : [];
  const error = (await caught(fullSync({ localIds: foreign }))) as SyncError;
  if (!isAccountingError(error, 'sync_failed')) throw error;
  expect(error.errors).toMatchObject([
    { collection: 'accounts', error: { code: 'reconcile_aborted', reason: 'few_local_ids_seen' } },
  ]);
  expect([copy.accounts.size, copy.budgets.size, deleted]).toEqual([25, 5, []]);
  expect(error.report.collections.map(({ status }) => status)).toEqual(['failed', 'done']);
});

test('the local ids are read before the first request of their collection', async () => {
  const books = setUpSync({ records: { accounts: 25, budgets: 25 } });
  const { options } = copyOf(books);
  const requested = (name: Name) => books.sandbox.count(({ path }) => path.endsWith(`/${name}`));
  const counts: number[] = [];
  await sync(books.client, {
    ...options,
    localIds: async function* (collection) {
      for (let n = 0; n < 3; n++) {
        counts.push(requested(collection));
        yield `${n + 1}`;
      }
    },
  });
  expect(counts).toEqual([0, 0, 0, 0, 0, 0]);
});

test.each([
  ['localIds', { mode: 'incremental' }],
  ['localIds', { mode: undefined }],
  ['localIds', { localIds: undefined }],
  ['onDelete', { onDelete: undefined }],
  ['maxCandidates', { maxCandidates: -1 }],
])('a sync rejects an invalid %s before anything is sent: %j', async (argument, wrong) => {
  const books = setUpSync();
  const error = await caught(copyOf(books).fullSync(wrong));
  expect(error).toMatchObject({ code: 'invalid_input', argument });
  expect(books.sandbox.count()).toBe(0);
});

test('a sync that looks for deletions needs collections with find', async () => {
  const books = setUpSync();
  const { options } = copyOf(books);
  const { accounts, budgets } = books.client;
  const client = {
    accounts: { segment: 'accounts', list: accounts.list.bind(accounts) },
    budgets: { segment: 'budgets', list: budgets.list.bind(budgets) },
  };
  expect(await caught(sync(client, options))).toMatchObject({ code: 'invalid_input', argument: 'localIds' });
});

test('a record that the read missed comes with its row as the service sent it', async () => {
  const books = setUpSync({ records: { accounts: 25 } });
  const client = createClient({
    ...books.sandbox.clientOptions,
    schemas: { accounts: z.object({ id: z.string() }) },
  });
  const ids = books.sandbox.store.accounts.ids();
  books.sandbox.faults.add(
    { kind: 'rewrite', body: (body) => JSON.stringify(JSON.parse(body).slice(1)) },
    { collection: 'accounts', times: 1, skip: 1 },
  );
  const batches: Batch<{ id: string }>[] = [];
  await sync(client, {
    ...books.run,
    mode: 'full',
    pagination: 'page',
    collections: ['accounts'],
    onBatch: (batch) => batches.push(batch),
    localIds: () => ids,
    onDelete: () => undefined,
  });
  const repaired = batches.find(({ records }) => records.length === 1);
  const [id = ''] = repaired?.records.map((record) => record.id) ?? [];
  expect(repaired?.rows).toEqual([books.sandbox.store.accounts.get(id)]);
});
