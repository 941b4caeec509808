import { createClient, type ListOptions } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { leaveAtBatch, listing, readAccounts, withAccounts } from '../sync/set-up.ts';
import { all, byId, everything } from './service.ts';

const parameters = { itemsPerPage: '50' } as const;

function service() {
  const sandbox = createSandbox({
    pageSizeParameter: 'itemsPerPage',
    pageSize: 10,
    records: { accounts: 120 },
  });
  const sent = () => new Set(sandbox.requests.map(({ query }) => query.itemsPerPage));
  const client = createClient(sandbox.clientOptions);
  return { sandbox, client, accounts: client.accounts, sent };
}

test.each<ListOptions>([{}, { pagination: 'page' }, { pagination: byId }, { pagination: 'none' }])(
  'a list sends parameters of the service with each request: %j',
  async (options) => {
    const { sandbox, accounts, sent } = service();
    const pages = await all(accounts.list({}, { ...options, parameters }).pages());
    if (options.pagination !== 'none') expect(pages.flatMap(({ ids }) => ids)).toHaveLength(120);
    expect(sent()).toEqual(new Set(['50']));
    expect(sandbox.count()).toBeLessThan(10);
  },
);

test('a list encodes parameters, and those of a cursor win', async () => {
  const { sandbox, accounts } = service();
  const odd = { 'sort[by]': 'a&b=c', itemsPerPage: '7' };
  const pagination = { first: { parameters }, next: () => undefined };
  const [page] = await all(accounts.list({}, { pagination, parameters: odd }).pages());
  expect(page?.ids).toHaveLength(50);
  expect(sandbox.requests.map(({ query }) => query)).toEqual([{ 'sort[by]': 'a&b=c', itemsPerPage: '50' }]);
});

test.each([[{ page: '2' }, 'page'], [{ 'id[gt]': '1' }], [{ itemsPerPage: 100 }], ['itemsPerPage=100']])(
  'a list and a client reject the parameters %j, and send nothing',
  (wrong, pageParameter?: string) => {
    const { sandbox, client, accounts } = service();
    const options = { parameters: wrong as unknown as Record<string, string>, pageParameter };
    const rejected = expect.objectContaining({ code: 'invalid_input' });
    expect(() => accounts.list({}, options)).toThrow(rejected);
    expect(() => client.withOptions(options)).toThrow(rejected);
    expect(() => createClient({ ...sandbox.clientOptions, ...options })).toThrow(rejected);
    expect(sandbox.count()).toBe(0);
  },
);

test('a resume token belongs to the parameters of its list', async () => {
  const { accounts } = service();
  const [page] = await all(accounts.list({}, { parameters }).pages());
  const resumeFrom = page?.resumeToken;
  const rest = accounts.list({}, { parameters, resumeFrom });
  expect(await rest.toArray(everything)).toHaveLength(120 - (page?.ids.length ?? 0));
  for (const other of [undefined, { itemsPerPage: '20' }]) {
    expect(() => accounts.list({}, { parameters: other, resumeFrom })).toThrow(
      expect.objectContaining({ code: 'checkpoint' }),
    );
  }
});

describe('the state of a sync', () => {
  const books = () => withAccounts(45, { pageSizeParameter: 'itemsPerPage' });

  test('belongs to the parameters of its lists', async () => {
    const set = books();
    expect(await readAccounts(listing(set, { parameters }))).toMatchObject({ mode: 'full', records: 45 });
    expect(await readAccounts(listing(set, { parameters }))).toMatchObject({ mode: 'incremental' });
    for (const other of [undefined, {}, { itemsPerPage: '20' }]) {
      expect(await caught(readAccounts(listing(set, { parameters: other })))).toMatchObject({
        code: 'checkpoint',
        message: expect.stringContaining("mode: 'full'"),
      });
    }
    // Which replaces it, even while a run by the others is interrupted.
    await leaveAtBatch(2, listing(set, { parameters: { itemsPerPage: '5' } }), { mode: 'full' });
    const full = await readAccounts(listing(set, { parameters }), { mode: 'full' });
    expect(full).toMatchObject({ resumed: false, records: 45 });
  });
});
