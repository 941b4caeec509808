import { expect, test } from 'vitest';
import { expectFinding, expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { onVirtualClock } from '../../../support/virtual-clock.ts';
import { playPush, wasKilled, wasStopped } from './history.ts';
import { mutants, unchanged } from './mutants.ts';
import { verdictOn } from './verdict.ts';

/** Of 2,000 that were played when push was written. */
const USUAL = 20;

const playAlone = onVirtualClock(playPush);

test(
  'repeated pushes leave one product with the values of the row for each key, after crashes, faults and other writers',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const figures = { killed: 0, stopped: 0, incompleteLists: 0 };
    await expectNoFindings(seeds, async (seed) => {
      const history = await playAlone(seed, seed % 4 === 0 ? unchanged : undefined);
      const all = [...history.runs, history.last, history.again];
      figures.killed += all.filter(wasKilled).length;
      figures.stopped += all.filter(wasStopped).length;
      figures.incompleteLists += all.filter(({ report }) => report?.complete === 'likely').length;
      return verdictOn(history);
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} histories:`, figures);
    if (seeds.length < USUAL) return;
    expect(figures.killed).toBeGreaterThan(3);
    expect(figures.incompleteLists).toBeGreaterThan(3);
  },
);

test.each(Object.entries(mutants))('the histories show that a push %s', NO_HURRY, async (_, mutation) => {
  await expectFinding(100, async (seed) => verdictOn(await playAlone(seed, mutation)));
});
