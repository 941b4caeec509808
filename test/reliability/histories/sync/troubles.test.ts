import { expect, test } from 'vitest';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { onVirtualClock } from '../../../support/virtual-clock.ts';
import { playTroubles } from './troubles.ts';

const play = onVirtualClock(playTroubles);
const USUAL = 12;

test(
  'a copy takes no record of another company and no verdict that is untrue, through outages, pauses and changing keys',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const met = new Map<string, number>();
    await expectNoFindings(seeds, async (seed) => {
      const history = await play(seed);
      for (const what of history.met) met.set(what, (met.get(what) ?? 0) + 1);
      return history.findings;
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} histories met:`, met);
    if (seeds.length < USUAL) return;
    expect([...met.keys()].toSorted()).toEqual([
      'a key that is not admitted',
      'a pause',
      'an empty moment',
      'an end',
      'an outage',
    ]);
  },
);
