import { type ClientOptions, createClient, type ListOptions } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import {
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { leaveAtBatch, listing, readAccounts, withAccounts } from '../sync/set-up.ts';
import { all, byId, everything } from './service.ts';

const parameters = { itemsPerPage: '50' } as const;

function service(
  options: SandboxOptions = { pageSizeParameter: 'itemsPerPage', records: { accounts: 120 } },
) {
  const sandbox = createSandbox({ pageSize: 10, ...options });
  const sent = (name = 'itemsPerPage') => new Set(sandbox.requests.map(({ query }) => query[name]));
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

test('the state of a sync belongs to the parameters of its lists', async () => {
  const set = withAccounts(45, { pageSizeParameter: 'itemsPerPage' });
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

/** A service that reads `page` and ignores `_page`. */
const ofPage = (options: SandboxOptions = {}) =>
  service({ pageParameter: 'page', records: { accounts: 45 }, ...options });
const pageParameter = 'page';

test.each<[string, ClientOptions, ListOptions, SandboxOptions]>([
  ['by page', { pageParameter }, { pagination: 'page' }, {}],
  ['by keyset, in another order', { pageParameter }, { pagination: 'keyset' }, { order: 'updated-desc' }],
  ['of a single list', {}, { pagination: 'page', pageParameter }, {}],
])('a list is read with the option pageParameter: %s', async (_, clientOptions, how, options) => {
  const { sandbox, client, sent } = ofPage(options);
  const accounts = await client.withOptions(clientOptions).accounts.list({}, how).toArray(everything);
  expect(new Set(accounts.map(({ id }) => id))).toEqual(new Set(sandbox.store.accounts.ids()));
  expect(sent('page').size).toBeGreaterThan(1);
  expect(sent('_page')).toEqual(new Set([undefined]));
});

test.each(['page', 'keyset'] as const)(
  'FilterIgnoredError names pageParameter if the service ignores _page: %s',
  async (pagination) => {
    const { accounts } = ofPage({ ids: { form: 'uuid' } });
    const error = await caught(accounts.list({}, { pagination }).toArray(everything));
    const message = expect.stringContaining('pageParameter');
    expect(error).toMatchObject({ code: 'filter_ignored', message });
    expect((error as Error).message.includes("pagination: 'keyset'")).toBe(pagination === 'page');
  },
);

const noRecords = { message: 'No records found' };
const html = () =>
  new Response('<h1>Not Found</h1>', { status: 404, headers: { 'content-type': 'text/html' } });

const KINDS: readonly ListOptions[] = [
  {},
  { pagination: 'page' },
  { pagination: 'none' },
  { pagination: byId },
];

test.each(
  KINDS.flatMap((options) => [
    [options, 'a problem document', () => problemResponse(404, { type: 'not_found' })] as const,
    [options, 'a JSON object', () => jsonResponse(noRecords, 404)] as const,
    [options, 'a 410', () => jsonResponse(noRecords, 410)] as const,
  ]),
)('with afterLastPage: not_found, a list (%j) without records may be %s', async (options, _, respond) => {
  const client = scriptedClient(scriptedFetch(respond), { afterLastPage: 'not_found' });
  expect(await client.accounts.list({}, options).toArray(everything)).toEqual([]);
  expect(await client.accounts.list({}, options).first()).toBeUndefined();
  // A record and the address of the service are no lists.
  expect(await caught(client.ping())).toMatchObject({ code: 'not_found' });
  expect(await caught(client.accounts.get('1'))).toMatchObject({ code: 'not_found' });
  const strict = client.withOptions({ afterLastPage: 'empty' }).accounts.list({}, options);
  expect(await caught(strict.toArray(everything))).toMatchObject({ code: 'not_found' });
});

test.each(KINDS)('a page of a proxy does not show that a list (%j) is empty', async (options) => {
  const { accounts } = scriptedClient(scriptedFetch(html), { afterLastPage: 'not_found' });
  const error = (await caught(accounts.list({}, options).toArray(everything))) as Error;
  expect(error).toMatchObject({ code: 'not_found', missing: false });
  // The option is set.
  expect(error.message).not.toContain('afterLastPage');
});

test.each(KINDS)('a 404 of another type does not show that a list (%j) is empty', async (options) => {
  const other = problemResponse(404, { type: 'company_not_found' });
  const { accounts } = scriptedClient(scriptedFetch(other), { afterLastPage: 'not_found' });
  const error = await caught(accounts.list({}, options).toArray(everything));
  expect(error).toMatchObject({ status: 404, type: 'company_not_found' });
});
