import { expect, test } from 'vitest';
import { clientOf, listPages } from '../service/client.ts';
import { isById, ORDERS } from '../service/orders.ts';
import { type SimOptions, SimServer } from '../service/server.ts';

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
  ['bursts', 2.5, 4.8],
] as const)(
  'keyset pagination of 3,000 %s ids takes at most %d times the requests of pages in id order, %d times in another',
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
