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
    for (const part of ['are incomplete', "complete 'likely'", 'int4', 'replace records', 'idFromIri'])
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
    [{ order: 'id-desc' }, []],
    [{ pageParameter: 'page' }, ["pageParameter: 'page'"]],
    [{ pageSizeParameter: 'itemsPerPage' }, ["parameters.itemsPerPage: '100'"], 'pass parameters: { items'],
    [{ afterLastPage: 'not_found' }, ["afterLastPage: 'not_found'"]],
    [{ nullFields: 'omitted', records: { products: 40 } }, [], 'value are left out (products): replace rec'],
  ])('with %j contain %s', async (options, option, advice = '') => {
    const report = await probe(productSandbox(options).client, { collections: ['products'] });
    expect([optionsOf(report), report.advice.join()]).toEqual([option, expect.stringContaining(advice)]);
    if (advice === '') expect(report.advice).toEqual([]);
  });

  test('name the Accept header for a 406, lists that reject updatedSince, and the collection that differs', async () => {
    const client = clientBehind(productSandbox().sandbox, (url) => {
      if (url.pathname.endsWith('/boms')) return Response.json({}, { status: 406 });
      const since = url.searchParams.get('updatedSince') ?? '';
      if (/[+-]\d\d:\d\d$/.test(since)) return Response.json({}, { status: 400 });
      if (!url.pathname.endsWith('/products')) return url;
      if (url.searchParams.has('updatedSince')) return Response.json({}, { status: 400 });
      // Of two bounds, it drops one.
      if (url.searchParams.has('id[gte]')) url.searchParams.delete('id[lte]');
      return url;
    });
    const report = await probe(client, { collections: ['accounts', 'boms', 'products'] });
    expect(report.advice.join('\n')).toMatch(/406 for boms: .*Accept header/m);
    expect(report.advice.join('\n')).toMatch(/^Lists of products reject updatedSince: /m);
    expect(report.advice.join('\n')).toMatch(/^updatedSince with an offset is rejected \(accounts\)/m);
    expect(report.client.pagination).toEqual({ products: 'page' });
  });
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

/** A client of a service with pages of 30 that have links in a form of its own. */
function clientWithLinks(link: (rows: unknown[], page: number, isLast: boolean) => Response) {
  const sandbox = createSandbox({
    ids: { form: 'uuid' },
    textIdBounds: 'ignore',
    records: { accounts: 95, boms: 61 },
  });
  const { baseUrl, apiKey } = sandbox.clientOptions;
  const fetch = async (input: unknown): Promise<Response> => {
    const { pathname, searchParams } = new URL(String(input));
    const name = (['accounts', 'boms'] as const).find((one) => pathname.endsWith(`/${one}`));
    if (name === undefined) return Response.json({ type: 'not_found' }, { status: 404 });
    const all = sandbox.store[name].all();
    const [fromZero, fromOne] = [searchParams.get('page'), searchParams.get('n')];
    const index =
      fromZero ?? (fromOne === null ? Number(searchParams.get('offset') ?? 0) / 30 : Number(fromOne) - 1);
    const page = Number(index) + 1;
    return link(all.slice((page - 1) * 30, page * 30), page, page * 30 >= all.length);
  };
  return { sandbox, client: createClient({ baseUrl, apiKey, fetch: fetch as typeof globalThis.fetch }) };
}

const numbered = (page: number, isLast: boolean) =>
  isLast ? undefined : `/api/public/v1/x?size=30&n=${page + 1}`;
const fromZero = (page: number, isLast: boolean) => (isLast ? undefined : `?page=${page}&size=30`);
const byOffset = (page: number, isLast: boolean) => (isLast ? undefined : `?limit=30&offset=${page * 30}`);
const inLink = (address: typeof numbered) => (rows: unknown[], page: number, isLast: boolean) => {
  const next = address(page, isLast);
  return Response.json(rows, { headers: next === undefined ? {} : { Link: `<${next}>; rel="next"` } });
};
const inBody =
  (wrap: (next: string | null) => object, address = numbered) =>
  (member: unknown[], page: number, isLast: boolean) =>
    Response.json({ member, ...wrap(address(page, isLast) ?? null) });

test.each<[string, Parameters<typeof clientWithLinks>[0], client: object]>([
  ['view.next', inBody((next) => ({ view: { next } })), { pagination: 'page', pageParameter: 'n' }],
  [
    'hydra:next',
    inBody((next) => ({ 'hydra:view': { 'hydra:next': next } })),
    { pagination: 'page', pageParameter: 'n' },
  ],
  [
    '_links.next',
    inBody((href) => ({ _links: { next: { href } } })),
    { pagination: 'page', pageParameter: 'n' },
  ],
  ['links.next', inBody((next) => ({ links: { next } })), { pagination: 'page', pageParameter: 'n' }],
  ['meta.next', inBody((next) => ({ meta: { next } })), { pagination: 'page', pageParameter: 'n' }],
  ['Link', inLink(numbered), { pagination: 'page', pageParameter: 'n' }],
  ['an offset in Link', inLink(byOffset), { pagination: 'link' }],
  ['an offset in next', inBody((next) => ({ next }), byOffset), { pagination: 'link' }],
  [
    'a number from 0 in _links.next',
    inBody((href) => ({ _links: { next: { href } } }), fromZero),
    { pagination: 'link' },
  ],
  ['a number from 0 that nothing links', (rows) => Response.json(rows), {}],
  ['a number alone', inBody((next) => ({ meta: { next_page: next && 2 } })), {}],
])('a probe reads how a list is continued from %s, and every record with it', async (_, link, expected) => {
  const { sandbox, client } = clientWithLinks(link);
  const report = await probe(client, { collections: ['accounts', 'boms'] });
  const { pagination, pageParameter } = report.client;
  expect({ ...(pagination && { pagination }), ...(pageParameter && { pageParameter }) }).toEqual(expected);
  for (const name of ['accounts', 'boms'] as const) {
    const reading = client.withOptions(report.client)[name].list().toArray({ limit: Infinity });
    if (pagination === undefined) await expect(reading).rejects.toMatchObject({ code: 'filter_ignored' });
    else expect((await reading).map(({ id }) => id)).toEqual(sandbox.store[name].ids());
  }
});

