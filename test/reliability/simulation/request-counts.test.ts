import type { ListHint } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { clientOf, listPages } from './client.ts';
import { isById, ORDERS, type Order } from './orders.ts';
import { type SimOptions, SimServer } from './server.ts';

const soak = process.env.SOAK_HISTORIES !== undefined;
const SEEDS = soak ? [0, 1, 2] : [0];
const PAGE_SIZE = 30;

/** Not a test of how busy the machine is. */
const timeout = 3_600_000;

/** The requests of a read while nothing changes; every record comes once. */
async function requestsOf(
  pagination: 'page' | 'keyset',
  options: Pick<SimOptions, 'seed' | 'order' | 'ids'>,
): Promise<number> {
  const server = new SimServer({ ...options, records: 3_000, pageSize: PAGE_SIZE });
  let records = 0;
  for await (const page of listPages(clientOf(server).accounts, { pagination }))
    records += page.records.length;
  expect(records).toBe(3_000);
  return server.requests;
}

// In another order, an eighth of all short responses is checked as well.
test.each([
  ['dense', 1.31, 1.63],
  ['sparse', 1.55, 2.05],
] as const)(
  'keyset pagination of %s ids takes at most %d times the requests of pages in id order, %d times in another',
  { timeout },
  async (ids, byId, other) => {
    for (const order of ORDERS) {
      let [pages, intervals] = [0, 0];
      for (const seed of SEEDS) {
        pages += await requestsOf('page', { seed, order, ids });
        intervals += await requestsOf('keyset', { seed, order, ids });
      }
      if (soak) console.info(order, ids, (intervals / pages).toFixed(3));
      expect(intervals / pages, order).toBeLessThanOrEqual(isById(order) ? byId : other);
    }
  },
);

/** 1,500 records of which some were written to within the last hour. */
function changedData(options: Pick<SimOptions, 'seed' | 'order' | 'ids'>, changed: number) {
  const server = new SimServer({ ...options, records: 1_500, pageSize: PAGE_SIZE });
  const all = server.records;
  const updatedSince = new Date(server.nowMs);
  for (let index = 0; index < changed; index++) {
    // 791 and 1,500 have no common divisor: another record each time.
    const record = all[(index * 791 + options.seed * 131) % all.length];
    if (record !== undefined) server.update(record.id);
    server.advance(1_000);
  }
  return { server, updatedSince };
}

const CHANGED = soak
  ? [0, 1, 2, 5, 15, 29, 30, 31, 59, 60, 75, 90, 120, 150, 300, 330, 600, 1_000]
  : [0, 1, 30, 31, 330];

/** The worst number of requests for the given number of changed records. */
async function mostRequests(
  orders: readonly Order[],
  changed: number,
  hint?: Pick<ListHint, 'pageSize' | 'sortedById'>,
) {
  let most = 0;
  for (const order of orders) {
    for (const ids of ['dense', 'sparse'] as const) {
      for (const seed of SEEDS) {
        const { server, updatedSince } = changedData({ seed, order, ids }, changed);
        let records = 0;
        const known = hint && ({ ...hint, order: order === 'id desc' ? 'desc' : 'asc' } as const);
        const pages = listPages(clientOf(server).accounts, { updatedSince, hint: known });
        for await (const page of pages) records += page.records.length;
        expect(records).toBe(changed);
        most = Math.max(most, server.requests);
      }
    }
  }
  return most;
}

const BY_ID = ORDERS.filter(isById);

test('takes few requests for changed records in id order, once page size and order are known', {
  timeout,
}, async () => {
  const hint = { pageSize: PAGE_SIZE, sortedById: true };
  for (const changed of CHANGED) {
    const pages = Math.ceil(changed / PAGE_SIZE);
    const most = changed === 0 ? 1 : changed < PAGE_SIZE ? 2 : 2 * pages + 2;
    expect(await mostRequests(BY_ID, changed, hint), `${changed}`).toBeLessThanOrEqual(most);
  }
});

// Until the list is known to be sorted by id, a first response of less than a page is narrowed, as the first one of a read is.
test('takes at most two requests a page and two more for changed records while the list is not known to be sorted by id', {
  timeout,
}, async () => {
  const hint = { pageSize: PAGE_SIZE, sortedById: false };
  for (const changed of CHANGED) {
    const most = changed === 0 ? 1 : 2 * Math.ceil(changed / PAGE_SIZE) + 2;
    expect(await mostRequests(BY_ID, changed, hint), `${changed}`).toBeLessThanOrEqual(most);
  }
});

// Four that read, and one that looks behind the end: a service that hides rows may have a page of hidden ones there.
test('takes at most five requests for less than a page in id order, before the page size is known', async () => {
  for (const changed of [1, 2, 29]) {
    expect(await mostRequests(BY_ID, changed), `${changed}`).toBeLessThanOrEqual(5);
  }
});

test('takes at most three requests a page and eleven more for changed records in another order', {
  timeout,
}, async () => {
  for (const changed of CHANGED) {
    const most = 3 * Math.ceil(changed / PAGE_SIZE) + 11;
    const orders = ORDERS.filter((order) => !isById(order));
    expect(await mostRequests(orders, changed), `${changed}`).toBeLessThanOrEqual(most);
  }
});
