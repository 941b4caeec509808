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
    const records = { accounts: 900, accountAddresses: 40 };
    const { client } = productSandbox({ ...API_PLATFORM, records, clock: '2026-01-31T12:00:00Z' });
    const collections = ['products', 'accounts', 'accountAddresses'] as const;
    const report = await probe(client, { collections, write: true });
    expect(detailsOf(report.collections, 'products')).toMatchObject({
      shortPages: { value: true },
      order: { value: 'updated-desc' },
      updatedSince: { compares: { known: false } },
    });
    expect(optionsOf(report)).toEqual([
      "pagination: 'page'",
      "bareNotFound: 'missing'",
      "contentTypes.create: 'application/ld+json'",
      "contentTypes.update: 'application/merge-patch+json'",
      'retry.creates: false',
    ]);
    for (const part of ['come short', "complete 'likely'", 'int4', 'replace records', 'idFromIri'])
      expect(report.advice.join('\n')).toContain(part);
  });

  test('that follows the specification are its defaults and no advice', async () => {
    const { client } = productSandbox({ timestampsEverywhere: true });
    const report = await probe(client, { collections: ['accounts', 'products'], write: true });
    expect(detailsOf(report.collections, 'products')).toMatchObject({
      shortPages: { value: false },
      updatedSince: { compares: { value: 'utc' } },
    });
    expect(optionsOf(report)).toEqual([]);
    expect(report.advice).toEqual([]);
  });

  test.each<[SandboxOptions, option: string[], advice?: string]>([
    [{ ids: { form: 'uuid' }, textIdBounds: 'ignore' }, ["pagination: 'page'"], 'Bounds on the ids of'],
    [{ betweenSeparator: ',' }, [], "{ id: { between: '100,200' } }"],
    [{ pageParameter: 'page' }, ["pageParameter: 'page'"]],
    [{ pageSizeParameter: 'itemsPerPage' }, ["parameters.itemsPerPage: '100'"], 'pass parameters: { items'],
    [{ afterLastPage: 'not_found' }, ["afterLastPage: 'not_found'"]],
  ])('with %j contain %s', async (options, option, advice = '') => {
    const report = await probe(productSandbox(options).client, { collections: ['products'] });
    expect([optionsOf(report), report.advice.join()]).toEqual([option, expect.stringContaining(advice)]);
    if (advice === '') expect(report.advice).toEqual([]);
  });

  test('name the Accept header for a 406, lists that reject updatedSince, and the collection that differs', async () => {
    const client = clientBehind(productSandbox().sandbox, (url) => {
      if (url.pathname.endsWith('/boms')) return Response.json({}, { status: 406 });
      if (!url.pathname.endsWith('/products')) return url;
      if (url.searchParams.has('updatedSince')) return Response.json({}, { status: 400 });
      // Of two bounds, it drops one.
      if (url.searchParams.has('id[gte]')) url.searchParams.delete('id[lte]');
      return url;
    });
    const report = await probe(client, { collections: ['accounts', 'boms', 'products'] });
    expect(report.advice.join('\n')).toMatch(/406 for boms: .*Accept header/m);
    expect(report.advice.join('\n')).toMatch(/^Lists of products reject updatedSince: /m);
    expect(report.client.pagination).toEqual({ products: 'page' });
  });
});

test.each([
  ['advises none for a list longer than the pages of others', { accounts: 95, boms: 12 }, 'none'],
  ['does not take lists of one length for whole ones', { accounts: 95, boms: 95 }, 'page'],
  ['does not take the usual size for whole', { accounts: 30, boms: 12 }, { accounts: 'page', boms: 'none' }],
])('a probe of a service without pagination %s', async (_, records, pagination) => {
  const ids = { form: 'uuid' } as const;
  const sandbox = createSandbox({ paginated: false, ids, textIdBounds: 'ignore', records });
  const client = createClient(sandbox.clientOptions);
  const report = await probe(client, { collections: ['accounts', 'boms'] });
  expect(report.client.pagination).toEqual(pagination);
});

test('a probe advises none for collections alone that come in one response, which reads them whole', async () => {
  const { sandbox } = productSandbox({ records: { accounts: 65, boms: 40 } });
  const collections = ['accounts', 'boms', 'products'] as const;
  const client = clientBehind(sandbox, (url) => {
    const name = (['accounts', 'boms'] as const).find((one) => url.pathname.endsWith(`/${one}`));
    return name === undefined ? url : Response.json(sandbox.store[name].all());
  });
  const report = await probe(client, { collections });
  expect(report.client.pagination).toEqual({ accounts: 'none', boms: 'none' });
  for (const name of collections) {
    const read = await client.withOptions(report.client)[name].list().toArray({ limit: Infinity });
    expect([name, new Set(read.map(({ id }) => id)).size]).toEqual([name, sandbox.store[name].count]);
  }
});

test.each<[SandboxOptions, 'page' | undefined]>([
  [{ order: 'updated-desc', hiddenRecords: 0.05 }, 'page'],
  [{ order: 'updated-desc' }, undefined],
  [{ order: 'id-asc', hiddenRecords: 0.05 }, undefined],
])('a probe of %j advises pagination %s, which misses nothing', async (options, pagination) => {
  const { client } = productSandbox(options, 300);
  const report = await probe(client, { collections: ['products'] });
  expect(report.client.pagination).toBe(pagination);
  const read = (of: typeof client, how = {}) => of.products.list({}, how).toArray({ limit: Infinity });
  const shown = await read(client, { pagination: 'page' });
  expect(await read(client.withOptions(report.client))).toHaveLength(shown.length);
});

test.each<[options: SandboxOptions, compares: string | undefined, offset: string | undefined]>([
  [{ timeZone: 'America/New_York', dateFilter: 'local', timestamps: 'offset' }, 'local', '-05:00'],
  [{ timeZone: 'Asia/Kolkata', timestamps: 'offset' }, 'utc', '+05:30'],
  [{}, 'utc', undefined],
  // Timestamps in UTC do not show which local times the filter compares.
  [{ timeZone: 'America/St_Johns', dateFilter: 'local' }, undefined, undefined],
  [{ timeZone: 'Asia/Kolkata', dateFilter: 'local' }, undefined, undefined],
])('a probe of %j finds that updatedSince compares %s, %s', async (options, compares, offset) => {
  const sandbox = createSandbox({ clock: '2026-01-31T15:00:00Z', ...options });
  for (let index = 0; index < 5; index += 1) sandbox.store.products.insert({ name: `Product ${index}` });
  const report = await probe(createClient(sandbox.clientOptions), { collections: ['products'] });
  const { updatedSince } = detailsOf(report.collections, 'products');
  expect(updatedSince.compares.value).toBe(compares);
  expect([report.sandbox.timeZone, report.sandbox.dateFilter]).toEqual([offset, compares]);
  if (offset !== undefined) expect(report.advice.join()).toContain(offset);
});
