import type { ListOrder } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { HOUR_MS, readAccounts, setUpSync } from './set-up.ts';

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

  test('of less than a page costs two requests once the timestamps have shown that the order is not by date', async () => {
    const books = setUpSync({ pageSize: PAGE_SIZE, records: { accounts: 90 }, timestampsEverywhere: true });
    const { accounts } = books.sandbox.store;
    const [first = '', second = ''] = accounts.ids();
    await readAccounts(books);
    const edit = async (ids: readonly string[]) => {
      books.sandbox.clock.advance(HOUR_MS);
      for (const id of ids) {
        accounts.update(id, { name: 'edited' });
        books.sandbox.clock.advance(1_000);
      }
      books.sandbox.clearLogs();
      await readAccounts(books);
      return books.sandbox.count();
    };
    await edit([second, first]);
    expect(await edit([first])).toBe(2);
    expect(await edit(accounts.ids().slice(5, 32))).toBe(2);
  });
});
