import { describe, expect, test } from 'vitest';
import type { LimiterName } from '../../support/rate-limiters.ts';
import { type Result, type Scenario, simulate } from '../../support/rate-simulation.ts';

/** The suite runs the first few of sixty; `RATE_LIMITER_SEEDS=60` runs all. A title prints the seed of its run. */
const SEEDS = Array.from({ length: Number(process.env.RATE_LIMITER_SEEDS ?? 2) }, (_, index) => index + 1);
const TIMEOUT_MS = 60_000;
const CALLERS = [8, 200];
/** As the goals name them: 100 calls in 2 s over 16 windows, 50 calls a second over 20 s. */
const QUOTAS = [
  { limit: 100, windowMs: 2_000, windows: 16 },
  { limit: 50, windowMs: 1_000, windows: 20 },
];
/** The least share of the quota, and the most 429s in the second half of a run. */
const GOALS: readonly [LimiterName, number, number][] = [
  ['fixed window', 0.97, 0],
  ['window from first call', 0.97, 0],
  ['token bucket', 0.95, 1],
  ['sliding counter', 0.85, 1],
];

const mostInAWindow = ({ rejections }: Result) => Math.max(...rejections.flat());
const inSecondHalf = ({ rejections }: Result) =>
  rejections.flatMap((counts) => counts.slice(counts.length / 2)).reduce((sum, count) => sum + count, 0);

/** Every run of a table with every quota, number of callers and seed. */
function runs<Row extends readonly unknown[]>(rows: readonly Row[]) {
  return rows.flatMap((row) =>
    QUOTAS.flatMap((quota) =>
      CALLERS.flatMap((callers) =>
        SEEDS.map((seed) => ({
          row,
          scenario: { ...quota, callers, seed },
          title: `${row[0]}, ${quota.limit} calls in ${quota.windowMs} ms, ${callers} callers, seed ${seed}`,
        })),
      ),
    ),
  );
}

async function run(scenario: Scenario): Promise<Result> {
  const result = await simulate(scenario);
  expect(result.failed).toBe(0);
  return result;
}

describe('one process uses the quota', () => {
  test.each(runs(GOALS))(
    '$title',
    async ({ row: [limiter, share, rejections], scenario }) => {
      const result = await run({ ...scenario, limiter });
      expect(result.share).toBeGreaterThanOrEqual(share);
      expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
      expect(inSecondHalf(result)).toBeLessThanOrEqual(rejections);
    },
    TIMEOUT_MS,
  );
});

describe('two processes share the quota', () => {
  test.each(runs(GOALS.slice(0, 2)))(
    '$title',
    async ({ row: [limiter], scenario }) => {
      const result = await run({ ...scenario, limiter, processes: 2 });
      expect(result.share).toBeGreaterThanOrEqual(0.95);
      expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
    },
    TIMEOUT_MS,
  );
});

describe('other quotas', () => {
  const windows = 16;
  const quotas = [
    [10, 1_000],
    [10, 10_000],
    [50, 10_000],
    [1_000, 10_000],
    [10, 60_000],
    [1_000, 60_000],
  ].map(([limit = 0, windowMs = 0]) => ({ limit, windowMs, windows, callers: 8 }));

  test.each(quotas)(
    'a fixed window of $windowMs ms with $limit calls is used (seed 1)',
    async (quota) => {
      const result = await run({ ...quota, limiter: 'fixed window', seed: 1 });
      expect(result.share).toBeGreaterThanOrEqual(0.97);
      expect(mostInAWindow(result)).toBeLessThanOrEqual(1);
    },
    TIMEOUT_MS,
  );

  test.each(GOALS)(
    '%s: a process that is often busy with something else reaches %d of the quota (seed 1)',
    async (limiter, share) => {
      const result = await run({ limiter, limit: 100, windowMs: 2_000, callers: 8, stalls: true, seed: 1 });
      expect(result.share).toBeGreaterThanOrEqual(share);
    },
    TIMEOUT_MS,
  );

  test('callers of a service without the headers do not wait', async () => {
    const scenario: Scenario = { limiter: 'no headers', limit: 100, windowMs: 2_000, callers: 8, seed: 1 };
    const result = await run(scenario);
    // Eight at a time, six milliseconds each, one alone at first.
    expect(result.granted).toBeGreaterThan(0.85 * 8 * ((16 * 2_000) / 6));
  });

  test('without a rate limiter the same callers get hundreds of 429s: the simulation can show them', async () => {
    const result = await simulate({
      limiter: 'fixed window',
      limit: 100,
      windowMs: 2_000,
      callers: 8,
      seed: 1,
      createRunner: () => ({ run: (_call, send) => send({ settle: () => {} }) }),
    });
    expect(mostInAWindow(result)).toBeGreaterThan(100);
  });
});
