import type { AccountingError, PageResponse } from 'accounting-data-sdk';
import { expect, test } from 'vitest';

import { caught } from '../../support/caught.ts';
import {
  type FetchedRequest,
  jsonResponse,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';

const pageOf = ({ url }: FetchedRequest) => Number(url.searchParams.get('_page'));
const rows = (page: number, size = 2) =>
  Array.from({ length: size }, (_, index) => ({ id: String((page - 1) * size + index + 1) }));

/** The given number of pages of two records, then empty ones. */
const pagesOf = (count: number) =>
  scriptedFetch((request) => jsonResponse(pageOf(request) <= count ? rows(pageOf(request)) : []));

const ids = (records: readonly { id: string }[]) => records.map(({ id }) => id);

test('a list sends nothing before it is iterated, and each iteration reads again from the start', async () => {
  const fetch = pagesOf(2);
  const list = scriptedClient(fetch).accounts.list();
  const pages = list.pages();
  await settle();
  expect(fetch.requests).toHaveLength(0);
  await pages.return?.();

  for (let n = 1; n <= 2; n += 1) {
    const seen = [];
    for await (const record of list) seen.push(record.id);
    expect(seen).toEqual(['1', '2', '3', '4']);
    expect(fetch.requests).toHaveLength(3 * n);
  }
});

test('page is the first page that is requested', async () => {
  const fetch = pagesOf(4);
  expect(ids(await scriptedClient(fetch).accounts.list({ page: 3 }).toArray({ limit: 99 }))).toEqual([
    '5',
    '6',
    '7',
    '8',
  ]);
  expect(fetch.requests.map(pageOf)).toEqual([3, 4, 5]);
});

test.each([
  [0, 0, 0],
  [1, 1, 1],
  [2, 2, 1],
  [3, 3, 2],
  [4, 4, 2],
  [5, 5, 3],
  [6, 6, 3],
  [7, 6, 4],
  [Number.POSITIVE_INFINITY, 6, 4],
])('toArray with limit %d gives %i records of six in %i requests', async (limit, count, requests) => {
  for (const prefetch of [0, 1, 5]) {
    const fetch = pagesOf(3);
    const records = await scriptedClient(fetch).accounts.list({}, { prefetch }).toArray({ limit });
    expect(records).toHaveLength(count);
    await settle();
    if (prefetch <= 1) expect(fetch.requests).toHaveLength(requests);
    expect(fetch.requests.length).toBeLessThanOrEqual(
      limit === Number.POSITIVE_INFINITY || limit > 6 ? 9 : requests,
    );
  }
});

test.each(['page', 'a cursor'])(
  'toArray and %s read on if rows were dropped, until the limit is reached',
  async (kind) => {
    const cursor = {
      first: { page: 1 },
      next: ({ rows: { length } }: PageResponse<{ id: string }>) =>
        length === 0 ? undefined : { page: ++page },
    };
    let page = 1;
    // Of each page, one row is invalid and one was on the page before.
    const fetch = scriptedFetch((request) => {
      const number = pageOf(request);
      if (number > 4) return jsonResponse([]);
      return jsonResponse([{ id: number }, { id: `last of ${number - 1}` }, { id: `last of ${number}` }]);
    });
    const client = scriptedClient(fetch, { validation: 'report' });
    const pagination = kind === 'page' ? kind : cursor;
    const records = await client.accounts.list({}, { pagination, prefetch: 1 }).toArray({ limit: 4 });
    expect(ids(records)).toEqual(['last of 0', 'last of 1', 'last of 2', 'last of 3']);
  },
);

test.each([undefined, -1, 1.5, Number.NaN, '5', null, -Number.POSITIVE_INFINITY])(
  'toArray rejects the limit %j',
  async (limit) => {
    const fetch = pagesOf(1);
    const error = await caught(
      scriptedClient(fetch)
        .accounts.list()
        .toArray({ limit: limit as number }),
    );
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'limit' });
    expect(fetch.requests).toHaveLength(0);
  },
);

test('toArray without options is an InvalidInputError', async () => {
  const list = scriptedClient(pagesOf(1)).accounts.list() as unknown as { toArray(): Promise<unknown> };
  expect(await caught(list.toArray())).toMatchObject({ code: 'invalid_input', argument: 'limit' });
});

test('return ends a list while a page is in flight', async () => {
  const fetch = scriptedFetch(() => new Promise<Response>(() => {}));
  const records = scriptedClient(fetch).accounts.list()[Symbol.asyncIterator]();
  const pending = records.next();
  await settle();
  expect(await records.return?.()).toEqual({ done: true, value: undefined });
  expect(await pending).toEqual({ done: true, value: undefined });
  expect(await records.next()).toEqual({ done: true, value: undefined });
  expect(fetch.requests).toHaveLength(1);
});

test('calls of next that come at the same time get each record once, in order', async () => {
  const records = scriptedClient(pagesOf(3)).accounts.list()[Symbol.asyncIterator]();
  const results = await Promise.all(Array.from({ length: 8 }, () => records.next()));
  expect(results.map(({ value }) => value?.id)).toEqual(['1', '2', '3', '4', '5', '6', undefined, undefined]);
  expect(results.map(({ done }) => done)).toEqual([...Array(6).fill(false), true, true]);
});

test('an iterator of records or pages is its own iterable', async () => {
  const list = scriptedClient(pagesOf(1)).accounts.list();
  const seen = [];
  const records = list[Symbol.asyncIterator]() as AsyncIterableIterator<{ id: string }>;
  for await (const record of records) seen.push(record.id);
  const pages = list.pages();
  expect(pages[Symbol.asyncIterator]()).toBe(pages);
  expect(seen).toEqual(['1', '2']);
});

test('after an error a list is over', async () => {
  const fetch = scriptedFetch(problemResponse(403));
  const records = scriptedClient(fetch).accounts.list()[Symbol.asyncIterator]();
  const [first, second] = await Promise.allSettled([records.next(), records.next()]);
  expect([first?.status, second?.status]).toEqual(['rejected', 'rejected']);
  expect(await records.next()).toEqual({ done: true, value: undefined });
  expect(fetch.requests).toHaveLength(1);
});

test('an error of a list by page carries no token, because page n cannot be resumed', async () => {
  const fetch = scriptedFetch(jsonResponse(rows(1)), problemResponse(403, { type: 'forbidden' }));
  const error = await caught(scriptedClient(fetch).accounts.list().toArray({ limit: 99 }));
  expect(error).toMatchObject({ code: 'forbidden' });
  expect((error as AccountingError).resumeToken).toBeUndefined();
});

test('a cursor of the caller is followed with its parameters', async () => {
  const fetch = scriptedFetch(({ url }) => {
    const cursor = url.searchParams.get('cursor');
    return jsonResponse(cursor === null ? rows(1) : cursor === '2' ? rows(2) : []);
  });
  const pagination = {
    first: {},
    next: (page: PageResponse<unknown>) =>
      page.ids.length === 0 ? undefined : { parameters: { cursor: String(page.ids.at(-1)) } },
  };
  const pages = [];
  for await (const page of scriptedClient(fetch)
    .accounts.list({ updatedSince: '2026-01-31' }, { pagination })
    .pages())
    pages.push(page);
  expect(pages.flatMap(({ records }) => ids(records))).toEqual(['1', '2', '3', '4']);
  expect(pages[0]?.pagination).toBe('custom');
  expect(fetch.requests.map(({ url }) => url.search)).toEqual([
    '?updatedSince=2026-01-31',
    '?updatedSince=2026-01-31&cursor=2',
    '?updatedSince=2026-01-31&cursor=4',
  ]);
});
