import { beforeAll, expect, test } from 'vitest';
import { type LimiterName, type Result, type Scenario, simulate } from '../../support/rate-simulation.ts';
import { loadTransport } from '../../support/virtual-clock.ts';

beforeAll(loadTransport);

const RUN = { limit: 50, windowMs: 1_000, windows: 14, callers: 8, seed: 0 };

const mostInAWindow = ({ rejections }: Result) => Math.max(...rejections.flat());
const inSecondHalf = ({ rejections }: Result) =>
  rejections.flatMap((counts) => counts.slice(counts.length / 2)).reduce((sum, count) => sum + count, 0);

/** The result of a run without a failed call. */
async function simulated(scenario: Partial<Scenario> & Pick<Scenario, 'limiter'>): Promise<Result> {
  const result = await simulate({ ...RUN, ...scenario });
  expect(result.failed).toBe(0);
  return result;
}

test.each<[LimiterName, number, number]>([
  ['fixed', 0.97, 0],
  ['fixed-from-first', 0.97, 0],
  ['token-bucket', 0.95, 1],
  ['sliding-counter', 0.85, 1],
])(
  '%s: uses %d of the quota with no failed call, at most one 429 a window while it learns and %d after that',
  async (limiter, share, rejections) => {
    for (const run of [
      { limit: 25, callers: 100 },
      { limit: 40, windowMs: 2_000, windows: 10 },
    ]) {
      const result = await simulated({ limiter, ...run });
      expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
      expect(result.share).toBeGreaterThanOrEqual(share);
      expect(inSecondHalf(result)).toBeLessThanOrEqual(rejections);
    }
  },
);

test.each<LimiterName>(['fixed', 'fixed-from-first'])(
  '%s: two processes use 0.95 of the quota with no failed call and at most one 429 a window each',
  async (limiter) => {
    const result = await simulated({ limiter, processes: 2 });
    expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
    expect(result.share).toBeGreaterThanOrEqual(0.95);
  },
);

test('a process that starts later gets a part of the quota', async () => {
  const { granted } = await simulated({ limiter: 'fixed', processes: 2, windows: 16, apartMs: 2_300 });
  expect(Math.min(...granted)).toBeGreaterThanOrEqual(20);
});

test('no call fails if a busy time follows a quiet one', async () => {
  const windowMs = 60_000;
  const quiet = { from: 4, until: 18, everyMs: 5_000 };
  const { granted } = await simulated({ limiter: 'fixed', limit: 40, windowMs, windows: 26, quiet });
  // Less the quiet time, and what is used before the first windows are known.
  expect(granted[0]).toBeGreaterThan(0.9 * 12 * 40);
});

test.each<[LimiterName, number]>([
  ['fixed', 1_000],
  ['fixed', 60_000],
  ['token-bucket', 10_000],
])('%s: a quota of ten calls in %d ms is used with no failed call', async (limiter, windowMs) => {
  const { share } = await simulated({ limiter, limit: 10, windowMs, windows: 16, seed: 1 });
  expect(share).toBeGreaterThanOrEqual(0.85);
});

test.each([2, 9])('idle time is not taken for the time in which a quota of %d comes back', async (limit) => {
  const pauses = { windows: 300, pauseMs: 12_000, callers: 3 * limit };
  const { longestMs } = await simulated({ limiter: 'fixed', limit, ...pauses });
  // Three windows, and one that is lost while the length is learned.
  expect(longestMs).toBeLessThan(5_000);
});

test.each([2, 9])(
  'sliding-counter: at least half of a quota of %d calls a second is used, with no failed call and at most one 429 a window',
  async (limit) => {
    const result = await simulated({ limiter: 'sliding-counter', limit, windows: 24 });
    expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
    // Some runs take a counter of one second for windows of two.
    expect(result.share).toBeGreaterThanOrEqual(0.5);
  },
);
