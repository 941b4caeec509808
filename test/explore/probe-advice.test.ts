import { createClient } from 'accounting-data-sdk';
import { type ProbeReport, probe } from 'accounting-data-sdk/explore';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { API_PLATFORM, clientBehind, detailsOf, productSandbox } from './support/products.ts';

/** The options for the client and for sync, as a user writes them. */
const optionsOf = ({ profile }: ProbeReport) =>
  profile
    .filter(({ of }) => of !== 'sandbox')
    .map(({ name, value }) => `${name}: ${JSON.stringify(value)}`.replaceAll('"', "'"));

describe('the options and the advice for a service', () => {
  test('that is built on API Platform name each of its behaviours', async () => {
    const { client } = productSandbox({
      ...API_PLATFORM,
      records: { accounts: 900, accountAddresses: 40 },
      clock: '2026-01-31T12:00:00Z',
    });
    const report = await probe(client, {
      collections: ['products', 'accounts', 'accountAddresses'],
      write: true,
    });
    expect(detailsOf(report.collections, 'products')).toMatchObject({
      shortPages: { value: true },
      order: { value: 'updated-desc' },
      updatedSince: { compares: { value: 'local' }, shiftMinutes: { value: -300 } },
    });
    expect(optionsOf(report)).toEqual([
      "pagination: 'page'",
      "bareNotFound: 'missing'",
      "contentTypes.create: 'application/ld+json'",
      "contentTypes.update: 'application/merge-patch+json'",
      'retry.creates: false',
    ]);
    const advice = report.advice.join('\n');
    for (const part of ['come short', "complete 'likely'", 'int4', 'replace records', 'idFromIri']) {
      expect(advice).toContain(part);
    }
  });

  test('that follows the specification are its defaults and no advice', async () => {
    const { client } = productSandbox({ timestampsEverywhere: true });
    const report = await probe(client, { collections: ['accounts', 'products'], write: true });
    expect(detailsOf(report.collections, 'products')).toMatchObject({
      shortPages: { value: false },
      updatedSince: { compares: { value: 'utc' }, shiftMinutes: { value: 0 } },
    });
    expect(optionsOf(report)).toEqual([]);
    expect(report.advice).toEqual([]);
  });

  test.each<[SandboxOptions, option: string[], advice?: string]>([
    [
      { ids: { form: 'uuid' }, textIdBounds: 'ignore' },
      ["pagination: 'page'"],
      'Bounds on the ids of products are ignored',
    ],
    [{ betweenSeparator: ',' }, [], "{ id: { between: '100,200' } }"],
    [{ pageParameter: 'page' }, ["pageParameter: 'page'"]],
    [
      { pageSizeParameter: 'itemsPerPage' },
      ["parameters.itemsPerPage: '100'"],
      "pass parameters: { itemsPerPage: '100' }",
    ],
    [{ afterLastPage: 'not_found' }, ["afterLastPage: 'not_found'"]],
  ])('with %j contain %s', async (options, option, advice = '') => {
    const report = await probe(productSandbox(options).client, { collections: ['products'] });
    expect([optionsOf(report), report.advice.join()]).toEqual([option, expect.stringContaining(advice)]);
    if (advice === '') expect(report.advice).toEqual([]);
  });

  test('name the Accept header as the cause of a 406', async () => {
    const { sandbox, client } = productSandbox();
    sandbox.faults.add({ kind: 'status', status: 406 }, { times: Number.POSITIVE_INFINITY });
    const { collections, advice } = await probe(client, { collections: ['accounts', 'boms'] });
    expect(collections.map(({ access }) => access)).toEqual(['not_acceptable', 'not_acceptable']);
    expect(advice).toEqual([expect.stringMatching(/406 for accounts, boms: .*Accept header/)]);
  });

  test.each([
    ['ignore', (url: URL) => new URL(url.href.replace('updatedSince', 'ignored'))],
    [
      'reject',
      (url: URL) => (url.searchParams.has('updatedSince') ? Response.json({}, { status: 400 }) : url),
    ],
  ])('name the lists that %s updatedSince', async (verb, rewrite) => {
    const client = clientBehind(productSandbox().sandbox, rewrite);
    const { advice } = await probe(client, { collections: ['products'] });
    expect(advice).toContainEqual(
      expect.stringMatching(new RegExp(`^Lists of products ${verb} updatedSince: `)),
    );
  });

  test('name the collection that differs', async () => {
    // Of two bounds, it drops one.
    const client = clientBehind(productSandbox().sandbox, (url) => {
      const isDropped = url.pathname.endsWith('/products') && url.searchParams.has('id[gte]');
      if (isDropped) url.searchParams.delete('id[lte]');
      return url;
    });
    const report = await probe(client, { collections: ['accounts', 'products'] });
    expect(report.client.pagination).toEqual({ products: 'page' });
  });
});

