import type { Batch } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { caught } from '../../support/caught.ts';
import {
  clientOf,
  failureOf,
  listing,
  type SyncSetUp,
  setUpSync,
  stateIn,
  statuses,
  syncAll,
  withoutFirst,
} from './set-up.ts';

// When nothing is deleted, and how candidates are confirmed, is stated in candidates.test.ts.

type Name = 'accounts' | 'budgets';

/** A copy of two collections, and full syncs of it that look for deletions. */
function copyOf(books: SyncSetUp) {
  const copy: Record<Name, Set<string>> = { accounts: new Set(), budgets: new Set() };
  const deleted: string[] = [];
  let isBusy = false;
  const exclusively = async (work: () => void) => {
    expect(isBusy).toBe(false);
    isBusy = true;
    await new Promise((resolve) => setTimeout(resolve));
    work();
    isBusy = false;
  };
  const options = {
    mode: 'full' as const,
    collections: ['accounts', 'budgets'] as const,
    onBatch: ({ collection, records }: Batch<{ id: string }>) =>
      exclusively(() => {
        for (const { id } of records) copy[collection as Name].add(id);
      }),
    localIds: (collection: string) => {
      // They are read before the first request.
      expect(books.sandbox.count(({ path }) => path.endsWith(`/${collection}`))).toBe(0);
      return copy[collection as Name];
    },
    onDelete: (ids: readonly string[], collection: string) =>
      exclusively(() => {
        for (const id of ids) {
          copy[collection as Name].delete(id);
          deleted.push(`${collection}/${id}`);
        }
      }),
  };
  const fullSync = (more = {}) => {
    books.sandbox.clearLogs();
    return syncAll(books, { ...options, ...more });
  };
  return { copy, deleted, fullSync };
}

test('a full sync with localIds deletes what the service no longer has, in the same read', async () => {
  const books = setUpSync({ records: { accounts: 60, budgets: 30 } });
  const { store } = books.sandbox;
  const { copy, deleted, fullSync } = copyOf(books);
  const first = await fullSync();
  expect(first.collections[0]?.deletions).toMatchObject({ local: 0, candidates: 0, deleted: 0 });

  const gone = [
    ...store.accounts
      .ids()
      .slice(7, 10)
      .map((id) => `accounts/${id}`),
    `budgets/${store.budgets.ids()[0]}`,
  ];
  for (const [name = '', id = ''] of gone.map((path) => path.split('/'))) store[name as Name].delete(id);
  const report = await fullSync();
  expect(deleted.toSorted()).toEqual(gone.toSorted());
  expect([...copy.accounts].toSorted()).toEqual(store.accounts.ids().toSorted());
  expect(report.collections.map(({ deletions }) => deletions)).toEqual([
    { skipped: undefined, local: 60, candidates: 3, deleted: 3, repaired: 0, unconfirmed: [] },
    { skipped: undefined, local: 30, candidates: 1, deleted: 1, repaired: 0, unconfirmed: [] },
  ]);
  // Each candidate, and the first record of each list before and after them.
  expect(books.sandbox.count(({ path }) => /\/(accounts|budgets)\/./.test(path))).toBe(8);
});

test('a full sync delivers a record that its read missed instead of deleting it, with its row as the service sent it', async () => {
  const books = setUpSync({ records: { accounts: 25 } });
  const { deleted, fullSync } = copyOf({
    ...books,
    client: clientOf(books.sandbox, {
      schemas: { accounts: z.object({ id: z.string() }) },
      pagination: 'page',
    }) as never,
  });
  await fullSync();
  books.sandbox.faults.add(withoutFirst, { collection: 'accounts', times: 1, skip: 1 });
  const batches: Batch<{ id: string }>[] = [];
  const report = await fullSync({
    onBatch: (batch: Batch<{ id: string }>) => batch.collection === 'accounts' && batches.push(batch),
  });
  expect(deleted).toEqual([]);
  expect(batches.map(({ records }) => records.length)).toEqual([10, 9, 5, 1, 0]);
  const repaired = batches.at(-2);
  expect(repaired?.rows).toEqual([books.sandbox.store.accounts.get(repaired?.records[0]?.id ?? '')]);
  expect(report.collections[0]).toMatchObject({
    status: 'done',
    records: 25,
    deletions: { candidates: 1, deleted: 0, repaired: 1 },
  });
});

