import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fixtures, killOften, prepare } from './kill.ts';

let fixtures: Fixtures;
beforeAll(async () => {
  fixtures = await prepare();
}, 600_000);
afterAll(() => fixtures.clear());

// Two copies at a time: most of each second goes into opening one.
test.concurrent.each([1, 2])(
  'a connector that is killed at random moments leaves no gap, no row twice, and no checkpoint ahead of its rows (%d)',
  { timeout: 600_000 },
  async (seed) => {
    const verdict = await killOften(fixtures, { kills: 10, seed });
    expect(verdict.broken).toEqual([]);
    expect(verdict.differences).toEqual([]);
    expect(verdict.afterFirstCheckpoint).toBeGreaterThan(0);
  },
);
