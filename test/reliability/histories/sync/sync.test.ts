import { expect, test } from 'vitest';
import { eachSeed, seedsToRun } from '../../../support/seeds.ts';
import { liveThrough } from './sync-history.ts';

/** Longer than any soak, on any machine. */
const timeout = 3_600_000;

test('a copy kept by sync and reconcile ends equal to records that change after every single request, through crashes, 429s and lost responses', {
  timeout,
}, async () => {
  const seen = { runs: 0, crashes: 0 };
  await eachSeed(seedsToRun(30), async (seed) => {
    const { lost, afterReconcile, runs, crashes } = await liveThrough({ seed, churn: 1 });
    expect(lost).toEqual([]);
    expect(afterReconcile).toEqual({ lost: [], left: [] });
    seen.runs += runs;
    seen.crashes += crashes;
  });
  // Or it was no test of what it says.
  if (seen.runs > 100) expect(seen.crashes).toBeGreaterThan(seen.runs / 20);
  if (process.env.SOAK_HISTORIES !== undefined) console.info(`${seen.runs} runs, ${seen.crashes} crashes`);
});

test('is deterministic for a seed', { timeout }, async () => {
  const lives = [];
  for (const seed of [4, 4, 5]) lives.push((await liveThrough({ seed, churn: 1 })).world.journal.join());
  expect(lives[0]).toBe(lives[1]);
  expect(lives[0]).not.toBe(lives[2]);
});
