import { expect, test } from 'vitest';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { onVirtualClock } from '../../../support/virtual-clock.ts';
import { type AloneFigures, type AloneOptions, playAlone } from './alone.ts';

const USUAL = 12;

const play = onVirtualClock(playAlone);

/** A part of the histories is about one kind of trouble alone, which others would hide. */
test.each<[string, AloneOptions]>([
  ['whatever the service stores, ignores or shows late', {}],
  [
    'if it ignores keys and its 2xx cannot be read',
    { honoursKeys: false, creates: true, faults: ['empty', 'cut'] },
  ],
  [
    'if it stores errors for keys',
    { honoursKeys: true, creates: true, stores5xx: true, faults: ['500', '500_after'] },
  ],
])(
  'pushes one after the other leave one product with the values of the row for each key, %s',
  NO_HURRY,
  async (_, options) => {
    const seeds = seedsToRun(USUAL);
    const figures: AloneFigures = { pushes: 0, kills: 0, creates: 0 };
    await expectNoFindings(seeds, (seed) => play(seed, { ...options, figures }));
    if (seeds.length > USUAL) console.info(`${seeds.length} histories:`, figures);
    if (seeds.length < USUAL) return;
    expect(figures.kills).toBeGreaterThan(0);
    expect(figures.creates).toBeGreaterThan(10);
  },
);
