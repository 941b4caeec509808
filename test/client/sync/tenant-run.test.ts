import { createClient, isAccountingError, type SyncError, sync } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listenersOn } from '../../support/open-resources.ts';
import { settle } from '../../support/scripted-server.ts';
import { addAccounts, START, setUpSync } from './set-up.ts';

const nothing = () => undefined;

async function failed(run: Promise<unknown>): Promise<SyncError> {
  const error = await caught(run);
  if (!isAccountingError(error, 'sync_failed')) throw new Error('expected a SyncError', { cause: error });
  return error;
}

describe('the error of a sync', () => {
  test.each([
    ['forbidden', 'forbidden'],
    ['scope_required', 'forbidden'],
    ['not_found', 'failed'],
  ])('of a collection that returns %s says that it is %s', async (type, status) => {
    const books = setUpSync();
    books.sandbox.faults.add({ kind: 'status', status: 403, type }, { collection: 'accounts', times: 9 });
    const run = sync(books.client, { ...books.run, collections: ['accounts'], onBatch: nothing });
    const { report } = await failed(run);
    expect(report.collections[0]?.status).toBe(status);
  });
});

describe('a collection that is rejected after its first page', () => {
  test.each([
    [403, 'forbidden', ['forbidden', 'done']],
    [401, 'unauthenticated', ['failed', 'stopped']],
  ] as const)('with %i is so by the service, not by its consumer', async (status, type, expected) => {
    const books = setUpSync({ records: { accounts: 30, accountAddresses: 5 } });
    books.sandbox.faults.add({ kind: 'status', status, type }, { collection: 'accounts', skip: 1, times: 9 });
    const run = sync(books.client, {
      ...books.run,
      pagination: 'page',
      collections: ['accounts', 'accountAddresses'],
      onBatch: nothing,
    });
    const { report } = await failed(run);
    expect(report.collections.map((each) => each.status)).toEqual(expected);
    expect(report.collections[0]?.records).toBe(10);
  });
});

describe('the report of a sync', () => {
  test('shows the watermark that a collection still has if it failed', async () => {
    const books = setUpSync({ records: { accounts: 5 } });
    const options = { ...books.run, collections: ['accounts'] as const, onBatch: nothing };
    await sync(books.client, options);
    books.sandbox.faults.add({ kind: 'status', status: 400 }, { times: 9 });
    const { report } = await failed(sync(books.client, options));
    expect(report.collections[0]).toMatchObject({
      status: 'failed',
      mode: 'incremental',
      watermark: new Date(START),
      lastFullRead: new Date(START),
    });
  });

  test('has its start and end, and the sum of the records', async () => {
    const books = setUpSync({ records: { accounts: 25, budgets: 5 } });
    const before = Date.now();
    const report = await sync(books.client, {
      ...books.run,
      collections: ['accounts', 'budgets'],
      onBatch: nothing,
    });
    const [startedAt, endedAt] = [report.startedAt.getTime(), report.endedAt.getTime()];
    expect(startedAt).toBeGreaterThanOrEqual(before);
    expect(endedAt).toBeGreaterThanOrEqual(startedAt);
    expect(endedAt).toBeLessThanOrEqual(Date.now());
    expect(report).toMatchObject({ tenant: 'acme', records: 30 });
  });
});

describe('the signal of a sync', () => {
  test('has no listeners left once the sync has ended', async () => {
    const books = setUpSync();
    const { signal } = new AbortController();
    await sync(books.client, { ...books.run, collections: ['accounts'], signal, onBatch: nothing });
    expect(listenersOn(signal)).toBe(0);
  });

  test('that fires when all has been committed changes nothing', async () => {
    const books = setUpSync();
    addAccounts(books, 5);
    const controller = new AbortController();
    const report = await sync(books.client, {
      ...books.run,
      collections: ['accounts'],
      signal: controller.signal,
      onBatch: nothing,
      onProgress: ({ last }) => last && controller.abort('too late'),
    });
    expect(report.collections[0]?.status).toBe('done');
  });

  test('that fires between two levels stops the sync, although the first is done', async () => {
    const books = setUpSync({ records: { accounts: 5, accountAddresses: 5 } });
    const controller = new AbortController();
    const run = sync(books.client, {
      ...books.run,
      collections: ['accounts', 'accountAddresses'],
      signal: controller.signal,
      onBatch: nothing,
      onProgress: ({ last }) => last && controller.abort('enough'),
    });
    expect(await caught(run)).toBe('enough');
    expect([...books.states.keys()]).toEqual(['accounting-data-sdk:acme:accounts']);
  });

  test('delivers no batch that was waiting', async () => {
    const books = setUpSync({ records: { accounts: 30, products: 30 } });
    const controller = new AbortController();
    const taken: string[] = [];
    const run = sync(books.client, {
      ...books.run,
      pagination: 'page',
      collections: ['accounts', 'products'],
      signal: controller.signal,
      onBatch: async ({ collection }) => {
        taken.push(collection);
        for (let turn = 0; turn < 5; turn++) await settle();
        controller.abort('enough');
      },
    });
    expect(await caught(run)).toBe('enough');
    expect(taken).toHaveLength(1);
    expect(books.sandbox.count(({ path }) => path.endsWith('/products'))).toBeGreaterThan(0);
  });

  test('aborts the requests in flight, and delivers nothing that arrived meanwhile', async () => {
    const books = setUpSync({ records: { accounts: 30, products: 30 } });
    const controller = new AbortController();
    const aborted: boolean[] = [];
    const client = createClient({
      ...books.sandbox.clientOptions,
      fetch: async (url, init) => {
        if (!String(url).includes('/products')) return await books.sandbox.fetch(url, init);
        return await new Promise((_, reject) => {
          init?.signal?.addEventListener('abort', () => {
            aborted.push(true);
            reject(init.signal?.reason);
          });
        });
      },
    });
    const taken: string[] = [];
    const run = sync(client, {
      ...books.run,
      collections: ['accounts', 'products'],
      signal: controller.signal,
      onBatch: async ({ collection }) => {
        taken.push(collection);
        await settle();
        controller.abort('enough');
      },
    });
    expect(await caught(run)).toBe('enough');
    expect(aborted).toEqual([true]);
    expect(taken).toEqual(['accounts']);
  });
});
