import { collectionNames, SyncError } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import {
  clientOf,
  failureOf,
  listing,
  type SyncSetUp,
  setUpSync,
  statuses,
  syncAll,
  withAccounts,
} from './set-up.ts';

/** The segments in the order of the requests. */
const segments = ({ sandbox }: SyncSetUp) =>
  sandbox.requests.map(({ path }) => path.replace('/api/public/v1/', ''));

describe('sync', () => {
  test('brings a copy of every collection up to date, and reports each', async () => {
    const books = setUpSync({ records: 300 });
    const copy = new Map<string, string[]>();
    const report = await syncAll(books, {
      onBatch: ({ collection, records }) =>
        copy.set(collection, [...(copy.get(collection) ?? []), ...records.map(({ id }) => id)]),
    });
    expect(report).toMatchObject({ tenant: 'acme', records: 300, paused: false });
    expect(report.collections).toHaveLength(collectionNames.length);
    for (const { collection, status, records } of report.collections) {
      expect(status).toBe('done');
      const ids = books.sandbox.store[collection as 'accounts'].ids();
      expect(copy.get(collection)?.toSorted()).toEqual(ids.toSorted());
      expect(records).toBe(ids.length);
    }
    expect(books.states.size).toBe(collectionNames.length);
  });

  test('reads parents before children, in whatever order they are given, and even if the one between is not read', async () => {
    const books = setUpSync({ records: 28 });
    await syncAll(books, { collections: ['bomLines', 'products'] });
    const grandparents = segments(books);
    expect(grandparents.indexOf('bom-lines')).toBeGreaterThan(grandparents.lastIndexOf('products'));

    books.sandbox.clearLogs();
    await syncAll(books, { mode: 'full', collections: [...collectionNames].reverse() });
    const requests = segments(books);
    for (const [parent, child] of [
      ['accounts', 'account-addresses'],
      ['accounts', 'account-settings'],
      ['bank-feed-connections', 'bank-feed-accounts'],
      ['products', 'boms'],
      ['boms', 'bom-lines'],
      ['budgets', 'budget-lines'],
    ] as const) {
      expect(requests.indexOf(child), child).toBeGreaterThan(requests.lastIndexOf(parent));
    }
  });

  test('reads two collections of a level at the same time, and others when one is done', async () => {
    const names = ['accounts', 'products', 'budgets', 'bankFeedConnections', 'bankPayerMemories'] as const;
    const books = setUpSync({ records: Object.fromEntries(names.map((name) => [name, 60])) });
    let inFlight = 0;
    let most = 0;
    const client = clientOf(books.sandbox, {
      pagination: 'page',
      fetch: async (...request) => {
        most = Math.max(most, ++inFlight);
        const response = await books.sandbox.fetch(...request);
        await new Promise((resolve) => setTimeout(resolve));
        inFlight--;
        return response;
      },
    });
    await syncAll({ ...books, client }, { collections: names });
    expect(most).toBe(2);
  });
});

describe('a collection that fails', () => {
  test('ends alone: its children and all others are read', async () => {
    const books = setUpSync({ records: 28 });
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { collection: 'accounts', times: 9 });
    const error = await failureOf(syncAll(books));
    expect(error).toBeInstanceOf(SyncError);
    expect(error.errors).toMatchObject([{ collection: 'accounts', error: { code: 'malformed_request' } }]);
    expect(error.cause).toBe(error.errors[0]?.error);
    const failed = error.report.collections.filter(({ status }) => status !== 'done');
    expect(failed).toMatchObject([{ collection: 'accounts', status: 'failed', watermark: undefined }]);
  });

  test.each([
    [403, 'forbidden', ['forbidden', 'done']],
    [403, 'scope_required', ['forbidden', 'done']],
    [403, 'not_found', ['failed', 'done']],
    [401, 'unauthenticated', ['failed', 'stopped']],
  ] as const)('with %i %s at its second page leaves these statuses: %j', async (status, type, expected) => {
    const books = setUpSync({ records: { accounts: 30, accountAddresses: 5 } });
    books.sandbox.faults.add({ kind: 'status', status, type }, { collection: 'accounts', skip: 1, times: 9 });
    const collections = ['accounts', 'accountAddresses'] as const;
    const { report } = await failureOf(syncAll(listing(books, { pagination: 'page' }), { collections }));
    expect(statuses(report)).toEqual(expected);
    expect(report.collections[0]?.records).toBe(10);
  });
});

describe('a sync whose `onBatch` throws', () => {
  test('fails for that collection alone, and the next sync delivers the batch that was not committed', async () => {
    const books = withAccounts(60);
    const taken = new Set<string>();
    let batches = 0;
    const onBatch = ({ collection, records }: { collection: string; records: readonly { id: string }[] }) => {
      if (collection !== 'accounts') return;
      if (++batches === 3) throw new Error('the sink is full');
      for (const { id } of records) taken.add(id);
    };
    const { errors, report } = await failureOf(syncAll(books, { onBatch }));
    expect(errors).toMatchObject([{ collection: 'accounts', error: { message: 'the sink is full' } }]);
    expect(statuses(report).filter((status) => status === 'done')).toHaveLength(collectionNames.length - 1);
    const { collections } = await syncAll(books, { onBatch });
    expect(taken.size).toBe(60);
    expect(collections).toContainEqual(expect.objectContaining({ collection: 'accounts', resumed: true }));
  });

  test('stops no other collection because of a 401 or 403 of another service', async () => {
    const books = setUpSync({ records: { accounts: 25, budgets: 5, accountAddresses: 5 } });
    const { sandbox: other } = setUpSync();
    const target = (key: 'revoked' | 'readOnly') => clientOf(other, { apiKey: other.keys[key] }).products;
    const run = syncAll(books, {
      collections: ['accounts', 'budgets', 'accountAddresses'],
      concurrency: 1,
      onBatch: async ({ collection }) => {
        if (collection === 'accounts') await target('revoked').create({ name: 'copied' });
        if (collection === 'budgets') await target('readOnly').create({ name: 'copied' });
      },
    });
    const { errors, report } = await failureOf(run);
    const codes = errors.map(({ error }) => (error as { code?: unknown }).code);
    expect(new Set(codes)).toEqual(new Set(['scope_required', 'unauthenticated']));
    expect(statuses(report)).toEqual(['failed', 'failed', 'done']);
  });

  test('commits nothing if it returns an array of promises of which one rejects', async () => {
    const books = withAccounts(3);
    const saved: string[] = [];
    const save = async ({ id }: { id: string }) => {
      await new Promise((resolve) => setTimeout(resolve));
      if (id === '2') throw new Error('the sink is full');
      saved.push(id);
    };
    const onBatch = ({ records }: { records: readonly { id: string }[] }) => records.map(save);
    const run = syncAll(listing(books, { pagination: 'page' }), { collections: ['accounts'], onBatch });
    expect((await failureOf(run)).errors).toMatchObject([{ error: { message: 'the sink is full' } }]);
    expect(saved).toEqual(['1', '3']);
    expect(books.states.size).toBe(0);
  });
});
