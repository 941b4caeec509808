import { expect, it } from 'vitest';
import { certifiedWalk } from '../../src/pagination/certified.ts';
import type { FetchPage, WalkSteps } from '../../src/pagination/page.ts';
import { pagesWalk } from '../../src/pagination/pages.ts';
import type { SimRecord } from './chronicle.ts';
import { ORDERS } from './orders.ts';
import { type SimOptions, SimServer } from './server.ts';

const SEEDS = [0, 1, 2];
const PAGE_SIZE = 30;

/** No test of how busy the machine is. */
const timeout = 3_600_000;

type Way = (fetchPage: FetchPage<SimRecord>) => WalkSteps<SimRecord>;

const pages: Way = (fetchPage) => pagesWalk(fetchPage, { start: 1, prefetch: 1, afterLastPage: 'empty' });
const certified: Way = (fetchPage) => certifiedWalk(fetchPage, { prefetch: 1, afterLastPage: 'empty' });

/** The requests of a walk over books that rest; every record comes once. */
async function requestsOf(way: Way, options: Pick<SimOptions, 'seed' | 'order' | 'ids'>): Promise<number> {
  const server = new SimServer({ ...options, records: 3_000, pageSize: PAGE_SIZE });
  let records = 0;
  for await (const step of way(server.fetchPage())) records += step.records.length;
  expect(records).toBe(3_000);
  return server.requests;
}

it.each([
  ['dense', 1.35],
  ['sparse', 1.8],
] as const)(
  'a certified walk over %s ids takes at most %d times the requests of pages',
  { timeout },
  async (ids, most) => {
    for (const order of ORDERS) {
      let [byPages, byIntervals] = [0, 0];
      for (const seed of SEEDS) {
        byPages += await requestsOf(pages, { seed, order, ids });
        byIntervals += await requestsOf(certified, { seed, order, ids });
      }
      if (process.env.SOAK_HISTORIES !== undefined)
        console.info(order, ids, (byIntervals / byPages).toFixed(3));
      expect(byIntervals / byPages, order).toBeLessThanOrEqual(most);
    }
  },
);

/** Books of 1,500 records of which some were written to within the last hour. */
function changedBooks(options: Pick<SimOptions, 'seed' | 'order' | 'ids'>, changed: number) {
  const server = new SimServer({ ...options, records: 1_500, pageSize: PAGE_SIZE });
  const all = server.records;
  const updatedSince = new Date(server.nowMs);
  for (let index = 0; index < changed; index++) {
    // 791 and 1,500 have no common divisor: another record each time.
    const record = all[(index * 791 + options.seed * 131) % all.length];
    if (record !== undefined) server.update(record.id);
    server.advance(1_000);
  }
  return { server, fetchPage: server.fetchPage({ updatedSince }) };
}

it.each([0, 1, 29, 30, 31, 75, 120, 300, 1_000])(
  'a certified walk over %d changed records takes few requests once the page size is known',
  { timeout },
  async (changed) => {
    const most = changed === 0 ? 1 : 2 * Math.ceil(changed / PAGE_SIZE) + 4;
    for (const order of ORDERS) {
      for (const ids of ['dense', 'sparse'] as const) {
        for (const seed of SEEDS) {
          const { server, fetchPage } = changedBooks({ seed, order, ids }, changed);
          let records = 0;
          const options = { prefetch: 1, afterLastPage: 'empty', pageSizeHint: PAGE_SIZE } as const;
          for await (const step of certifiedWalk(fetchPage, options)) records += step.records.length;
          expect(records).toBe(changed);
          expect(server.requests, `${order}, ${ids}, seed ${seed}`).toBeLessThanOrEqual(most);
        }
      }
    }
  },
);
