import { beforeAll, expect, test } from 'vitest';
import type { LimiterName } from '../../support/rate-limiters.ts';
import { type Result, type Scenario, simulate } from '../../support/rate-simulation.ts';
import { eachSeed, seedsToRun } from '../../support/seeds.ts';
import { loadTransport } from '../../support/virtual-clock.ts';

beforeAll(loadTransport);

/** `SOAK_HISTORIES=60` runs 60 seeds, each with every combination. */
const SEEDS = seedsToRun(1);
const QUOTAS = [
  { limit: 100, windowMs: 2_000, windows: SEEDS.length > 1 ? 16 : 10 },
  { limit: 50, windowMs: 1_000, windows: SEEDS.length > 1 ? 20 : 14 },
];
const COMBINATIONS = QUOTAS.flatMap((quota) => [8, 200].map((callers) => ({ ...quota, callers })));
/** A run takes a second or more: the suite runs two of the four. */
const RUNS = SEEDS.length > 1 ? COMBINATIONS : COMBINATIONS.slice(1, 3);

const mostInAWindow = ({ rejections }: Result) => Math.max(...rejections.flat());
const inSecondHalf = ({ rejections }: Result) =>
  rejections.flatMap((counts) => counts.slice(counts.length / 2)).reduce((sum, count) => sum + count, 0);

async function eachRun(
  scenario: Omit<Scenario, keyof (typeof RUNS)[0] | 'seed'>,
  check: (result: Result) => void,
  runs = RUNS,
) {
  for (const run of runs) {
    await eachSeed(SEEDS, async (seed) => {
      const result = await simulate({ ...run, ...scenario, seed });
      expect(result.failed).toBe(0);
      expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
      check(result);
    });
  }
}

test.each<[LimiterName, number, number]>([
  ['fixed window', 0.97, 0],
  ['window from first call', 0.97, 0],
  ['token bucket', 0.95, 1],
  ['sliding counter', 0.85, 1],
])(
  '%s: uses %d of the quota with no failed call, at most one 429 a window while it learns and %d after that',
  async (limiter, share, rejections) => {
    await eachRun({ limiter }, (result) => {
      expect(result.share).toBeGreaterThanOrEqual(share);
      expect(inSecondHalf(result)).toBeLessThanOrEqual(rejections);
    });
  },
);

test.each<LimiterName>(['fixed window', 'window from first call'])(
  '%s: two processes use 0.95 of the quota with no failed call and at most one 429 a window each',
  async (limiter) => {
    const check = (result: Result) => expect(result.share).toBeGreaterThanOrEqual(0.95);
    await eachRun({ limiter, processes: 2 }, check, SEEDS.length > 1 ? RUNS : RUNS.slice(0, 1));
  },
);

test.each<[LimiterName, number]>([
  ['fixed window', 1_000],
  ['fixed window', 10_000],
  ['window from first call', 10_000],
])('%s of %d ms: a process that starts later gets a part of the quota', async (limiter, windowMs) => {
  await eachSeed(SEEDS, async (seed) => {
    const scenario = { limiter, limit: 50, windowMs, callers: 8, processes: 2, apartMs: 2.3 * windowMs };
    const { granted, failed } = await simulate({ ...scenario, seed });
    expect(failed).toBe(0);
    expect(Math.min(...granted)).toBeGreaterThanOrEqual(20);
  });
});

test.each([2_000, 60_000])(
  'no call fails if a busy time follows a quiet one: windows of %d ms',
  async (windowMs) => {
    await eachSeed(SEEDS, async (seed) => {
      const quiet = { from: 4, until: 4 + 840_000 / windowMs, everyMs: 5_000 };
      const windows = quiet.until + 8;
      const scenario = { limiter: 'fixed window', limit: 100, windowMs, callers: 8, windows, quiet } as const;
      const { failed, granted } = await simulate({ ...scenario, seed });
      expect(failed).toBe(0);
      // Less the quiet time, and what is used before the first windows are known.
      const busy = windows - quiet.until + quiet.from;
      expect(granted[0]).toBeGreaterThan(0.9 * busy * scenario.limit);
    });
  },
);

test.each<[LimiterName, number, number]>([
  ['fixed window', 10, 1_000],
  ['fixed window', 10, 60_000],
  ['token bucket', 10, 10_000],
])('%s: a quota of %d calls in %d ms is used with no failed call', async (limiter, limit, windowMs) => {
  const { share, failed } = await simulate({ limiter, limit, windowMs, callers: 8, seed: 1 });
  expect(failed).toBe(0);
  expect(share).toBeGreaterThanOrEqual(0.85);
});

const SMALL_QUOTAS = SEEDS.length > 1 ? [2, 3, 5, 9] : [2, 9];
const PAUSES_MS = [12_000, 120_000];
const WITH_PAUSES = SMALL_QUOTAS.flatMap((limit) => PAUSES_MS.map((pauseMs) => ({ limit, pauseMs })));

test.each(WITH_PAUSES)(
  'idle time is not taken for the time in which a quota of $limit comes back: pauses of $pauseMs ms',
  async ({ limit, pauseMs }) => {
    await eachSeed(SEEDS, async (seed) => {
      const scenario = { limiter: 'fixed window', windowMs: 1_000, windows: pauseMs / 40, seed } as const;
      const { failed, longestMs } = await simulate({ ...scenario, limit, pauseMs, callers: 3 * limit });
      expect(failed).toBe(0);
      // Three windows, and one that is lost while the length is learned.
      expect(longestMs).toBeLessThan(5_000);
    });
  },
);

test.each(SMALL_QUOTAS)(
  'sliding counter: at least half of a quota of %d calls a second is used, with no failed call and at most one 429 a window',
  async (limit) => {
    const scenario = { limiter: 'sliding counter', limit, windowMs: 1_000, callers: 8, windows: 24 } as const;
    await eachSeed(SEEDS, async (seed) => {
      const result = await simulate({ ...scenario, seed });
      expect(result.failed).toBe(0);
      expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
      // Some runs take a counter of one second for windows of two.
      expect(result.share).toBeGreaterThanOrEqual(0.5);
    });
  },
);

test('250 callers of a service without the headers get few 429s', async () => {
  const scenario = { limiter: 'fixed window', limit: 50, windowMs: 1_000, callers: 250, windows: 8 } as const;
  await eachSeed(SEEDS, async (seed) => {
    const { failed, rejections } = await simulate({ ...scenario, headers: false, seed });
    expect(failed).toBe(0);
    // The first calls are sent together. After that the limit is found out by doubling.
    expect(Math.max(...rejections.flat().slice(2))).toBeLessThanOrEqual(64);
  });
});

test('without a rate limiter the same callers get more than 50 429s in a window', async () => {
  const scenario = { limiter: 'fixed window', limit: 20, windowMs: 2_000, windows: 2, callers: 100 } as const;
  expect(mostInAWindow(await simulate({ ...scenario, seed: 1, rateLimiter: false }))).toBeGreaterThan(50);
});
