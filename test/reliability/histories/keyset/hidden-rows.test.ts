import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { versionOf } from '../service/chronicle.ts';
import { churn } from '../service/churn.ts';
import { clientOf, listPages } from '../service/client.ts';
import type { IdStyle } from '../service/ids.ts';
import { isById, ORDERS, type Order } from '../service/orders.ts';
import { SimServer } from '../service/server.ts';
import { anyHint } from './keyset-reader.ts';

/** Longer than any soak. */
const timeout = 3_600_000;
/** Reads for each combination; a soak runs up to 500. */
const READS = Math.min(500, Number(process.env.SOAK_HISTORIES ?? 1));
const HIDDEN = [0, 0.003, 0.02, 0.2];

interface ReadOf {
  readonly ids: IdStyle;
  readonly order: Order;
  readonly hidden: number;
  /** Changes for each request. */
  readonly rate: number;
  /** The length of a run of hidden rows, in pages. */
  readonly hiddenPages: number;
  readonly seed: number;
}

/** One read of a service that hides rows, changes meanwhile, and had another page size in the run before. */
async function readHidden({ ids, order, hidden, rate, hiddenPages, seed }: ReadOf) {
  // Weak references are kept until a task ends, and a simulation without this is a single one.
  await setImmediate();
  const random = new SeededRandom(seed * 7 + 3);
  const pageSize = random.pick([10, 30]);
  const records = random.pick([5, 40, 150, 400, 700]);
  const column = ids === 'int8' ? 'int8' : ids === 'clusters' || ids === 'int4' ? 'int4' : undefined;
  const server = new SimServer({
    ...{ seed, order, ids, records, pageSize, hidden },
    hiddenRun: hiddenPages * pageSize,
    ...(column === undefined ? {} : { column }),
  });
  server.afterResponse = () => churn(server, random, { rate });
  // A list of changes looks behind its end only if rows were hidden before, so a run of them must not come as a surprise.
  const hint = anyHint(server, random);
  const isChanges = random.chance(0.5) && (hiddenPages === 0 || hint?.pageSize === 0);
  const updatedSince = isChanges ? new Date(0) : undefined;
  const from = server.chronicle.moment;
  const delivered = new Set<string>();
  let complete: 'certain' | 'likely' | undefined;
  const { accounts } = clientOf(server);
  for await (const page of listPages(accounts, { updatedSince, hint, prefetch: random.int(0, 1) })) {
    if (page.restarted) delivered.clear();
    for (const record of page.records) delivered.add(versionOf(record));
    complete = page.complete;
    churn(server, random, { rate: rate / 2 });
  }
  const lost = server.chronicle
    .unchanged(from, server.chronicle.moment)
    .filter((record) => !delivered.has(versionOf(record)));
  return { lost: lost.length, complete, largestBound: server.largestBound };
}

const STYLES: readonly IdStyle[] = ['dense', 'sparse', 'bursts', 'clusters', 'int4', 'int8'];

test.each(STYLES.flatMap((ids) => (['id asc', 'id desc'] as const).map((order) => [ids, order] as const)))(
  'loses no record in id order, whatever share of the rows is hidden: %s, %s',
  { timeout },
  async (ids, order) => {
    for (const hidden of HIDDEN) {
      for (const rate of [0, 1]) {
        for (let seed = 0; seed < READS; seed++) {
          const read = { ids, order, hidden, rate, hiddenPages: 0, seed };
          const { lost, largestBound } = await readHidden(read);
          expect(lost, JSON.stringify(read)).toBe(0);
          if (ids === 'clusters' || ids === 'int4') expect(largestBound).toBeLessThan(2n ** 31n);
        }
      }
    }
  },
);

test.each(['dense', 'sparse', 'bursts'] as const)(
  'loses no record to a run of one hidden page, unless it says `likely`: %s',
  { timeout },
  async (ids) => {
    let [reads, likely] = [0, 0];
    for (const order of ['id asc', 'id desc'] as const) {
      for (const hidden of HIDDEN) {
        for (const rate of [0, 1]) {
          for (let seed = 0; seed < READS; seed++) {
            const read = { ids, order, hidden, rate, hiddenPages: 1, seed };
            const { lost, complete } = await readHidden(read);
            reads++;
            if (complete === 'likely') likely++;
            else expect(lost, JSON.stringify(read)).toBe(0);
          }
        }
      }
    }
    if (READS > 5) console.info(`${ids}: ${likely} of ${reads} reads were likely`);
  },
);

test.each(ORDERS.filter((order) => !isById(order)))(
  'says `likely` whenever a record is lost in another order: %s',
  { timeout },
  async (order) => {
    for (const hidden of HIDDEN) {
      let [reads, incomplete] = [0, 0];
      for (const ids of ['dense', 'sparse'] as const) {
        for (let seed = 0; seed < READS; seed++) {
          const read = { ids, order, hidden, rate: 1, hiddenPages: 0, seed };
          const { lost, complete } = await readHidden(read);
          reads++;
          if (lost === 0) continue;
          incomplete++;
          expect(complete, JSON.stringify(read)).toBe('likely');
          expect(hidden).toBeGreaterThan(0);
        }
      }
      if (READS > 5) console.info(`${order}, ${hidden} hidden: ${incomplete} of ${reads} reads incomplete`);
    }
  },
);
