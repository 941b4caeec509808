import type { CursorPage } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { problemResponse } from '../../support/scripted-fetch.ts';
import { settle } from '../../support/scripted-server.ts';
import { accountsOf, all, idsOf, listing, range, rowsOf, serviceOf } from './service.ts';

test('a list sends nothing before it is iterated, and each iteration reads again from the start', async () => {
  const { accounts, queries } = listing(range(1, 4), 2);
  const list = accounts.list({}, { pagination: 'page' });
  const pages = list.pages();
  await settle();
  expect(queries).toHaveLength(0);
  await pages.return?.();

  for (let n = 1; n <= 2; n += 1) {
    expect(await idsOf(list)).toEqual(['1', '2', '3', '4']);
    expect(queries).toHaveLength(4 * n);
  }
});

test.each([
  [0, 0, 0],
  [2, 2, 1],
  [3, 3, 2],
  [6, 6, 3],
  [7, 6, 5],
  [Number.POSITIVE_INFINITY, 6, 5],
])('toArray by page with limit %d gives %i records of six in %i requests', async (limit, count, requests) => {
  for (const prefetch of [0, 1, 5]) {
    const { accounts, queries } = listing(range(1, 6), 2);
    expect(await accounts.list({}, { prefetch, pagination: 'page' }).toArray({ limit })).toHaveLength(count);
    await settle();
    if (prefetch <= 1) expect(queries).toHaveLength(requests);
    expect(queries.length).toBeLessThanOrEqual(limit > 6 ? 10 : requests);
  }
});

test.each(['page', 'a cursor'])(
  'toArray and %s read on if rows were dropped, until the limit is reached',
  async (kind) => {
    let page = 1;
    const cursor = {
      first: { page: 1 },
      next: ({ rows: { length } }: CursorPage<{ id: string }>) =>
        length === 0 ? undefined : { page: ++page },
    };
    // Of each page, one row is invalid and one was on the page before.
    const { accounts } = serviceOf(
      ({ page: number = 1 }) =>
        number > 4 ? [] : [{ id: number }, ...rowsOf([`last of ${number - 1}`, `last of ${number}`])],
      { validation: 'report' },
    );
    const pagination = kind === 'page' ? kind : cursor;
    const records = await accounts.list({}, { pagination, prefetch: 1 }).toArray({ limit: 4 });
    expect(records.map(({ id }) => id)).toEqual(['last of 0', 'last of 1', 'last of 2', 'last of 3']);
  },
);

test('calls of next that come at the same time get each record once, in order', async () => {
  const { accounts } = listing(range(1, 6), 2);
  const records = accounts.list()[Symbol.asyncIterator]();
  const results = await Promise.all(Array.from({ length: 8 }, () => records.next()));
  expect(results.map(({ value }) => value?.id)).toEqual(['1', '2', '3', '4', '5', '6', undefined, undefined]);
  expect(results.map(({ done }) => done)).toEqual([...Array(6).fill(false), true, true]);
});

test('a list is over after an error', async () => {
  const { accounts, queries } = serviceOf(() => problemResponse(403));
  const records = accounts.list()[Symbol.asyncIterator]();
  const failed = caught(records.next());
  const over = { done: true, value: undefined };
  expect([await records.next(), await records.next()]).toEqual([over, over]);
  expect(await failed).toMatchObject({ code: 'forbidden' });
  expect(queries).toHaveLength(1);
});

test.each([
  ['page', 0],
  // Its first response is requested again, narrowed, and not delivered.
  ['keyset', 1],
] as const)(
  'every page has the time of the first response, because all records are as new as that: %s',
  async (pagination, seconds) => {
    const { sandbox, accounts } = accountsOf(range(1, 5), { pageSize: 3, clock: '2026-01-31T12:00:00Z' });
    sandbox.onRequest(() => sandbox.clock.advance(1_000));
    const before = Date.now();
    const pages = await all(accounts.list({}, { pagination, prefetch: 0 }).pages());
    expect(pages[0]?.serverTime).toEqual(new Date(`2026-01-31T12:00:0${seconds}Z`));
    for (const { first } of pages) {
      expect(first.serverTime).toEqual(new Date('2026-01-31T12:00:00Z'));
      expect(first.requestedAt.getTime()).toBeGreaterThanOrEqual(before);
      expect(first.requestedAt.getTime()).toBeLessThanOrEqual(Date.now());
    }
  },
);
