import { expect, test } from 'vitest';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';
import { onVirtualClock } from '../../../support/virtual-clock.ts';
import { playSeveral, type SeveralFigures, type SeveralOptions } from './several.ts';

const USUAL = 5;

const play = onVirtualClock(playSeveral);

const calm = { latencyMs: 5, lock: 'none', lateWrites: 0, failures: 0 } as const;

/** A part of the histories is about one kind of trouble alone, which others would hide. */
test.each<[string, SeveralOptions]>([
  ['whatever becomes of the processes and of the store', {}],
  ['if a lock expires', { store: { ...calm, lock: 2_000 }, service: { writeMs: 200 }, stops: 0, rows: 120 }],
  [
    'if the store writes late',
    { store: { ...calm, lateWrites: 0.05, lateMs: 12_000 }, service: { writeMs: 200 }, stops: 0, rows: 120 },
  ],
  [
    'if processes are stopped',
    { store: calm, service: { writeMs: 1_000 }, stops: 0.5, stopMs: 90_000, rows: 120 },
  ],
  [
    'if creates wait for a Retry-After meanwhile',
    { store: calm, stops: 1, stopMs: 5_000, faults: ['429'], faultRate: 0.5, rows: 40 },
  ],
])(
  'of pushes of several processes with one store, one at a time creates each product once, %s',
  NO_HURRY,
  async (_, options) => {
    const seeds = seedsToRun(USUAL);
    const figures: SeveralFigures = { runs: 0, concurrent: 0, kills: 0, stops: 0 };
    await expectNoFindings(seeds, (seed) => play(seed, { ...options, figures }));
    if (seeds.length > USUAL) console.info(`${seeds.length} histories:`, figures);
    if (seeds.length < USUAL) return;
    expect(figures.concurrent).toBeGreaterThan(0);
  },
);
