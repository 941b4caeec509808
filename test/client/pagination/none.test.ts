import { type ClientOptions, createClient, type Paginator, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { listing, readAccounts, setUpSync, withAccounts } from '../sync/set-up.ts';
import { accountsOf, all, byId, everything, range, rowsOf, serviceOf } from './service.ts';

const none = { pagination: 'none' } as const;
const uuids = { ids: { form: 'uuid' }, paginated: false, records: { accounts: 95 } } as const;

test('a list without pagination is one request, complete, with nothing to resume', async () => {
  const sandbox = createSandbox(uuids);
  const { accounts } = createClient(sandbox.clientOptions);
  const pages = await all(accounts.list({}, none).pages());
  expect(pages).toMatchObject([
    { pagination: 'none', complete: 'certain', repeated: 0, restarted: false, resumeToken: undefined },
  ]);
  expect(pages[0]?.ids).toEqual(sandbox.store.accounts.ids());
  expect(sandbox.requests.map(({ query }) => query)).toEqual([{}]);
  expect(await accounts.list({}, none).first()).toEqual(sandbox.store.accounts.all()[0]);
});

test('a list without pagination delivers a record once that the response contains twice', async () => {
  const { pages } = serviceOf(() => rowsOf([1, 2, 1, 3]));
  const [page] = await all(pages({}, none));
  expect(page?.ids).toEqual(['1', '2', '3']);
  expect(page?.records.map(({ id }) => id)).toEqual(['1', '2', '3']);
});

test('a list without pagination sends the filters, and throws if bounds on id are ignored', async () => {
  const { accounts, queries } = serviceOf(() => rowsOf([1, 2, 3]));
  const list = accounts.list({ id: { gt: '1' }, updatedSince: '2026-01-01' }, none);
  expect(await caught(all(list))).toMatchObject({ code: 'filter_ignored' });
  expect(queries).toEqual(['id[gt]=1&updatedSince=2026-01-01']);
});

test.each([
  ['links', 'link'],
  ['a cursor', byId],
] as const)('a list by %s throws if bounds on id are ignored', async (_, pagination) => {
  const { accounts } = serviceOf(() => rowsOf([1, 2, 3]));
  const list = accounts.list({ id: { lt: '3' } }, { pagination });
  expect(await caught(all(list))).toMatchObject({
    code: 'filter_ignored',
    message: expect.stringContaining('outside the requested bounds'),
  });
});

test('a list without pagination is rejected with page or resumeFrom', async () => {
  const { accounts } = accountsOf(range(1, 9), { pageSize: 3 });
  expect(() => accounts.list({ page: 2 }, none)).toThrow(expect.objectContaining({ argument: 'page' }));
  const [page] = await all(accounts.list().pages());
  expect(() => accounts.list({}, { ...none, resumeFrom: page?.resumeToken })).toThrow(
    expect.objectContaining({ argument: 'resumeFrom' }),
  );
});

test.each([{}, { pagination: 'page' }] as const)(
  'a list of a service without pagination throws FilterIgnoredError that names it: %j',
  async (options) => {
    const { accounts } = createClient(createSandbox(uuids).clientOptions);
    expect(await caught(accounts.list({}, options).toArray(everything))).toMatchObject({
      code: 'filter_ignored',
      message: expect.stringContaining("pagination: 'none'"),
    });
  },
);

test('pagination by collection holds for the lists and the syncs of those collections', async () => {
  const books = setUpSync({
    paginated: true,
    records: { accounts: 25, boms: 25, budgetLines: 25 },
    pageSize: 30,
  });
  const client = books.client.withOptions({ pagination: { budgetLines: 'none', boms: 'page' } });
  const report = await sync(client, {
    ...books.run,
    collections: ['accounts', 'boms', 'budgetLines'],
    onBatch: () => {},
  });
  expect(report.collections.map(({ collection, pagination }) => [collection, pagination])).toEqual([
    ['accounts', 'keyset'],
    ['boms', 'page'],
    ['budgetLines', 'none'],
  ]);
  const kindOf = async (list: Paginator<unknown>) => (await list.pages().next()).value?.pagination;
  expect(await kindOf(client.collection('budget-lines').list())).toBe('none');
  // A list says otherwise for itself, and other defaults replace the whole table.
  expect(await kindOf(client.budgetLines.list({}, { pagination: 'page' }))).toBe('page');
  const other = client.withOptions({ pagination: { boms: 'none' } });
  expect(await kindOf(other.budgetLines.list())).toBe('keyset');
});

test('createClient rejects a pagination by a collection that does not exist', () => {
  const pagination = { budgetLine: 'none' };
  const options = { ...createSandbox().clientOptions, pagination } as unknown as ClientOptions;
  expect(() => createClient(options)).toThrow(/^pagination.budgetLine: .*Did you mean budgetLines\?/);
});

test('a sync reads a service without pagination', async () => {
  const books = listing(setUpSync(uuids), none);
  const report = await readAccounts(books);
  expect(report).toMatchObject({ records: 95, pagination: 'none', complete: 'certain', status: 'done' });
  expect(await readAccounts(books)).toMatchObject({ mode: 'incremental', status: 'done' });
  const numeric = withAccounts(40, { paginated: false });
  expect(await readAccounts(numeric)).toMatchObject({ records: 40, pagination: 'keyset' });
});
