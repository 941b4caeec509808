import type { Page } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const DAY = 'Sat, 31 Jan 2026 12:00';
const at = (second: number) => new Date(`2026-01-31T12:00:0${second}Z`);

/** Rows from an id on, up to another, three a page; each response a second after the one before. */
function service(count: number) {
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

async function pagesOf(fetch: ReturnType<typeof service>, options: object): Promise<Page<{ id: string }>[]> {
  const pages: Page<{ id: string }>[] = [];
  const list = scriptedClient(fetch).accounts.list({}, { prefetch: 0, ...options });
  for await (const page of list.pages()) pages.push(page);
  return pages;
}

test('every page has the time of the first response: all records are as new as that', async () => {
  const before = Date.now();
  const pages = await pagesOf(service(5), { pagination: 'page' });
  expect(pages.map(({ serverTime }) => serverTime)).toEqual([at(1), at(2)]);
  for (const { first } of pages) {
    expect(first.serverTime).toEqual(at(1));
    expect(first.requestedAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(first.requestedAt.getTime()).toBeLessThanOrEqual(Date.now());
  }
});

test('the first response counts even if nothing of it was delivered', async () => {
  const [page] = await pagesOf(service(5), { pagination: 'keyset' });
  expect(page).toMatchObject({ serverTime: at(2), first: { serverTime: at(1) } });
});

test('listeners get the invalid rows of a page together with the page', async () => {
  const seen: (string | undefined)[] = [];
  const fetch = scriptedFetch(
    jsonResponse([{ id: '1' }, { id: 2 }]),
    jsonResponse([{ id: '3' }, { id: 4 }]),
    jsonResponse([]),
  );
  const client = scriptedClient(fetch, {
    validation: 'report',
    on: { invalidRecord: ({ collection }) => seen.push(collection) },
  });
  const counts: number[] = [];
  for await (const page of client.accounts.list().pages()) counts.push(page.invalid.length, seen.length);
  expect(counts).toEqual([1, 1, 1, 2]);
  expect(seen).toEqual(['accounts', 'accounts']);
});

test('keyset pagination says on each page that it reads by page', async () => {
  const responses = [['a', 'b'], ['c'], []];
  const fetch = scriptedFetch(({ url }) =>
    jsonResponse((responses[Number(url.searchParams.get('_page') ?? 1) - 1] ?? []).map((id) => ({ id }))),
  );
  const pages = await pagesOf(fetch, { pagination: 'keyset' });
  expect(pages.map(({ pagination, records }) => [pagination, records.length])).toEqual([
    ['page', 2],
    ['page', 1],
  ]);
  const [first] = await pagesOf(service(2), { pagination: 'keyset' });
  expect(first?.pagination).toBe('keyset');
});

test('leaving the pages ends the list', async () => {
  const fetch = service(9);
  const pages = scriptedClient(fetch).accounts.list({}, { prefetch: 0 }).pages();
  await pages.next();
  expect(await pages.return?.()).toEqual({ done: true, value: undefined });
  expect(await pages.next()).toEqual({ done: true, value: undefined });
  expect(fetch.requests).toHaveLength(1);
});
