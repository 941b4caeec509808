import { createClient, type ListOptions } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { everything as all } from './service.ts';

/** A service that reads `page` and ignores `_page`, and its client. */
function service(options: SandboxOptions = {}) {
  const sandbox = createSandbox({
    pageParameter: 'page',
    pageSize: 10,
    records: { accounts: 45 },
    ...options,
  });
  const client = createClient({ ...sandbox.clientOptions, pageParameter: 'page' });
  const names = () => sandbox.requests.flatMap(({ query }) => Object.keys(query));
  return { sandbox, client, names };
}

test.each<[string, ListOptions, SandboxOptions]>([
  ['page', { pagination: 'page' }, {}],
  ['keyset, in another order', { pagination: 'keyset' }, { order: 'updated-desc' }],
])('a list is read with the option pageParameter: %s', async (_, how, options) => {
  const { sandbox, client, names } = service(options);
  const accounts = await client.accounts.list({}, how).toArray(all);
  expect(new Set(accounts.map(({ id }) => id))).toEqual(new Set(sandbox.store.accounts.ids()));
  expect(names()).toContain('page');
  expect(names()).not.toContain('_page');
});

test('pageParameter is also an option of a single list, by page or with a cursor', async () => {
  const { sandbox, names } = service();
  const { accounts } = createClient(sandbox.clientOptions);
  const pages = accounts.list({ page: 2 }, { pageParameter: 'page' });
  expect(await pages.toArray(all)).toHaveLength(35);
  let page = 1;
  const pagination = { first: { page }, next: () => (page < 5 ? { page: ++page } : undefined) };
  expect(await accounts.list({}, { pagination, pageParameter: 'page' }).toArray(all)).toHaveLength(45);
  expect(names()).not.toContain('_page');
});

test.each(['page', 'keyset'] as const)(
  'FilterIgnoredError names pageParameter if the service ignores _page: %s',
  async (pagination) => {
    const { sandbox } = service({ ids: { form: 'uuid' } });
    const { accounts } = createClient(sandbox.clientOptions);
    const error = await caught(accounts.list({}, { pagination }).toArray(all));
    expect(error).toMatchObject({
      code: 'filter_ignored',
      message: expect.stringContaining('pageParameter'),
    });
    expect((error as Error).message.includes("pagination: 'keyset'")).toBe(pagination === 'page');
  },
);
