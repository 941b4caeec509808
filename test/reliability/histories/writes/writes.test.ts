import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { eachSeed, seedsToRun } from '../../../support/seeds.ts';
import { startVirtualClock, stopVirtualClock } from '../../../support/virtual-clock.ts';
import type { History } from './history.ts';
import { losingClients } from './losing-clients.ts';
import { play, type Subject } from './play.ts';
import { verdictOn } from './verdict.ts';

const USUAL = 100;
/** Long enough for a slow machine and for the many histories of a soak. */
const NO_HURRY = { timeout: 24 * 3_600_000 };

function playAlone(seed: number, subject?: Subject): Promise<History> {
  startVirtualClock(seed);
  return play(seed, subject);
}

beforeEach(async () => {
  // What is loaded with the first request is loaded in true time.
  await createClient(createSandbox().clientOptions).products.find('1');
});

afterEach(stopVirtualClock);

test(
  'no history of concurrent writes under faults creates a duplicate or reports a wrong outcome',
  NO_HURRY,
  async () => {
    const seeds = seedsToRun(USUAL);
    const figures = { histories: seeds.length, calls: 0, requests: 0, faults: 0 };
    const endings = new Map<string, number>();
    await eachSeed(seeds, async (seed) => {
      const history = await playAlone(seed);
      expect(verdictOn(history)).toEqual([]);
      const { requests } = history.sandbox;
      figures.calls += history.calls.length;
      figures.requests += requests.length;
      figures.faults += requests.filter(({ fault }) => fault !== undefined).length;
      for (const { ending } of history.calls) {
        const how = ending?.as === 'failed' ? ending.outcome : String(ending?.as);
        endings.set(how, (endings.get(how) ?? 0) + 1);
      }
    });
    if (seeds.length > USUAL) console.log('from seed 0:', figures, Object.fromEntries(endings));
    if (seeds.length >= USUAL) {
      const all = ['aborted', 'applied', 'done', 'not_sent', 'rejected', 'unknown'];
      expect([...endings.keys()].sort()).toEqual(all);
    }
  },
);

test.each(Object.entries(losingClients))(
  'a client that %s is caught',
  NO_HURRY,
  async (_, { subject, seen }) => {
    const found: string[] = [];
    for (let seed = 0; seed < 400 && !found.some((what) => seen.test(what)); seed += 1) {
      found.push(...verdictOn(await playAlone(seed, subject)));
    }
    expect(found).toContainEqual(expect.stringMatching(seen));
  },
);
