import { expect, test } from 'vitest';
import { expectFinding, expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { onVirtualClock } from '../../../support/virtual-clock.ts';
import { losingClients } from './losing-clients.ts';
import { play } from './play.ts';
import { verdictOn } from './verdict.ts';

const USUAL = 40;

const playAlone = onVirtualClock(play);

test(
  'no history of concurrent writes under faults creates a duplicate or reports a wrong outcome',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const endings: Record<string, number> = {};
    await expectNoFindings(seeds, async (seed) => {
      const history = await playAlone(seed);
      for (const { ending } of history.calls) {
        const how = ending?.as === 'failed' ? ending.outcome : String(ending?.as);
        endings[how] = (endings[how] ?? 0) + 1;
      }
      return verdictOn(history);
    });
    if (seeds.length > USUAL) console.info(`${seeds.length} histories, calls by their end:`, endings);
    if (seeds.length < USUAL) return;
    const all = ['aborted', 'applied', 'done', 'not_sent', 'rejected', 'unknown'];
    expect(Object.keys(endings).sort()).toEqual(all);
  },
);

test.each(Object.entries(losingClients))(
  'the histories show that a client %s',
  NO_HURRY,
  async (_, { subject, seen }) => {
    await expectFinding(400, async (seed) => verdictOn(await playAlone(seed, subject)), { finding: seen });
  },
);
