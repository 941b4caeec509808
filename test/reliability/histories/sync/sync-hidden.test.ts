import { expect, test } from 'vitest';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { eachSeed } from '../../../support/seeds.ts';
import type { IdStyle } from '../service/ids.ts';
import type { Order } from '../service/orders.ts';
import { runRepeatedly } from './sync-history.ts';

/** Longer than any soak. */
const timeout = 3_600_000;
const SOAK = Number(process.env.SOAK_HISTORIES ?? 0);
/** Histories for each combination; a soak runs up to 500. */
const HISTORIES = SOAK === 0 ? 3 : Math.min(500, SOAK);
const REPLAYED = process.env.SEED ?? '';
const HIDDEN = [0, 0.003, 0.02, 0.2];

interface Combination {
  readonly ids: IdStyle;
  readonly order: Order;
  readonly hidden: number;
  /** Changes for each request. */
  readonly churn: number;
  /** The length of a run of hidden rows, in pages. */
  readonly hiddenPages: number;
}

/** One history of a service that hides rows and cuts longer and shorter pages from run to run. */
async function history({ hiddenPages, ...combination }: Combination, seed: number) {
  const random = new SeededRandom(seed * 11 + 5);
  const pageSize = random.pick([10, 30]);
  return runRepeatedly({
    ...combination,
    seed,
    records: random.pick([5, 40, 150, 400]),
    pageSizes: [pageSize, pageSize + 3, pageSize * 2],
    hiddenRun: hiddenPages * pageSize,
  });
}

const SERVICES = (['dense', 'sparse', 'bursts'] as const).flatMap((ids) =>
  (['id asc', 'id desc'] as const).map((order) => [ids, order] as const),
);

/** Runs the histories of one service, whatever share of its rows is hidden, and calls `judge` for each. */
async function eachHistory(
  { ids, order }: Pick<Combination, 'ids' | 'order'>,
  pages: readonly number[],
  judge: (verdict: Awaited<ReturnType<typeof history>>, combination: Combination) => void,
): Promise<void> {
  const seeds = REPLAYED === '' ? Array.from({ length: HISTORIES }, (_, index) => index) : [Number(REPLAYED)];
  const seen = { histories: 0, runs: 0, crashes: 0, likely: 0 };
  for (const hidden of HIDDEN) {
    for (const churn of [0, 1]) {
      for (const hiddenPages of pages) {
        const combination = { ids, order, hidden, churn, hiddenPages };
        await eachSeed(seeds, async (seed) => {
          const verdict = await history(combination, seed);
          judge(verdict, combination);
          seen.histories++;
          seen.runs += verdict.runs;
          seen.crashes += verdict.crashes;
          if (verdict.likely) seen.likely++;
        });
      }
    }
  }
  if (SOAK > 0) console.info(ids, order, JSON.stringify(seen));
}

test.each(SERVICES)(
  'a copy kept by runs alone lacks no record of a service that hides single rows: %s, %s',
  { timeout },
  async (ids, order) => {
    await eachHistory({ ids, order }, [0], ({ lost }, combination) => {
      expect(lost, JSON.stringify(combination)).toEqual([]);
    });
  },
);

test.each(SERVICES)(
  'a copy kept by runs alone lacks no record behind one hidden page, unless a run said `likely`: %s, %s',
  { timeout },
  async (ids, order) => {
    await eachHistory({ ids, order }, [1], ({ lost, likely }, combination) => {
      if (!likely) expect(lost, JSON.stringify(combination)).toEqual([]);
    });
  },
);