test.each([
  ['mail.host.', /\/mail\.host\./, 'not_found'],
  ['K/', /%2F/, 'not_found'],
  ['é', /%C3/, 'not_found'],
  ['K-', /no route/, 'found'],
])(
  'a probe advises bareNotFound only if records with ids such as %s are found',
  async (prefix, unrouted, byId) => {
    const ids = { form: 'text', prefix } as const;
    const { sandbox } = productSandbox({ ids, textIdBounds: 'ignore', notFoundBody: '<h1>Not Found</h1>' });
    const noRoute = () =>
      new Response('<h1>Not Found</h1>', { status: 404, headers: { 'content-type': 'text/html' } });
    const client = clientBehind(sandbox, (url) => (unrouted.test(url.pathname) ? noRoute() : url));
    const report = await probe(client, { collections: ['products'] });
    const { byId: found } = detailsOf(report.collections, 'products');
    const isFound = byId === 'found';
    expect([found.value, report.client.bareNotFound]).toEqual([byId, isFound ? 'missing' : undefined]);
    expect(report.advice.some((sentence) => sentence.includes('cannot be requested by their ids'))).toBe(
      !isFound,
    );
    expect(report.sandbox.notFoundBody).toBe(isFound ? 'Not Found' : undefined);
  },
);

test('a probe requests a listed record whose id has most kinds of characters', async () => {
  const { sandbox, client } = productSandbox({ ids: { form: 'text', prefix: 'K' }, textIdBounds: 'ignore' });
  sandbox.store.products.insert({ id: 'K.7/é' });
  const { collections } = await probe(client, { collections: ['products'] });
  expect(detailsOf(collections, 'products').byId).toMatchObject({
    evidence: expect.stringContaining('K.7/é'),
  });
});

test('a probe finds the page parameter of a collection of one page, and compares times of records with ids as numbers', async () => {
  const { client } = productSandbox({ pageParameter: 'page', ids: { numbers: true } }, 12);
  const report = await probe(client, { collections: ['products'] });
  const { page, pageSize, updatedSince, afterLastPage, idForm } = detailsOf(report.collections, 'products');
  expect([page.value, pageSize.known, updatedSince.compares.value]).toEqual(['honoured', false, 'utc']);
  expect(afterLastPage).toMatchObject({ value: 'empty', evidence: 'page=2 is an empty list' });
  expect(report.client).toEqual({ pageParameter: 'page', ids: 'numbers' });
  expect(report.sandbox).toMatchObject({ paginated: true, pageParameter: 'page' });
  // The options of a client replace another name.
  const other = productSandbox().client.withOptions({ pageParameter: 'page' });
  const { client: options, collections } = await probe(other, { collections: ['products'] });
  expect(options).toEqual({ pageParameter: '_page' });
  // The form of ids is the same.
  const { idForm: ofStrings } = detailsOf(collections, 'products');
  expect([idForm.value, ofStrings.value]).toEqual(['numeric', 'numeric']);
  expect(idForm).toHaveProperty('evidence', 'ids came as JSON numbers');
  expect(ofStrings).toHaveProperty('evidence', expect.stringMatching(/^\d+ ids such as 1$/));
});

test.each<[SandboxOptions, 'page' | undefined]>([
  [{ order: 'updated-desc', hiddenRecords: 0.05 }, 'page'],
  [{ order: 'updated-desc' }, undefined],
  [{ order: 'id-asc', hiddenRecords: 0.05 }, undefined],
  [{ order: 'id-desc', hiddenRecords: 0.05 }, undefined],
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
  expect(report.advice.join().includes('ignores the offset of its bound')).toBe(compares === 'local');
});

test('a probe does not take a parameter of the client for the number of the page in a link', async () => {
  const { sandbox } = productSandbox({
    ...{ ids: { form: 'uuid' }, textIdBounds: 'ignore', linkHeader: true },
    ...{ pageParameter: 'seite', pageSizeParameter: 'itemsPerPage' },
  });
  const client = createClient({ ...sandbox.clientOptions, parameters: { itemsPerPage: '2' } });
  const report = await probe(client, { collections: ['products'] });
  expect(report.client).toMatchObject({ pagination: 'page', pageParameter: 'seite' });
});
