import { expect, test } from 'vitest';
import { expectFinding, expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { playNaive, type Strategy } from './losing-syncs.ts';
import { playSync } from './play.ts';

const USUAL = 75;

test(
  'a copy kept by sync, changes and reconcile ends equal to the service, through crashes, 429s, lost responses and hidden rows, or a run said `likely`',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const seen = { runs: 0, crashes: 0, excused: 0 };
    await expectNoFindings(seeds, async (seed) => {
      const { findings, runs, crashes, excused } = await playSync(seed);
      seen.runs += runs;
      seen.crashes += crashes;
      if (excused > 0) seen.excused += 1;
      return findings;
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} histories:`, seen);
    if (seeds.length < USUAL) return;
    expect(seen.crashes).toBeGreaterThan(seen.runs / 20);
    expect(seen.excused).toBeLessThan(seeds.length / 20);
  },
);

test('a history of syncs is deterministic for a seed', async () => {
  const copies = [];
  for (const seed of [4, 4, 5]) copies.push([...(await playSync(seed)).world.sink.values()]);
  expect(copies[0]).toEqual(copies[1]);
  expect(copies[0]).not.toEqual(copies[2]);
});

/** The start of the run, kept when a run resumes, and rows before their checkpoint. */
const GOOD: Strategy = { watermark: 'start', keepsStart: true, sinkFirst: true };
const LOSING = {
  'the largest updatedAt as the watermark': { ...GOOD, watermark: 'largest' },
  'the end of the run as the watermark': { ...GOOD, watermark: 'end' },
  'a new watermark whenever a run resumes': { ...GOOD, keepsStart: false },
  'a checkpoint that is written before the rows': { ...GOOD, sinkFirst: false },
} satisfies Record<string, Strategy>;

test.each(Object.entries(LOSING))('the simulation sees records lost by %s', NO_HURRY, async (_, strategy) => {
  await expectFinding(60, (seed) => playNaive(strategy, seed));
});

test('the simulation sees no record lost by a sync that avoids these mistakes', NO_HURRY, async () => {
  await expectNoFindings(seedsToRun(25), (seed) => playNaive(GOOD, seed));
});
