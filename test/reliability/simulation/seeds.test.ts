import { expect, test, vi } from 'vitest';
import { eachSeed, seedsToRun } from './seeds.ts';

test('names the seed of a history that failed, and keeps why', async () => {
  const failure = new Error('a record is missing');
  const run = eachSeed([5, 6, 7], (seed) => (seed === 6 ? Promise.reject(failure) : Promise.resolve()));
  await expect(run).rejects.toMatchObject({ message: expect.stringContaining('SIM_SEED=6'), cause: failure });
});

test('replays one seed alone, and runs more of them in a soak', () => {
  vi.stubEnv('SIM_SEED', '');
  vi.stubEnv('SOAK_HISTORIES', '40');
  expect(seedsToRun(10)).toHaveLength(40);
  expect(seedsToRun(10, 0.5)).toHaveLength(20);
  expect(seedsToRun(50)).toHaveLength(50);
  vi.stubEnv('SIM_SEED', '17');
  expect(seedsToRun(10)).toEqual([17]);
});
