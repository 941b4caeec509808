import { describe, expect, test } from 'vitest';
import { eachSeed, seedsToRun } from '../../support/seeds.ts';
import { liveThrough } from './sync-history.ts';
import type { WorldOptions } from './sync-world.ts';

/** Longer than any soak, on any machine. */
const timeout = 3_600_000;

async function endsEqual(world: WorldOptions): Promise<{ runs: number; crashes: number }> {
  const verdict = await liveThrough(world);
  expect(verdict.lost).toEqual([]);
  expect(verdict.afterReconcile).toEqual({ lost: [], left: [] });
  return verdict;
}

describe('a copy kept by sync and reconcile ends equal to the records', { timeout }, () => {
  test('that change after every single request, through crashes, 429s and lost responses', async () => {
    const seen = { runs: 0, crashes: 0 };
    await eachSeed(seedsToRun(80), async (seed) => {
      const { runs, crashes } = await endsEqual({ seed, churn: 1 });
      seen.runs += runs;
      seen.crashes += crashes;
    });
    // Or it was no test of what it says.
    if (seen.runs > 100) expect(seen.crashes).toBeGreaterThan(seen.runs / 20);
    if (process.env.SOAK_HISTORIES !== undefined) console.info(`${seen.runs} runs, ${seen.crashes} crashes`);
  });

  test('that change now and then', async () => {
    await eachSeed(seedsToRun(20), async (seed) => {
      await endsEqual({ seed, churn: 0.3 });
    });
  });
});

test('lives the same life for the same seed', { timeout }, async () => {
  const lives = [];
  for (const seed of [4, 4, 5]) lives.push((await liveThrough({ seed, churn: 1 })).world.journal.join());
  expect(lives[0]).toBe(lives[1]);
  expect(lives[0]).not.toBe(lives[2]);
});
