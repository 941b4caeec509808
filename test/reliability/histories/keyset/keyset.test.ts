import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { playKeyset } from './play.ts';

const USUAL = 60;
/**
 * The first reads that would have more requests in flight than `prefetch` allows if those whose interval other responses have
 * proven did not count. Some, because a change of how lists are read makes other reads of them.
 */
const MOST_IN_FLIGHT = [314, 794, 903];

test(
  'keyset pagination loses no record that exists throughout the read, whatever the service, and says `likely` if it can',
  NO_HURRY,
  async () => {
    const seeds = [...seedsToRun(USUAL), ...MOST_IN_FLIGHT];
    const seen = { resumed: 0, hides: 0, likely: 0 };
    await expectNoFindings(seeds, async (seed) => {
      // A task ends here: until then weak references keep what they refer to.
      await setImmediate();
      const { findings, resumed, hides, complete } = await playKeyset(seed);
      if (resumed) seen.resumed += 1;
      if (hides) seen.hides += 1;
      if (complete === 'likely') seen.likely += 1;
      return findings;
    });
    if (seeds.length > USUAL + MOST_IN_FLIGHT.length) console.info(`${seeds.length} reads:`, seen);
    if (seeds.length < USUAL) return;
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(USUAL / 20);
  },
);
