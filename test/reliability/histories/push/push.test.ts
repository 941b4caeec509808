import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eachSeed, seedsToRun } from '../../../support/seeds.ts';
import { startVirtualClock, stopVirtualClock } from '../../../support/virtual-clock.ts';
import { type Mutation, playPush, wasKilled, wasStopped } from './history.ts';
import { mutants, withMethods } from './mutants.ts';
import { verdictOn } from './verdict.ts';

/** Of 2,000 that were played when push was written. */
const USUAL = 20;

function playAlone(seed: number, mutation?: Mutation) {
  startVirtualClock(seed);
  return playPush(seed, mutation);
}

beforeEach(async () => {
  // What is loaded with the first request is loaded in true time.
  await createClient(createSandbox().clientOptions).products.find('1');
});

afterEach(stopVirtualClock);

/** However slow the machine, and however many histories a soak runs. */
const NO_HURRY = { timeout: 24 * 3_600_000 };

test(
  'leaves each key once with the values of its row, after crashes, faults and other writers',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const figures = { histories: seeds.length, runs: 0, stopped: 0, incompleteLists: 0, replacedKeys: 0 };
    const kills: Record<string, number> = {};
    await eachSeed(seeds, async (seed) => {
      const history = await playAlone(seed);
      expect(verdictOn(history)).toEqual([]);
      figures.runs += history.runs.length + 2;
      for (const run of history.runs.filter(wasKilled)) {
        const where = (run.error as Error).message;
        kills[where] = (kills[where] ?? 0) + 1;
      }
      figures.stopped += history.runs.filter(wasStopped).length;
      const all = [...history.runs, history.last, history.again];
      figures.incompleteLists += all.filter(({ report }) => report?.complete === 'likely').length;
      figures.replacedKeys += all
        .flatMap(({ results }) => results)
        .filter(({ reason }) => reason?.includes('under another idempotency key')).length;
    });
    if (seeds.length > USUAL) console.log('from seed 0:', figures, kills);
    const killed = Object.values(kills).reduce((sum, count) => sum + count, 0);
    if (seeds.length < USUAL) return;
    expect(killed).toBeGreaterThan(3);
    expect(figures.incompleteLists).toBeGreaterThan(3);
    expect(figures.replacedKeys).toBeGreaterThan(0);
  },
);

test('finds nothing wrong with a push that is wrapped and not changed', NO_HURRY, async () => {
  await eachSeed([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], async (seed) => {
    expect(verdictOn(await playAlone(seed, (products) => withMethods(products, () => ({}))))).toEqual([]);
  });
});

test.each(Object.entries(mutants))('notices a push that %s', NO_HURRY, async (_, mutation) => {
  const found: string[] = [];
  for (let seed = 0; seed < 100 && found.length === 0; seed += 1) {
    found.push(...verdictOn(await playAlone(seed, mutation)));
  }
  expect(found).not.toEqual([]);
});
