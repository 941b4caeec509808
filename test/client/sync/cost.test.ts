import type { ListOrder } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { HOUR_MS, readAccounts, setUpSync } from './set-up.ts';

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
