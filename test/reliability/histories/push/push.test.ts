import { expect, test } from 'vitest';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { onVirtualClock } from '../../../support/virtual-clock.ts';
import { playPush, wasKilled } from './history.ts';
import { verdictOn } from './verdict.ts';

/** Of faults seeded by hand into push, the histories that found any found it in the first eight. */
const USUAL = 16;

const playAlone = onVirtualClock(playPush);

test(
  'repeated pushes leave one product with the values of the row for each key, after crashes, faults and other writers',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const figures = { pushes: 0, killed: 0, incompleteLists: 0, open: 0 };
    await expectNoFindings(seeds, async (seed) => {
      const history = await playAlone(seed);
      const all = history.pushes.flatMap(({ runs, clean }) => [...runs, ...clean]);
      const results = all.flatMap((run) => run.results);
      figures.pushes += all.length;
      figures.killed += all.filter(wasKilled).length;
      figures.incompleteLists += all.filter(({ report }) => report?.complete === 'likely').length;
      figures.open += results.filter(({ reason }) => reason?.includes('run the push again')).length;
      return verdictOn(history);
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} histories:`, figures);
    if (seeds.length < USUAL) return;
    expect(figures.killed).toBeGreaterThan(2);
    expect(figures.incompleteLists).toBeGreaterThan(2);
    expect(figures.open).toBeGreaterThan(0);
  },
);