test.each([
  ['advises none for a list longer than the pages of others', { accounts: 95, boms: 12 }, 'none'],
  ['does not take lists of one length for whole ones', { accounts: 95, boms: 95 }, 'page'],
  [
    'does not take a list of the usual size for a whole one',
    { accounts: 30, boms: 12 },
    { accounts: 'page', boms: 'none' },
  ],
])('a probe of a service without pagination %s', async (_, records, pagination) => {
  const ids = { form: 'uuid' } as const;
  const sandbox = createSandbox({ paginated: false, ids, textIdBounds: 'ignore', records });
  const client = createClient(sandbox.clientOptions);
  const report = await probe(client, { collections: ['accounts', 'boms'] });
  expect(report.client.pagination).toEqual(pagination);
});

test.each([
  [['accounts', 'budgetLines'], { accounts: 'none', budgetLines: 'none' }],
  [['accounts', 'budgetLines', 'products'], 'none'],
] as const)(
  'a probe advises none for collections alone that come in one response: %j',
  async (whole, pagination) => {
    const { sandbox } = productSandbox({ records: { accounts: 65, budgetLines: 40 } });
    const collections = ['accounts', 'budgetLines', 'products'] as const;
    const client = clientBehind(sandbox, (url) => {
      const name = whole.find((one) => url.pathname.endsWith(`/${one.replace('L', '-l')}`));
      return name === undefined ? url : Response.json(sandbox.store[name].all());
    });
    const report = await probe(client, { collections });
    expect(report.client.pagination).toEqual(pagination);
    const own = client.withOptions(report.client);
    for (const name of collections) {
      const read = await own[name].list().toArray({ limit: Infinity });
      expect([name, new Set(read.map(({ id }) => id)).size]).toEqual([name, sandbox.store[name].count]);
    }
  },
);

test.each<[SandboxOptions, 'page' | undefined]>([
  [{ order: 'updated-desc', hiddenRecords: 0.02 }, 'page'],
  [{ order: 'none', hiddenRecords: 0.1 }, 'page'],
  [{ order: 'updated-desc' }, undefined],
  [{ order: 'id-asc', hiddenRecords: 0.05 }, undefined],
])(
  'a probe of a service with %j advises the pagination %s, which misses nothing that is shown',
  async (options, pagination) => {
    const { client } = productSandbox({ records: { accounts: 300 }, ...options }, 300);
    const report = await probe(client, { collections: ['accounts', 'products'] });
    expect(report.client.pagination).toBe(pagination);
    for (const name of ['accounts', 'products'] as const) {
      const read = (of: typeof client, how = {}) => of[name].list({}, how).toArray({ limit: Infinity });
      const shown = await read(client, { pagination: 'page' });
      expect([name, (await read(client.withOptions(report.client))).length]).toEqual([name, shown.length]);
    }
  },
);

test.each<[options: SandboxOptions, compares: string, minutes: number | undefined, offset: string]>([
  [{ timeZone: 'America/St_Johns', dateFilter: 'local' }, 'local', -210, '-03:30'],
  [{ timeZone: 'Pacific/Kiritimati', dateFilter: 'local' }, 'local', 840, '+14:00'],
  // These follow from the offset that records show.
  [{ timeZone: 'America/New_York', dateFilter: 'local', timestamps: 'offset' }, 'local', undefined, '-05:00'],
  [{ timeZone: 'Asia/Kolkata', timestamps: 'offset' }, 'utc', undefined, '+05:30'],
])(
  'a probe of a service with %j finds the times that updatedSince is compared with: %s, %s',
  async (options, compares, minutes, offset) => {
    const sandbox = createSandbox({ clock: '2026-01-31T15:00:00Z', ...options });
    for (let index = 0; index < 5; index += 1) sandbox.store.products.insert({ name: `Product ${index}` });
    const report = await probe(createClient(sandbox.clientOptions), { collections: ['products'] });
    const { updatedSince } = detailsOf(report.collections, 'products');
    expect(updatedSince.compares.value).toBe(compares);
    expect(report.sandbox).toMatchObject({ timeZone: offset });
    if (minutes === undefined) expect(report.advice.join()).toContain(offset);
    else expect(updatedSince.shiftMinutes.value).toBe(minutes);
  },
);
