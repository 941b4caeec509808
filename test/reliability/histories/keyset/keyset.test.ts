import type { IdBounds } from 'accounting-data-sdk';
import { describe, expect, test } from 'vitest';
import { eachSeed, seedsToRun } from '../../../support/seeds.ts';
import { type HistoryOptions, readChanging } from './history.ts';
import { type KeysetReaderOptions, readKeyset } from './keyset-reader.ts';

/** Longer than any soak. */
const timeout = 3_600_000;

async function losesNothing(history: HistoryOptions, options?: KeysetReaderOptions): Promise<void> {
  const verdict = await readChanging((server, random) => readKeyset(server, random, options), history);
  const inBounds = ({ id }: { id: string }) => isInside(id, options?.bounds);
  expect(verdict.lost.filter(inBounds)).toEqual([]);
  expect(verdict.untrue).toEqual([]);
}

function isInside(id: string, bounds: IdBounds | undefined): boolean {
  const { gt = '-1', lte = '9'.repeat(30) } = bounds ?? {};
  return BigInt(id) > BigInt(gt) && BigInt(id) <= BigInt(lte);
}

describe('keyset pagination loses nothing and delivers nothing untrue', { timeout }, () => {
  test('from data that change after every single request, in any order', async () => {
    await eachSeed(seedsToRun(40), (seed) => losesNothing({ seed, churn: { rate: 1 } }));
  });

  test('stopped after any page and resumed from its token', async () => {
    await eachSeed(seedsToRun(20, 0.5), (seed) => losesNothing({ seed, churn: { rate: 1 } }, { stops: 0.3 }));
  });

  test('within bounds of the caller', async () => {
    await eachSeed(seedsToRun(10, 0.2), (seed) => {
      const bounds = { gt: String(10 + (seed % 400)), lte: String(500 + seed * 3) };
      return losesNothing({ seed, churn: { rate: 1 } }, { bounds, stops: 0.1 });
    });
  });

  test('from data of hundreds of records', async () => {
    await eachSeed(seedsToRun(2, 0.05), (seed) =>
      losesNothing({ seed, records: 300 + (seed % 200), pageSize: 30, churn: { rate: 1 } }, { stops: 0.05 }),
    );
  });
});
