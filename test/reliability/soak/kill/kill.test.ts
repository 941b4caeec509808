import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fixtures, killOften, prepare } from './kill.ts';

let fixtures: Fixtures;
beforeAll(async () => {
  fixtures = await prepare();
}, 600_000);
afterAll(() => fixtures.clear());

test('a connector that is killed at random moments leaves no gap, no row twice, and no checkpoint ahead of its rows', {
  timeout: 600_000,
}, async () => {
  const verdict = await killOften(fixtures, { kills: 2, seed: 1 });
  expect(verdict.broken).toEqual([]);
  expect(verdict.differences).toEqual([]);
  expect(verdict.afterFirstCheckpoint).toBeGreaterThan(0);
});
