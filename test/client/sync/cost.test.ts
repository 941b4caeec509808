import { collectionNames } from 'accounting-data-sdk';
import type { ListOrder } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { HOUR_MS, readAccounts, setUpSync, syncAll } from './set-up.ts';

const PAGE_SIZE = 30;
const ORDERS: readonly ListOrder[] = ['id-asc', 'id-desc', 'created-desc', 'updated-asc', 'none'];

/** Of a run that reads k changed records. */
function mostRequests(changed: number, order: ListOrder): number {
  if (changed === 0) return 1;
  const pages = Math.ceil(changed / PAGE_SIZE);
  return order.startsWith('id') ? 2 * pages + 2 : 3 * pages + 11;
}

describe('a first run', () => {
  test.each(ORDERS)(
    'costs two requests for no record, and for less than a page at most five, or ten if not in id order: %s',
    async (order) => {
      for (const gap of [1, 1_000]) {
        for (const records of [0, 1, 2, 20, 29]) {
          const books = setUpSync({
            order,
            ids: { gap },
            pageSize: PAGE_SIZE,
            records: { accounts: records },
          });
          expect(await readAccounts(books)).toMatchObject({ records });
          const most = records === 0 ? 2 : order.startsWith('id') ? 5 : 10;
          expect(books.sandbox.count(), `${records} records`).toBeLessThanOrEqual(most);
        }
      }
    },
  );
});

describe('an incremental run', () => {
  test.each(ORDERS)(
    'costs one request if nothing changed, or at most two for each page of changes and two more (three and eleven if not in id order): %s',
    async (order) => {
      const books = setUpSync({ order, pageSize: PAGE_SIZE });
      const { accounts } = books.sandbox.store;
      for (let n = 0; n < 300; n++) {
        books.sandbox.clock.advance((n % 7) * 1000);
        accounts.insert({ id: String(1 + n * 3 + (n % 5 === 0 ? 1 : 0)) });
      }
      books.sandbox.clock.advance(HOUR_MS);
      await readAccounts(books);
      const ids = accounts.ids();
      for (const [round, changed] of [0, 1, 15, 29, 30, 31, 60, 150].entries()) {
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

  test.each(ORDERS)(
    'costs at most four requests for three changes, edited in any order, in each of 14 collections: %s',
    async (order) => {
      for (const edits of [
        [4, 5, 6],
        [6, 5, 4],
        [5, 4, 6],
        [6, 4, 5],
      ]) {
        const records = Object.fromEntries(collectionNames.map((name) => [name, 20]));
        const books = setUpSync({ order, pageSize: PAGE_SIZE, records, timestampsEverywhere: true });
        await syncAll(books);
        books.sandbox.clock.advance(HOUR_MS);
        for (const name of collectionNames) {
          const stored = books.sandbox.store[name];
          const ids = stored.ids();
          for (const edit of edits) {
            stored.update(ids[edit] ?? '', {});
            books.sandbox.clock.advance(1_000);
          }
        }
        books.sandbox.clearLogs();
        expect((await syncAll(books)).records).toBe(3 * 14);
        expect(books.sandbox.count()).toBeLessThanOrEqual(4 * 14);
      }
    },
  );
});
