import { expect, test } from 'vitest';
import { EXPECTED_ERRORS, runLoad, slopeOf } from './load.ts';

test('a hundred and twenty callers under faults and aborts leave nothing behind', {
  timeout: 600_000,
}, async () => {
  const size = { callers: 120, rounds: 2, errandsInRound: 1_000, timeoutMs: 3_000 };
  const report = await runLoad({ seed: 1, ...size });

  expect(report.strange).toEqual([]);
  const { done, aborted, ...errors } = report.ended;
  expect(EXPECTED_ERRORS).toEqual(expect.arrayContaining(Object.keys(errors)));
  expect(Object.values(report.ended).reduce((sum, n) => sum + n)).toBe(3 * (1_000 + 120));
  expect(aborted).toBe(3 * 120);
  // Faults meet one request in twenty, and most of those are made up for; on a busy machine some calls take too long.
  expect(done).toBeGreaterThan(1_500);
  // How many at once is for the soak to say: on a busy machine, calls that are given up while they connect add theirs.
  expect(report.sockets.opened).toBeGreaterThan(0);
  expect(report.sockets.left).toBe(0);
  // A few kilobytes kept of each errand would be seen; what the engine itself still learns is less.
  expect(slopeOf(report.heapMb)).toBeLessThan(4);
});

test('the growth of a heap is told from its noise', () => {
  expect(slopeOf([10, 10, 10])).toBe(0);
  expect(slopeOf([10, 12, 14, 16])).toBeCloseTo(2);
  expect(slopeOf([10, 12, 10, 12, 10])).toBeCloseTo(0);
});
