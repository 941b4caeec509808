import { expect, test } from 'vitest';
import type { Page } from '../../../src/pagination/page.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const DAY = 'Sat, 31 Jan 2026 12:00';
const at = (second: number) => new Date(`2026-01-31T12:00:0${second}Z`);

/** Rows from an id on, up to another, three a page; each answer a second after the one before. */
function books(count: number) {
  const fetch = scriptedFetch(({ url }) => {
    const { searchParams } = url;
    const page = Number(searchParams.get('_page') ?? 1);
    const from = Number(searchParams.get('id[gt]') ?? 0);
    const to = Number(searchParams.get('id[lte]') ?? count);
    const rows = Array.from({ length: Math.min(to, count) - from }, (_, n) => ({ id: String(from + n + 1) }));
    const date = `${DAY}:0${fetch.requests.length} GMT`;
    return jsonResponse(rows.slice((page - 1) * 3, page * 3), 200, { date });
  });
  return fetch;
}

async function pagesOf(fetch: ReturnType<typeof books>, options: object): Promise<Page<{ id: string }>[]> {
  const pages: Page<{ id: string }>[] = [];
  const walk = scriptedClient(fetch).accounts.list({}, { prefetch: 0, ...options });
  for await (const page of walk.pages()) pages.push(page);
  return pages;
}

test('every page tells of the first answer: all that is delivered is as new', async () => {
  const before = Date.now();
  const pages = await pagesOf(books(5), { pagination: 'page' });
  expect(pages.map(({ serverTime }) => serverTime)).toEqual([at(1), at(2)]);
  for (const { first } of pages) {
    expect(first.serverTime).toEqual(at(1));
    expect(first.requestedAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(first.requestedAt.getTime()).toBeLessThanOrEqual(Date.now());
  }
});

test('the first answer counts also where nothing of it was delivered', async () => {
  const [page] = await pagesOf(books(5), { pagination: 'keyset' });
  expect(page).toMatchObject({ serverTime: at(2), first: { serverTime: at(1) } });
});

test('a page tells how many rows an answer had so far, also one that was not delivered', async () => {
  const byPages = await pagesOf(books(7), { pagination: 'page' });
  expect(byPages.map(({ records, longestPage }) => [records.length, longestPage])).toEqual([
    [3, 3],
    [3, 3],
    [1, 3],
  ]);
  const [certified] = await pagesOf(books(5), { pagination: 'keyset' });
  expect([certified?.records.length, certified?.longestPage]).toEqual([2, 3]);
});

test('rows that fit no schema are told of with the page that they are of', async () => {
  const told: (string | undefined)[] = [];
  const fetch = scriptedFetch(
    jsonResponse([{ id: '1' }, { id: 2 }]),
    jsonResponse([{ id: '3' }, { id: 4 }]),
    jsonResponse([]),
  );
  const client = scriptedClient(fetch, {
    validation: 'report',
    on: { invalidRecord: ({ collection }) => told.push(collection) },
  });
  const counts: number[] = [];
  for await (const page of client.accounts.list().pages()) counts.push(page.invalid.length, told.length);
  expect(counts).toEqual([1, 1, 1, 2]);
  expect(told).toEqual(['accounts', 'accounts']);
});

test('a certified walk says of each page that it came to read by pages', async () => {
  const answers = [['a', 'b'], ['c'], []];
  const fetch = scriptedFetch(({ url }) =>
    jsonResponse((answers[Number(url.searchParams.get('_page') ?? 1) - 1] ?? []).map((id) => ({ id }))),
  );
  const pages = await pagesOf(fetch, { pagination: 'keyset' });
  expect(pages.map(({ pagination, records }) => [pagination, records.length])).toEqual([
    ['page', 2],
    ['page', 1],
  ]);
  const [certified] = await pagesOf(books(2), { pagination: 'keyset' });
  expect(certified?.pagination).toBe('keyset');
});

test('a limit that cannot be right is refused in words', async () => {
  const walk = scriptedClient(books(2)).accounts.list();
  await expect(walk.toArray({ limit: 1.5 })).rejects.toThrow('limit: must be a whole number or Infinity');
});

test('leaving the pages of a walk ends it', async () => {
  const fetch = books(9);
  const pages = scriptedClient(fetch).accounts.list({}, { prefetch: 0 }).pages();
  await pages.next();
  expect(await pages.return?.()).toEqual({ done: true, value: undefined });
  expect(await pages.next()).toEqual({ done: true, value: undefined });
  expect(fetch.requests).toHaveLength(1);
});

test('a page of nothing but repeats is not handed out', async () => {
  const answers = [['1', '2', '3'], ['4', '5', '6'], ['2', '5'], ['7'], []];
  const fetch = scriptedFetch(({ url }) =>
    jsonResponse((answers[Number(url.searchParams.get('_page')) - 1] ?? []).map((id) => ({ id }))),
  );
  const pages = await pagesOf(fetch, {});
  expect(pages.map(({ records }) => records.map(({ id }) => id))).toEqual([
    ['1', '2', '3'],
    ['4', '5', '6'],
    ['7'],
  ]);
});
