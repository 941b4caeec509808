import type { ListOrder } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { HOUR_MS, readAccounts, setUpSync } from './set-up.ts';

const PAGE_SIZE = 30;
const ORDERS: readonly ListOrder[] = ['id-asc', 'id-desc', 'created-desc', 'updated-asc', 'none'];

/** Of a run that reads k changed records. */
function mostRequests(changed: number, order: ListOrder): number {
  if (changed === 0) return 1;
  const pages = Math.ceil(changed / PAGE_SIZE);
  return order.startsWith('id') ? 2 * pages + 2 : 3 * pages + 4;
}

describe('a first run', () => {
  test.each(ORDERS)(
    'costs two requests for no record, and at most five for less than a page: %s',
    async (order) => {
      for (const gap of [1, 1_000]) {
        for (const records of [0, 1, 29]) {
          const books = setUpSync({
            order,
            ids: { gap },
            pageSize: PAGE_SIZE,
            records: { accounts: records },
          });
          expect(await readAccounts(books)).toMatchObject({ records });
          expect(books.sandbox.count(), `${records} records`).toBeLessThanOrEqual(records === 0 ? 2 : 5);
        }
      }
    },
  );
});

describe('an incremental run', () => {
  test.each(ORDERS)(
    'costs one request if nothing changed, or at most two for each page of changes and two more (three and four if not in id order): %s',
    async (order) => {
      const books = setUpSync({ order, pageSize: PAGE_SIZE });
      const { accounts } = books.sandbox.store;
      for (let n = 0; n < 120; n++) {
        books.sandbox.clock.advance((n % 7) * 1000);
        accounts.insert({ id: String(1 + n * 3 + (n % 5 === 0 ? 1 : 0)) });
      }
      books.sandbox.clock.advance(HOUR_MS);
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
        expect(books.sandbox.count(), `${changed} changed`).toBeLessThanOrEqual(mostRequests(changed, order));
        books.sandbox.clock.advance(HOUR_MS);
        await readAccounts(books);
      }
    },
  );
});
