import { type CustomCursor, memoryStore, sync } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { jsonResponse } from '../../support/scripted-fetch.ts';
import { accountsOf, all, range, rowsOf, serviceOf } from './service.ts';

const ids = range(1, 9).map(String);
const LINK = { pagination: 'link' } as const;

/** A service that lists nine records in pages of four, and names the cursor of the next page in its own way. */
const withCursor = (
  respond: (rows: readonly object[], next: string | undefined, cursor: string) => Response | object,
  options = {},
) =>
  serviceOf(({ parameters }) => {
    const cursor = parameters.get('cursor') ?? '';
    const from = cursor === '' ? 0 : Number.parseInt(cursor.slice(1), 10);
    const rows = rowsOf(ids.slice(from, from + 4));
    const next = from + 4 < ids.length ? `c${from + 4}` : undefined;
    const response = respond(rows, next, cursor);
    return response instanceof Response ? response : jsonResponse(response);
  }, options);

const url = (next: string | undefined) =>
  next && `https://elsewhere.example/api/public/v1/accounts?cursor=${next}&size=4`;

const inHeader = (rows: readonly object[], next: string | undefined) =>
  jsonResponse(
    rows,
    200,
    next === undefined ? {} : { Link: `<${url(next)}>; rel="next"; title=">", </>; rel=up` },
  );

test.each<[string, Parameters<typeof withCursor>[0]]>([
  ['the header Link', inHeader],
  ['view.next', (member, next) => ({ member, totalItems: 9, view: { '@id': '?', next: url(next) } })],
  ['hydra:next', (rows, next) => ({ 'hydra:member': rows, 'hydra:view': { 'hydra:next': url(next) } })],
  ['_links.next', (member, next) => ({ member, _links: next && { next: { href: url(next) } } })],
  ['next.@id', (member, next) => ({ member, next: next && { '@id': url(next) } })],
  ['next.url', (member, next) => ({ member, paging: next && { next: { url: url(next) } } })],
  [
    'links.next',
    (member, next) => ({ member, links: { prev: null, next: next && `?cursor=${next}&size=4` } }),
  ],
  ['meta.next', (member, next) => ({ member, meta: { next: next && `/accounts?cursor=${next}&size=4` } })],
  ['next', (member, next) => ({ member, next: next ? url(next) : null })],
])(
  'a list along the links of %s sends their parameters to its own address, with its filters',
  async (_, respond) => {
    const { pages, queries } = withCursor(respond);
    const read = await all(pages({ updatedSince: '2020-01-01' }, LINK));
    expect(read.flatMap((page) => page.ids)).toEqual(ids);
    expect(read.map(({ pagination, complete }) => `${pagination} ${complete}`)).toEqual([
      'link likely',
      'link likely',
      'link certain',
    ]);
    const since = 'updatedSince=2020-01-01';
    expect(queries).toEqual([since, `${since}&cursor=c4&size=4`, `${since}&cursor=c8&size=4`]);
  },
);

test.each<[string, Parameters<typeof withCursor>[0], facts: string[], complete: string]>([
  ['without a word of other pages', (rows) => rows.slice(0, 3), ['no_link'], 'likely'],
  [
    'that says that it is the last page',
    (member) => ({ member, meta: { next: null } }),
    ['link_ended'],
    'certain',
  ],
  ['that counts its records', (member) => ({ member, totalItems: 4 }), ['link_ended'], 'certain'],
])('a list of one response %s has the facts %3$s', async (_, respond, facts, complete) => {
  const read = await all(withCursor(respond).pages({}, LINK));
  expect(read).toMatchObject([{ complete, evidence: { facts } }]);
});

test.each<[string, Parameters<typeof withCursor>[0]]>([
  ['a token', (member, next) => ({ member, meta: { nextCursor: next } })],
  ['a count', (member) => ({ member, totalItems: 9 })],
  ['a link without a query', (rows) => jsonResponse(rows, 200, { link: '</accounts/pages/2>; rel=next' })],
  ['an unreadable link', (rows) => jsonResponse(rows, 200, { link: '<https://[x?a=b>; rel=next' })],
])(
  'a list along links fails after the first page if there are more records by %s alone',
  async (_, respond) => {
    const { pages } = withCursor(respond);
    const reading = pages({}, LINK);
    expect((await reading.next()).value?.ids).toHaveLength(4);
    expect(await caught(reading.next())).toMatchObject({
      code: 'unexpected_response',
      reason: 'incomplete_list',
      method: 'GET',
      path: '/accounts',
      message: expect.stringContaining('Pass a cursor of your own'),
    });
  },
);

