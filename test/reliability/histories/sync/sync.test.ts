import { expect, test } from 'vitest';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { playSync } from './play.ts';

const USUAL = 50;

test(
  'a copy kept by sync and changes ends equal to the service, through crashes, 429s, lost responses and hidden rows',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const seen = { runs: 0, crashes: 0 };
    await expectNoFindings(seeds, async (seed) => {
      const { findings, runs, crashes } = await playSync(seed);
      seen.runs += runs;
      seen.crashes += crashes;
      return findings;
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} histories:`, seen);
    if (seeds.length < USUAL) return;
    expect(seen.crashes).toBeGreaterThan(seen.runs / 20);
  },
);
