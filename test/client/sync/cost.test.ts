import { changes, collectionNames, sync } from 'accounting-data-sdk';
import type { ListOrder } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { collect, setUpSync } from './set-up.ts';

const ORDERS: readonly ListOrder[] = [
  'id-asc',
  'id-desc',
  'created-asc',
  'created-desc',
  'updated-asc',
  'updated-desc',
  'none',
];
const PAGE_SIZE = 30;
const CHANGED = [0, 1, 5, 15, 29, 30, 31, 59, 60, 75, 90, 150];

function mostRequests(changed: number, order: ListOrder): number {
  if (changed === 0) return 1;
  // Records are created in the order of their ids, some of them in the same second.
  const isById = order.startsWith('id') || order === 'created-asc';
  const pages = Math.ceil(changed / PAGE_SIZE);
  return isById ? 2 * pages + 2 : 3 * pages + 11;
}

describe('a first sync', () => {
  test.each([
    [0, 2],
    [1, 5],
    [2, 5],
    [20, 5],
    [29, 5],
  ])('of %d records in each collection costs at most %d requests for each', async (records, most) => {
    const books = setUpSync({
      records: Object.fromEntries(collectionNames.map((name) => [name, records])),
      pageSize: PAGE_SIZE,
      clock: '2020-01-01T00:00:00Z',
    });
    books.sandbox.clock.set('2030-01-01T00:00:00Z');
    await sync(books.client, { ...books.run, onBatch: () => undefined });
    expect(books.sandbox.count()).toBeLessThanOrEqual(collectionNames.length * most);
    books.sandbox.clock.advance(3_600_000);
    books.sandbox.clearLogs();
    await sync(books.client, { ...books.run, onBatch: () => undefined });
    expect(books.sandbox.count()).toBe(collectionNames.length);
  });
});

describe('an incremental run', () => {
  test.each(ORDERS)(
    'with k changed records costs at most 2·ceil(k / page size) + 2 in id order, 3·ceil(k / page size) + 11 in another: %s',
    async (order) => {
      const books = setUpSync({ order, pageSize: PAGE_SIZE });
      const { accounts } = books.sandbox.store;
      for (let n = 0; n < 900; n++) {
        books.sandbox.clock.advance((n % 7) * 1000);
        accounts.insert({ id: String(1 + n * 3 + (n % 5 === 0 ? 1 : 0)) });
      }
      books.sandbox.clock.advance(3_600_000);
      await collect(changes(books.client.accounts, books.run));
      const ids = accounts.ids();
      for (const [round, k] of CHANGED.entries()) {
        books.sandbox.clock.advance(3_600_000);
        for (let n = 0; n < k; n++) {
          accounts.update(ids[(n * 7919 + round * 131) % ids.length] ?? '', { round });
          books.sandbox.clock.advance((n % 3) * 1000);
        }
        books.sandbox.clearLogs();
        const report = await collect(changes(books.client.accounts, books.run));
        expect(report.records).toBe(k);
        expect(books.sandbox.count(), `${k} changed`).toBeLessThanOrEqual(mostRequests(k, order));
        books.sandbox.clock.advance(3_600_000);
        await collect(changes(books.client.accounts, books.run));
      }
    },
  );

  test('of less than a page costs two requests once the timestamps have shown that the order is not by date', async () => {
    const books = setUpSync({ pageSize: PAGE_SIZE, records: { accounts: 90 }, timestampsEverywhere: true });
    const { accounts } = books.sandbox.store;
    const [first = '', second = ''] = accounts.ids();
    await collect(changes(books.client.accounts, books.run));
    for (const edited of [[second, first], [first], accounts.ids().slice(5, 32)]) {
      books.sandbox.clock.advance(3_600_000);
      for (const id of edited) {
        accounts.update(id, { name: 'edited' });
        books.sandbox.clock.advance(1_000);
      }
      books.sandbox.clearLogs();
      const report = await collect(changes(books.client.accounts, books.run));
      expect(report.records).toBeGreaterThanOrEqual(edited.length);
      if (edited.length !== 2) expect(books.sandbox.count()).toBe(2);
    }
  });
});