test('links that lead back are a FilterIgnoredError, and links with numbers never make a list certain', async () => {
  const back = withCursor((rows) => jsonResponse(rows, 200, { link: '<?cursor=c0>; rel=next' }));
  expect(await caught(all(back.pages({}, LINK)))).toMatchObject({ code: 'filter_ignored' });
  const { sandbox, accounts } = accountsOf(ids, {
    listBody: 'hydra:member',
    pageParameter: 'pageNumber',
    pageSize: 4,
  });
  const read = await all(accounts.list({}, LINK).pages());
  expect(read.flatMap((page) => page.ids)).toEqual(ids);
  expect(read.at(-1)).toMatchObject({
    complete: 'likely',
    evidence: { facts: ['link_ended', 'counting_links'] },
  });
  expect(sandbox.count()).toBe(3);
});

test('links whose only number is a bound on the id make a list certain', async () => {
  const { pages } = serviceOf(({ id }) => {
    const rows = rowsOf(ids.filter((each) => each > (id.gt ?? '')).slice(0, 4));
    const last = rows.at(-1)?.id;
    return jsonResponse(rows, 200, last === '9' ? {} : { link: `<?id[gt]=${last}>; rel=next` });
  });
  const read = await all(pages({}, LINK));
  expect(read.flatMap((page) => page.ids)).toEqual(ids);
  expect(read.at(-1)).toMatchObject({ complete: 'certain', evidence: { facts: ['link_ended'] } });
});

const byHeader: CustomCursor<unknown> = {
  first: { parameters: { size: '4' } },
  next({ headers }) {
    const next = headers['x-next-cursor'];
    return next === undefined ? undefined : { parameters: { size: '4', cursor: next } };
  },
};
const byBody: CustomCursor<unknown> = {
  first: {},
  next({ body }) {
    const { nextCursor } = (body as { paging: { nextCursor?: string } }).paging;
    return nextCursor === undefined ? undefined : { parameters: { cursor: nextCursor } };
  },
};

test.each<[string, CustomCursor<unknown>, Parameters<typeof withCursor>[0]]>([
  [
    'a header',
    byHeader,
    (rows, next) => jsonResponse(rows, 200, next === undefined ? {} : { 'X-Next-Cursor': next }),
  ],
  ['the body', byBody, (member, nextCursor) => ({ member, paging: { nextCursor } })],
])('a cursor of the caller follows a token in %s, in lists and in syncs', async (_, pagination, respond) => {
  const { pages, accounts } = withCursor(respond, { pagination });
  const read = await all(pages());
  expect(read.flatMap((page) => page.ids)).toEqual(ids);
  expect(read.map(({ complete }) => complete)).toEqual(['likely', 'likely', 'certain']);
  const seen: string[] = [];
  const report = await sync(
    { accounts },
    {
      tenant: 'acme',
      store: memoryStore(),
      onBatch: ({ records }) => void seen.push(...records.map(({ id }) => id)),
    },
  );
  expect([seen, report.complete]).toEqual([ids, 'certain']);
});

test('a cursor gets every header without the key, and the whole body', async () => {
  const apiKey = 'key-of-the-company-1';
  const given: unknown[] = [];
  const headers = { ETag: '"1"', 'X-Total-Count': '9', 'X-Echo': `token ${apiKey}`, [apiKey]: '1' };
  const body = { member: rowsOf(ids), meta: { total: 9 }, extra: [1, { a: null }] };
  const { pages } = serviceOf(() => jsonResponse(body, 200, headers), { apiKey });
  const pagination: CustomCursor<unknown> = {
    first: {},
    next: (page) => void given.push(page.headers, page.body),
  };
  await all(pages({}, { pagination }));
  const shown = { etag: '"1"', 'x-total-count': '9', 'x-echo': 'token [redacted]', '[redacted]': '1' };
  expect(given).toEqual([{ 'content-type': 'application/json', ...shown }, body]);
});

test('a key of one letter leaves headers as they are, so that their links can be followed', async () => {
  const { pages } = withCursor(inHeader, { apiKey: 'k' });
  expect((await all(pages({}, LINK))).flatMap((page) => page.ids)).toEqual(ids);
});

test('parameters of a cursor replace those of the list by the same name, and are strings', async () => {
  const { accounts, pages, queries } = serviceOf(({ count }) => rowsOf(count === 1 ? [5, 6] : [7]));
  const next: CustomCursor<unknown>['next'] = ({ ids }) =>
    ids.includes('7') ? undefined : { parameters: { 'id[gt]': '6', size: '9' } };
  const options = { pagination: { first: {}, next }, parameters: { size: '2' } };
  await all(accounts.list({ id: { gt: '4' } }, options));
  expect(queries).toEqual(['id[gt]=4&size=2', 'size=9&id[gt]=6']);
  for (const cursor of [undefined, null, 5, ['a']]) {
    const wrong = { first: {}, next: () => ({ parameters: { cursor } }) } as never;
    expect(await caught(all(pages({}, { pagination: wrong })))).toMatchObject({
      code: 'invalid_input',
      argument: 'pagination.next.parameters',
    });
  }
});