test.each(['keyset', 'page'] as const)(
  'a full sync that resumes an interrupted one deletes nothing and says so, unless it reads everything again: %s',
  async (pagination) => {
    const books = listing(setUpSync({ records: { accounts: 60 } }), { pagination });
    const { deleted, fullSync } = copyOf(books);
    await fullSync();
    const [gone = ''] = books.sandbox.store.accounts.ids();
    books.sandbox.store.accounts.delete(gone);
    let batches = 0;
    const onBatch = () => {
      if (++batches > 2) throw new Error('killed');
    };
    await caught(fullSync({ onBatch }));
    const [accounts] = (await fullSync()).collections;
    if (pagination === 'keyset') {
      expect(accounts).toMatchObject({ status: 'done', resumed: true, deletions: { skipped: 'resumed' } });
      expect(deleted).toEqual([]);
      await fullSync();
    }
    expect(deleted).toEqual([`accounts/${gone}`]);
  },
);

test('a full sync with localIds of another company fails with DeletionsAbortedError after it delivered the records, and deletes nothing', async () => {
  const books = setUpSync({ records: { accounts: 25, budgets: 5 } });
  const { copy, deleted, fullSync } = copyOf(books);
  const foreign = Array.from({ length: 60 }, (_, n) => `${n + 5000}`);
  const localIds = (collection: Name) => (collection === 'accounts' ? foreign : []);
  const { errors, report } = await failureOf(fullSync({ localIds }));
  expect(errors).toMatchObject([
    { collection: 'accounts', error: { code: 'deletions_aborted', reason: 'few_local_ids_seen' } },
  ]);
  expect([copy.accounts.size, copy.budgets.size, deleted]).toEqual([25, 5, []]);
  expect(statuses(report)).toEqual(['failed', 'done']);
});

test('a full sync that aborted because of too many candidates starts again, and deletes them if it may', async () => {
  const books = setUpSync({ records: { accounts: 160, budgets: 1 }, pageSize: 100 });
  const { copy, deleted, fullSync } = copyOf(books);
  await fullSync();
  const gone = books.sandbox.store.accounts.ids().slice(20, 80);
  for (const id of gone) books.sandbox.store.accounts.delete(id);
  const aborted = await failureOf(fullSync());
  expect(aborted.message).toContain(
    'The deletions of accounts were aborted after 100 records were delivered: 60 of 160 local records',
  );
  expect(deleted).toEqual([]);
  expect(stateIn(books.states)).not.toHaveProperty('run');

  const { collections } = await fullSync({ maxCandidates: 60 });
  expect(collections[0]).toMatchObject({ resumed: false, records: 100, deletions: { deleted: 60 } });
  expect(copy.accounts.size).toBe(100);
});

test.each([
  ['the key is rejected at a candidate', true],
  ['onDelete throws', false],
])('a full sync starts again, and finds the deletions, if in the one before %s', async (_, isFault) => {
  const books = setUpSync({ records: { accounts: 25, budgets: 1 } });
  const { deleted, fullSync } = copyOf(books);
  await fullSync();
  const [gone = ''] = books.sandbox.store.accounts.ids();
  books.sandbox.store.accounts.delete(gone);
  if (isFault)
    books.sandbox.faults.add(
      { kind: 'status', status: 401 },
      { path: new RegExp(`/accounts/${gone}$`), times: 1 },
    );
  const onDelete = isFault ? {} : { onDelete: () => Promise.reject(new Error('disk full')) };
  const { report } = await failureOf(fullSync(onDelete));
  expect(report.collections[0]).toMatchObject({ records: 24, deletions: undefined });
  const { collections } = await fullSync();
  expect(collections[0]).toMatchObject({ resumed: false, deletions: { skipped: undefined, deleted: 1 } });
  expect(deleted).toEqual([`accounts/${gone}`]);
});
