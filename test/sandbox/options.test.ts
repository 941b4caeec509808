import { createSandbox, type Sandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { type CallResponse, call, createProduct, ids, type Json } from './support/call.ts';
import { play, type Step } from './support/play.ts';

const DAY_MS = 86_400_000;
const missing = { type: 'not_found', status: 404 };
const violates = (...fields: string[]) => ({
  status: 422,
  violations: fields.map((propertyPath) => ({ propertyPath })),
});
const boms = (count: number) => ({ records: { boms: count } });

test.each<[what: string, options: SandboxOptions, ...steps: Step[]]>([
  [
    'a body is rejected with the field that is wrong',
    {},
    ['POST 1', violates('salePrice'), { salePrice: 12.5 }],
    ['POST 2', violates('createdAt'), { createdAt: '2026-01-01T00:00:00Z' }],
    ['POST 3', violates('salePriceDecimals'), { salePriceDecimals: 1.5 }],
  ],
  [
    'idempotency: a repeat gets the first response, whatever the order of its fields, and another body a 422',
    {},
    ['POST k', { id: '1' }, { name: 'Desk', salePrice: '129' }],
    ['POST k', { id: '1' }, { salePrice: '129', name: 'Desk' }],
    ['POST k', { status: 422, type: 'validation_failed' }, { name: 'Chair' }],
  ],
  [
    'moneyDigits: amounts have four digits or more, and as many as the option says',
    {},
    ['POST 1', { salePrice: '12.5000' }, { salePrice: '12.5' }],
    ['POST 2', { salePrice: '-12.123456' }, { salePrice: '-12.123456' }],
  ],
  ['moneyDigits 0: no digits', { moneyDigits: 0 }, ['POST 1', { salePrice: '12' }, { salePrice: '12' }]],
  ['order: every page is sorted', { order: 'id-desc', ...boms(9) }, ['GET /boms?id[gt]=6', '9 8 7']],
  [
    'afterLastPage: a page behind the last one is a 404, but not an empty first one',
    { afterLastPage: 'not_found', pageSize: 3, ...boms(3) },
    ['GET /budgets', ''],
    ['GET /budgets?_page=2', missing],
    ['GET /boms', '1 2 3'],
    ['GET /boms?_page=2', missing],
  ],
  [
    'hiddenRecords: records are left out after the list was divided into pages',
    { hiddenRecords: ['2', '3', '6'], pageSize: 3, ...boms(7) },
    ['GET /boms', '1'],
    ['GET /boms?_page=2', '4 5'],
    ['GET /boms?id[gt]=1', '4'],
    ['GET /boms/2', 200],
  ],
  [
    'idColumn int4: a 500 beyond it',
    { idColumn: 'int4' },
    ['GET /boms?id[between]=1..2147483648', 500],
    ['GET /boms?id[lte]=2147483647', ''],
  ],
  [
    'idColumn: only of numeric ids',
    { idColumn: 'int4', ids: { form: 'text' } },
    ['GET /boms?id[gt]=id-9', ''],
  ],
  ['idColumn int8: likewise', { idColumn: 'int8' }, ['GET /boms?id[lte]=9223372036854775808', 500]],
  [
    'invalidFilter ignore: an invalid filter is ignored',
    boms(3),
    ['GET /boms?id[gt]=', '1 2 3'],
    ['GET /boms?id[gte]=x', '1 2 3'],
    ['GET /boms?id[between]=1..2..3', '1 2 3'],
    ['GET /boms?updatedSince=2026-02-30T25:00:00Z', '1 2 3'],
    ['GET /boms?id[lte]=9223372036854775808', '1 2 3'],
  ],
  [
    'invalidFilter reject',
    { invalidFilter: 'reject' },
    ['GET /boms?id[gt]=', 400],
    ['GET /boms?id[gte]=x', 400],
    ['GET /boms?id[between]=1..2..3', 400],
    ['GET /boms?updatedSince=x', 400],
    ['GET /boms?updatedSince=2026-01-31Z', 400],
  ],
  [
    'pageSizeParameter',
    { pageSizeParameter: 'size', pageSize: 4, ...boms(5) },
    ['GET /boms?size=2&_page=3', '5'],
    // As without it.
    ['GET /boms?size=0', '1 2 3 4'],
    ['GET /boms?size=all', '1 2 3 4'],
  ],
  ['paginated false', { paginated: false, pageSize: 2, ...boms(5) }, ['GET /boms?_page=2', '1 2 3 4 5']],
  ["paginated 'first'", { paginated: 'first', pageSize: 2, ...boms(5) }, ['GET /boms?_page=2', '1 2']],
  [
    'moneyAsNumbers: amounts lose digits, and are stored as strings',
    { moneyAsNumbers: true },
    ['POST k', { salePrice: 12.5, saleRrpPrice: null }, { salePrice: '12.5000' }],
    ['PATCH 1', { salePrice: 12345678901234568 }, { salePrice: '12345678901234567.89' }],
  ],
  [
    'paginated, order and filters of a collection: others have the defaults',
    {
      paginated: { boms: false },
      order: { boms: 'id-desc' },
      filters: { boms: { id: 'single' }, budgets: { id: 'ignore', updatedSince: 'reject' } },
      pageSize: 2,
      records: { boms: 4, budgets: 3, accounts: 3 },
    },
    ['GET /boms?_page=2&id[gt]=1&id[lt]=3', '4 3 2'],
    ['GET /boms?updatedSince=2100-01-01', ''],
    ['GET /budgets?id[gt]=2', '1 2'],
    ['GET /budgets?updatedSince=2100-01-01', 400],
    ['GET /accounts?_page=2&id[gte]=1', '3'],
  ],
  [
    'filters of every collection, but one of its own',
    { filters: { updatedSince: 'ignore', id: 'reject', boms: { id: 'apply' } }, ...boms(3) },
    ['GET /boms?updatedSince=2100-01-01&id[gt]=2', '3'],
    ['GET /budgets?id[lte]=1', 400],
  ],
  [
    'ids of a collection: what it leaves out is as for the others',
    {
      ids: { start: 7, form: 'text', prefix: 'mail.host.', boms: { form: 'numeric', numbers: true } },
      records: { accounts: 2, accountAddresses: 1, boms: 1 },
    },
    ['GET /accounts?id[gt]=mail.host.0000000007', 'mail.host.0000000008'],
    ['GET /account-addresses/mail.host.0000000007', { accountId: 'mail.host.0000000007' }],
    ['GET /boms/7', { id: 7 }],
    ['POST k', { id: 'mail.host.0000000007' }],
  ],
  [
    'ids.numbers: an id that a number does not keep is a string',
    { ids: { numbers: true }, fixtures: { boms: [{ id: '9007199254740991' }, { id: '9007199254740993' }] } },
    ['GET /boms/9007199254740991', { id: 9_007_199_254_740_991 }],
    ['GET /boms/9007199254740993', { id: '9007199254740993' }],
  ],
  [
    'replay conflict: a 409, and a 422 for another body',
    { idempotency: { replay: 'conflict' } },
    ['POST k', 201],
    ['POST k', 409],
    ['POST k', 422, { name: 'b' }],
  ],
  [
    'idempotency differentBody stored: another body gets the first response',
    { idempotency: { differentBody: 'stored' } },
    ['POST k', { id: '1' }, { name: 'a' }],
    ['POST k', { id: '1', name: 'a' }, { name: 'b' }],
  ],
  ['replay ignored', { idempotency: { replay: 'ignored' } }, ['POST k', 201], ['POST k', { id: '2' }]],
  [
    'idempotency: a key is forgotten after a day, and a rejected create leaves its key unused',
    { clock: 0 },
    ['POST k', 422, { salePrice: 5 }],
    ['POST k', { id: '1' }],
    DAY_MS - 1,
    ['POST k', { id: '1' }],
    1,
    ['POST k', { id: '2' }],
  ],
  [
    'idempotency: a key is forgotten after its own day, whatever the clock was before',
    { clock: '2026-01-31' },
    ['POST later', 201],
    -9 * DAY_MS,
    ['POST k', { id: '2' }],
    DAY_MS,
    ['POST k', { id: '3' }],
  ],
  [
    'requiredFields: missing, blank and cleared fields are rejected, but not a patch without them',
    { requiredFields: ['name'] },
    ['POST 1', violates('name')],
    ['POST 2', violates('name'), { name: '' }],
    ['POST 3', violates('name'), { name: null }],
    ['POST 4', 201, { name: 'Desk' }],
    ['PATCH 1', 200, { brand: 'Oak' }],
    ['PATCH 1', 422, { name: null }],
  ],
  [
    'allowedStatuses and unknownFields reject: a create is rejected by its fields',
    { allowedStatuses: ['active'], unknownFields: 'reject' },
    ['POST 1', 201, { status: 'active' }],
    ['POST 2', 201, { status: null }],
    ['POST 3', violates('status', 'salesPrice'), { status: 'gone', salesPrice: '1.00' }],
  ],
  [
    'uniqueFields: a value in use is rejected, not an empty one, though readers do not see its record yet',
    { uniqueFields: ['ean'], commitDelayMs: 60_000, clock: 0 },
    ['POST 1', 201, { ean: '1' }],
    ['POST 2', violates('ean'), { ean: '1' }],
    ['POST 3', 201],
    ['POST 4', 201],
    ['PATCH 1', 200, { ean: '1' }],
    ['PATCH 2', 422, { ean: '1' }],
    ['DELETE 1', 204],
    ['POST 5', 201, { ean: '1' }],
    ['POST 6', 201, { ean: '' }],
    ['POST 7', 201, { ean: '' }],
  ],
  [
    'commitDelayMs: readers see a write later, with the updatedAt of its time, and a writer at once',
    { commitDelayMs: 60_000, clock: '2026-01-31T12:00:00Z' },
    ['POST 1', 201, { name: 'Desk' }],
    30_000,
    ['GET /products', ''],
    ['PATCH 1', 200, { name: 'Table' }],
    30_000,
    ['GET 1', { name: 'Desk', updatedAt: '2026-01-31T12:00:00Z' }],
    30_000,
    ['GET 1', { name: 'Table', updatedAt: '2026-01-31T12:00:30Z' }],
    ['DELETE 1', 204],
    ['GET /products', '1'],
    ['PATCH 1', 404, {}],
    60_000,
    ['GET /products', ''],
  ],
  [
    'newRecords: item routes and lists show a record that a request created in their time',
    { newRecords: { listedAfterMs: 2000, foundAfterMs: 1000 }, clock: 0, records: { products: 1 } },
    ['POST 1', 201],
    ['GET 2', 404],
    ['PATCH 2', 404, {}],
    ['DELETE 2', 404],
    ['GET /products', '1'],
    1000,
    ['GET 2', 200],
    ['PATCH 2', 200, {}],
    ['GET /products', '1'],
    1000,
    ['GET /products', '1 2'],
  ],
])('%s', async (_, options, ...steps) => {
  await play(createSandbox(options), steps);
});

/** The pages of a list, each with its ids, read along the links to the next page. */
async function followed(sandbox: Sandbox, path: string): Promise<string[]> {
  const pages: string[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const { headers, json }: CallResponse = await call(sandbox, next);
    const { member = json, view } = json as { member?: Json[]; view?: Json };
    pages.push((member as Json[]).map(({ id }) => id).join(' '));
    const linkTo = (name: 'first' | 'next') =>
      view === undefined
        ? new RegExp(`<([^>]*)>; rel="${name}"`).exec(headers.get('link') ?? '')?.[1]
        : view[name];
    expect(linkTo('first')).not.toContain('cursor=');
    const link = linkTo('next');
    next = link === undefined ? undefined : String(link).replace('/api/public/v1', '');
  }
  return pages;
}

test.each<[what: string, options: SandboxOptions, pages: string[]]>([
  ['header', { cursor: 'header' }, ['1 2', '4 5', '6']],
  ['body', { cursor: 'body', order: 'id-desc' }, ['6 5', '3 2', '1']],
  [
    'body, in an order with ties',
    { cursor: 'body', order: 'updated-desc', ties: 'each-response' },
    ['1 2', '4 5', '6'],
  ],
  ['links of page numbers', { listBody: 'member', pageParameter: 'pageNumber' }, ['1 2', '5 6']],
  ['links of page numbers in the header', { linkHeader: true }, ['1 2', '5 6']],
])('a list is continued along its links, whatever is deleted before them: %s', async (_, options, pages) => {
  const sandbox = createSandbox({ clock: '2026-01-01', pageSize: 2, ...options });
  for (const _ of Array(8)) sandbox.store.boms.insert({});
  // The first row of each page, and one that is not read yet.
  let requests = 0;
  sandbox.onRequest(({ ids: [first = ''] = [] }) => {
    requests += 1;
    if (requests === 1)
      for (const id of [first, options.order === 'id-desc' ? '4' : '3']) sandbox.store.boms.delete(id);
  });
  expect(await followed(sandbox, `/boms?id[lt]=7${options.cursor === undefined ? '' : '&_page=7'}`)).toEqual(
    pages,
  );
});

test('a cursor finds nothing if all records behind its place were deleted', async () => {
  const sandbox = createSandbox({ cursor: 'header', pageSize: 2, ...boms(3) });
  const stop = sandbox.onRequest(() => {
    stop();
    sandbox.store.boms.delete('3');
  });
  expect(await followed(sandbox, '/boms?id[gt]=0')).toEqual(['1 2', '']);
});

test('a page links to the first one and to those beside it that exist, and does not count the list', async () => {
  const sandbox = createSandbox({ listBody: 'member', pageSize: 2, ...boms(5) });
  const linksOf = async (page: number) => {
    const { record } = await call(sandbox, `/boms?_page=${page}`);
    expect(record).not.toHaveProperty('totalItems');
    const { '@type': _, ...links } = record.view as Record<string, string>;
    const pages = Object.entries(links).map(([name, link]) => [name, /_page=(.*)/.exec(link)?.[1]]);
    return Object.fromEntries(pages) as Record<string, string>;
  };
  expect(await linksOf(1)).toEqual({ '@id': '1', first: '1', next: '2' });
  expect(await linksOf(2)).toEqual({ '@id': '2', first: '1', previous: '1', next: '3' });
  // None of them is known if every response is the first page.
  sandbox.reset({ paginated: 'first', linkHeader: true });
  const { record, headers } = await call(sandbox, '/boms');
  expect([record.view, headers.get('link')]).toEqual([undefined, null]);
});

test('a cursor of another service is rejected, and a list without pages says how many records it has', async () => {
  await play(createSandbox({ cursor: 'header' }), [['GET /boms?cursor=abc', 400]]);
  const whole = createSandbox({ listBody: 'hydra:member', paginated: false, ...boms(40) });
  const { record } = await call(whole, '/boms');
  expect(record).toMatchObject({ 'hydra:totalItems': 40, 'hydra:member': { length: 40 } });
  expect(Object.keys(record)).not.toContain('hydra:view');
});

test.each([
  ['ignore', undefined],
  ['store', 'oak'],
] as const)(
  'unknownFields %s: a field that is not documented is %s afterwards',
  async (unknownFields, colour) => {
    const sandbox = createSandbox({ unknownFields });
    for (const method of ['POST', 'PATCH'] as const) {
      const path = method === 'POST' ? '/products' : '/products/1';
      const sent = { method, idempotencyKey: 'k', body: { name: method, colour: 'oak' } };
      const { record } = await call(sandbox, path, sent);
      expect([record.name, record.colour]).toEqual([method, colour]);
    }
  },
);

test('hiddenRecords as a fraction hides about that many, the same each time, and others with another seed', async () => {
  const sandbox = (seed = 1) => createSandbox({ seed, hiddenRecords: 0.2, pageSize: 1_000, ...boms(1_000) });
  const shown = ids(await call(sandbox(), '/boms'));
  expect(Math.abs(shown.length - 800)).toBeLessThan(60);
  expect(ids(await call(sandbox(), '/boms'))).toEqual(shown);
  expect(ids(await call(sandbox(2), '/boms'))).not.toEqual(shown);
});

test('hiddenRecords and lockedRecords take a function of the record', async () => {
  const sandbox = createSandbox({
    hiddenRecords: ({ name }) => name === 'hidden',
    lockedRecords: ({ status }) => status === 'archived',
  });
  sandbox.store.load({ products: [{ name: 'hidden' }, { status: 'archived' }, { status: 'active' }] });
  await play(sandbox, [
    ['GET /products', '2 3'],
    ['PATCH 2', 403, { status: 'archived' }],
    ['PATCH 3', 200, { status: 'archived' }],
  ]);
});

test.each([
  ['uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
  ['ulid', /^[0-9A-HJKMNP-TV-Z]{26}$/],
] as const)('ids of the form %s ascend, and each is found', async (form, pattern) => {
  const sandbox = createSandbox({ ids: { form }, records: { accounts: 40 } });
  const all = [...sandbox.store.accounts.ids(), sandbox.store.accounts.insert({}).id];
  expect(all.filter((id) => !pattern.test(id))).toEqual([]);
  expect(all).toEqual([...new Set(all)].sort());
  expect(ids(await call(sandbox, `/accounts?id[gt]=${all[29]}`))).toEqual(all.slice(30));
  await play(sandbox, [
    [`GET /accounts/${all[7]}`, { id: all[7] }],
    ['GET /accounts/7', 404],
  ]);
});

test.each([
  ['id-asc', true, true],
  ['each-page', true, false],
  ['each-response', false, false],
] as const)('ties %s: the same pages again: %s, every record: %s', async (ties, same, all) => {
  const sandbox = createSandbox({ ties, order: 'updated-asc', clock: 0, pageSize: 20 });
  for (const _ of Array(60)) sandbox.store.boms.insert({});
  const read = async () =>
    (await Promise.all([1, 2, 3].map((page) => call(sandbox, `/boms?_page=${page}`)))).flatMap(ids);
  const first = await read();
  expect([new Set(first).size === 60, (await read()).join() === first.join()]).toEqual([all, same]);
  // Records that differ in the field of the order keep it.
  const ordered = createSandbox({ ties, order: 'created-asc', ...boms(25) });
  expect(ids(await call(ordered, '/boms'))).toEqual(ordered.store.boms.ids());
});

test.each([true, false])('lost-response with a marker leaves the key in progress: %s', async (committed) => {
  const sandbox = createSandbox({ clock: 0 });
  sandbox.faults.next({ kind: 'lost-response', committed, marker: true });
  await expect(createProduct(sandbox, {}, { idempotencyKey: 'k' })).rejects.toThrow();
  await play(sandbox, [DAY_MS - 1, ['POST k', { status: 409, type: 'request_in_progress' }]]);
  expect(sandbox.store.products.count).toBe(Number(committed));
  await play(sandbox, [1, ['POST k', 201]]);
});
