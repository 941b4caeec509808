import { expect, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { clientOf, listPages, type SimListOptions } from '../service/client.ts';
import { ORDERS as ALL_ORDERS, isById } from '../service/orders.ts';
import { type SimOptions, SimServer } from '../service/server.ts';

const ORDERS = process.env.SOAK_HISTORIES === undefined ? (['id asc', 'none'] as const) : ALL_ORDERS;
const RECORDS = 3_000;
const PAGE_SIZE = 30;

/** By page, with the empty one at the end. */
const REQUESTS_BY_PAGE = RECORDS / PAGE_SIZE + 1;

/** The requests of a read by id while nothing changes; every record comes once. */
async function requestsOf(
  options: Pick<SimOptions, 'seed' | 'order' | 'ids'>,
  listOptions: SimListOptions = {},
): Promise<number> {
  const server = new SimServer({ ...options, records: RECORDS, pageSize: PAGE_SIZE });
  let records = 0;
  for await (const page of listPages(clientOf(server).accounts, listOptions)) records += page.records.length;
  expect(records).toBe(RECORDS);
  return server.requests;
}

test.each([
  ['dense', 1.08, 1.2, 1.2],
  ['sparse', 1.55, 1.7, 2],
  ['bursts', 2.2, 4.9, 2.5],
] as const)(
  'keyset pagination of 3,000 %s ids takes at most %d times the requests of pages in id order, %d times in another, and %d times with four ahead',
  NO_HURRY,
  async (ids, byId, other, ahead) => {
    const requestsAhead = await requestsOf({ seed: 0, order: 'id asc', ids }, { prefetch: 4 });
    expect(requestsAhead / REQUESTS_BY_PAGE).toBeLessThanOrEqual(ahead);
    for (const order of ORDERS) {
      const ratio = (await requestsOf({ seed: 0, order, ids })) / REQUESTS_BY_PAGE;
      expect(ratio, order).toBeLessThanOrEqual(isById(order) ? byId : other);
    }
  },
);

test.each(['dense', 'sparse', 'bursts'] as const)(
  "keyset pagination of 3,000 %s ids with listOrder: 'id' takes at most 1.05 times the requests of pages",
  async (ids) => {
    const requests = await requestsOf({ seed: 0, order: 'id asc', ids }, { listOrder: 'id', prefetch: 4 });
    expect(requests / REQUESTS_BY_PAGE).toBeLessThanOrEqual(1.05);
  },
);
