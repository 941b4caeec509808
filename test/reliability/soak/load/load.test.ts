import { expect, test } from 'vitest';
import { EXPECTED_ERRORS, runLoad } from './load.ts';

test('sixty callers under faults and aborts leave nothing behind', { timeout: 600_000 }, async () => {
  const size = { callers: 60, rounds: 1, tasksInRound: 150, timeoutMs: 1_000, idleMs: 0 };
  const report = await runLoad({ seed: 1, ...size });

  expect(report.strange).toEqual([]);
  const { done, aborted, ...errors } = report.ended;
  expect(EXPECTED_ERRORS).toEqual(expect.arrayContaining(Object.keys(errors)));
  expect(Object.values(report.ended).reduce((sum, n) => sum + n)).toBe(2 * (150 + 60));
  expect(aborted).toBe(2 * 60);
  // How many calls take too long depends on the machine.
  expect(done).toBeGreaterThan(0);
  // The number of open connections depends on the machine, because an aborted call still opens its connection.
  const { opened, mostInUse, givenUp, lingering, left } = report.sockets;
  expect(opened).toBeGreaterThan(0);
  expect(mostInUse).toBeLessThanOrEqual(60);
  expect(givenUp).toBeGreaterThan(0);
  expect([lingering, left]).toEqual([0, 0]);
});
