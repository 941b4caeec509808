import { createClient, isAccountingError, reconcile, sync } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { addAccounts, setUpSync } from './set-up.ts';

/** A slow sink that rejects one record. */
function sink() {
  const saved: string[] = [];
  const save = async ({ id }: { id: string }) => {
    await new Promise((resolve) => setTimeout(resolve));
    if (id === '2') throw new Error('the sink is full');
    saved.push(id);
  };
  return { saved, save };
}

describe('a consumer that writes to another service with this package', () => {
  test('fails only the collection that the other service rejects', async () => {
    const books = setUpSync({ records: { accounts: 25, budgets: 5, accountAddresses: 5 } });
    const { keys, clientOptions } = setUpSync().sandbox;
    const target = (apiKey: string) => createClient({ ...clientOptions, apiKey }).products;
    const run = sync(books.client, {
      ...books.run,
      collections: ['accounts', 'budgets', 'accountAddresses'],
      concurrency: 1,
      onBatch: async ({ collection }) => {
        if (collection === 'accounts') await target(keys.revoked).create({ name: 'copied' });
        if (collection === 'budgets') await target(keys.readOnly).create({ name: 'copied' });
      },
    });
    const error = await caught(run);
    if (!isAccountingError(error, 'sync_failed')) throw error;
    const codes = Object.fromEntries(error.errors.map((each) => [each.collection, each.error]));
    expect(codes).toMatchObject({
      accounts: { code: 'unauthenticated' },
      budgets: { code: 'scope_required' },
    });
    expect(error.report.collections.map(({ status }) => status)).toEqual(['failed', 'failed', 'done']);
  });
});

describe('a consumer that returns an array of promises', () => {
  test('is waited for by a sync, which commits nothing if one of them fails', async () => {
    const books = setUpSync();
    addAccounts(books, 3);
    const { saved, save } = sink();
    const run = sync(books.client, {
      ...books.run,
      collections: ['accounts'],
      pagination: 'page',
      onBatch: ({ records }) => records.map(save),
    });
    await expect(run).rejects.toMatchObject({ errors: [{ error: { message: 'the sink is full' } }] });
    expect(saved).toEqual(['1', '3']);
    expect(books.states.size).toBe(0);
  });

  test.each(['onDelete', 'onRepair'])('is waited for by a reconcile: %s', async (callback) => {
    const books = setUpSync();
    addAccounts(books, 12);
    const { accounts } = books.sandbox.store;
    const { saved, save } = sink();
    const localIds = accounts.ids();
    const some = ['2', '3'];
    if (callback === 'onDelete') for (const id of some) accounts.delete(id);
    // A list that omits some records which exist.
    const { client } = books;
    const find = client.accounts.find.bind(client.accounts);
    const source =
      callback === 'onDelete'
        ? client.accounts
        : { list: () => client.accounts.list({ id: { gt: '3' } }), find };
    const run = reconcile(source, {
      name: 'accounts',
      localIds: () => localIds,
      onDelete: (ids) => ids.map((id) => save({ id })),
      onRepair: (records) => records.map(save),
    });
    await expect(run).rejects.toThrow('the sink is full');
    expect(saved).toContain('3');
    expect(saved).not.toContain('2');
  });
});

test('a consumer that empties the array of records does not change the counts of the report', async () => {
  const books = setUpSync();
  addAccounts(books, 25);
  const report = await sync(books.client, {
    ...books.run,
    collections: ['accounts'],
    onBatch: ({ records }) => (records as unknown[]).splice(0),
  });
  expect(report.collections[0]).toMatchObject({ records: 25, pages: 3 });
});
