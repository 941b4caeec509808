import type { ListOrder } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { settle } from '../../support/scripted-server.ts';
import { clientOf, HOUR_MS, readAccounts, setUpSync, syncAll, withAccounts } from './set-up.ts';

/** 200 accounts in pages of 10, a quota that has so many requests left, and how many a run has in flight at most. */
function accounts(remaining = 1_000, pagination?: 'page') {
  const books = withAccounts(200);
  let [inFlight, most] = [0, 0];
  const client = clientOf(books.sandbox, {
    rateLimiter: false,
    pagination,
    fetch: async (url, init) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await settle(3);
      inFlight -= 1;
      const response = await books.sandbox.fetch(url, init);
      response.headers.set('x-ratelimit-limit', '1000');
      response.headers.set('x-ratelimit-remaining', String(remaining));
      return response;
    },
  });
  /** How many requests of a sync are in flight at most, and how many records it delivers. */
  const run = async (options: Parameters<typeof syncAll>[1] = {}) => {
    most = 0;
    const { records } = await syncAll({ ...books, client }, { collections: ['accounts'], ...options });
    return { most, records };
  };
  return { ...books, run };
}

test('a run that reads everything requests four pages ahead: not by page, with a small quota left, or of changes', async () => {
  const { sandbox, run } = accounts();
  expect(await run()).toEqual({ most: 4, records: 200 });
  sandbox.clock.advance(HOUR_MS);
  for (const id of sandbox.store.accounts.ids()) sandbox.store.accounts.update(id, { name: 'changed' });
  expect(await run()).toEqual({ most: 1, records: 200 });
  expect(await run({ mode: 'full' })).toEqual({ most: 4, records: 200 });
  expect(await accounts(1_000, 'page').run()).toEqual({ most: 1, records: 200 });
  expect(await accounts(7).run()).toEqual({ most: 1, records: 200 });
});

const PAGE_SIZE = 30;
const ORDERS: readonly ListOrder[] = ['id-asc', 'id-desc', 'created-desc', 'updated-asc', 'none'];

test.each(ORDERS)(
  'a run costs one request if nothing changed, or a few more than two for each page of changes (three if not in id order): %s',
  async (order) => {
    for (const records of [0, 1, 29]) {
      const books = setUpSync({ order, pageSize: PAGE_SIZE, records: { accounts: records } });
      expect(await readAccounts(books)).toMatchObject({ records });
      expect(books.sandbox.count(), `${records} records`).toBeLessThanOrEqual(records === 0 ? 2 : 5);
    }
    const books = setUpSync({ order, ids: { gap: 3 }, pageSize: PAGE_SIZE, records: { accounts: 120 } });
    const { accounts } = books.sandbox.store;
    await readAccounts(books);
    const ids = accounts.ids();
    for (const [round, changed] of [0, 3, 30, 31, 60].entries()) {
      books.sandbox.clock.advance(HOUR_MS);
      for (let n = 0; n < changed; n++) {
        accounts.update(ids[(n * 7919 + round * 131) % ids.length] ?? '', { round });
        books.sandbox.clock.advance((n % 3) * 1000);
      }
      books.sandbox.clearLogs();
      expect(await readAccounts(books)).toMatchObject({ records: changed });
      const pages = Math.ceil(changed / PAGE_SIZE);
      const most = changed === 0 ? 1 : order.startsWith('id') ? 2 * pages + 2 : 3 * pages + 4;
      expect(books.sandbox.count(), `${changed} changed`).toBeLessThanOrEqual(most);
      books.sandbox.clock.advance(HOUR_MS);
      await readAccounts(books);
    }
  },
);
