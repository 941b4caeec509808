import { expect, test } from 'vitest';
import { NO_HURRY } from '../../../support/seeds.ts';
import { EXPECTED_ERRORS, runLoad, slopeOf } from './load.ts';

/** `SOAK_LOAD=20` repeats ten thousand tasks so many times, and measures the heap. SEED sets another beginning. */
const SOAK = Number(process.env.SOAK_LOAD ?? 0);
const SIZE =
  SOAK > 0
    ? { callers: 200, rounds: SOAK, tasksInRound: 10_000, timeoutMs: 10_000, idleMs: 60_000 }
    : { callers: 60, rounds: 1, tasksInRound: 150, timeoutMs: 1_000, idleMs: 0 };

test('many callers under faults and aborts leave nothing behind', NO_HURRY, async () => {
  const { callers, rounds, tasksInRound } = SIZE;
  const { ended, strange, heapMb, sockets } = await runLoad({ seed: Number(process.env.SEED ?? 1), ...SIZE });
  if (SOAK > 0) console.info({ ended, heapMb, sockets });

  expect(strange).toEqual([]);
  const { done, aborted, ...errors } = ended;
  expect(EXPECTED_ERRORS).toEqual(expect.arrayContaining(Object.keys(errors)));
  expect(Object.values(ended).reduce((sum, n) => sum + n)).toBe((1 + rounds) * (tasksInRound + callers));
  expect(aborted).toBe((1 + rounds) * callers);
  // How many calls take too long depends on the machine.
  expect(done).toBeGreaterThan(0);
  // The number of open connections depends on the machine, because an aborted call still opens its connection.
  expect(sockets.opened).toBeGreaterThan(0);
  expect(sockets.mostInUse).toBeLessThanOrEqual(callers);
  expect(sockets.givenUp).toBeGreaterThan(0);
  expect([sockets.lingering, sockets.left]).toEqual([0, 0]);
  if (SOAK === 0) return;
  expect(sockets.kept).toBe(0);
  expect(slopeOf(heapMb)).toBeLessThan(1);
});
