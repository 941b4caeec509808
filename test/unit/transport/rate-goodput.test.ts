import { describe, expect, test } from 'vitest';
import { createOpenGate } from '../../../src/transport/rate-open-gate.ts';
import type { LimiterName } from '../../support/rate-limiters.ts';
import { type Outcome, type Scenario, simulate } from '../../support/rate-simulation.ts';

/** Printed with each title: the same seed replays the same run. */
const SEEDS = [1, 7, 42, 2026];
const WINDOWS = 15;
const SECOND_HALF = Math.ceil(WINDOWS / 2);
const TIMEOUT_MS = 60_000;

/** The least share of the budget that is to be used; what no header can tell is not asked for. */
const GOALS: readonly [LimiterName, number][] = [
  ['fixed window', 0.97],
  ['window from first call', 0.97],
  ['token bucket', 0.95],
  ['sliding counter', 0.85],
];
const WINDOWED = GOALS.slice(0, 2);

const firstHalf = (counts: readonly number[]) => counts.slice(0, SECOND_HALF);
const secondHalf = (counts: readonly number[]) => counts.slice(SECOND_HALF);
const together = ({ refusals }: Outcome) =>
  refusals.reduce((sums, counts) => sums.map((sum, window) => sum + (counts[window] ?? 0)));

/** What holds of every run: nobody fails, at most one 429 a window for each process while it learns. */
async function run(scenario: Scenario): Promise<Outcome> {
  const outcome = await simulate({ windows: WINDOWS, ...scenario });
  expect(outcome.failed).toBe(0);
  for (const counts of outcome.refusals) expect(Math.max(...firstHalf(counts))).toBeLessThanOrEqual(1);
  return outcome;
}

/** Which runs there are: of each row with each seed. */
const seeded = <Row extends readonly unknown[]>(rows: readonly Row[]) =>
  rows.flatMap((row) => SEEDS.map((seed) => [...row, seed] as const));

describe('limit 100 in 2 s', () => {
  const budget = { limit: 100, windowMs: 2_000 };

  test.each(
    seeded(
      GOALS.flatMap(([limiter, share]) => [8, 200].map((workers) => [limiter, workers, share] as const)),
    ),
  )(
    '%s, %i workers: a share of %d, no 429 after learning (seed %i)',
    async (limiter, workers, share, seed) => {
      const outcome = await run({ ...budget, limiter, workers, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(share);
      expect(Math.max(...secondHalf(together(outcome)))).toBe(0);
    },
    TIMEOUT_MS,
  );

  test.each(seeded([8, 200].map((workers) => [workers] as const)))(
    'sliding log, %i workers: most of the budget (seed %i)',
    async (workers, seed) => {
      const outcome = await simulate({ ...budget, limiter: 'sliding log', workers, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(0.7);
      expect(outcome.failed).toBe(0);
      expect(Math.max(...together(outcome))).toBeLessThanOrEqual(3);
    },
    TIMEOUT_MS,
  );

  test('no headers: nobody is held back', async () => {
    const outcome = await simulate({ ...budget, limiter: 'no headers', workers: 8, seed: 1, latencyMs: 6 });
    // Eight at a time, six milliseconds each, one alone at first.
    expect(outcome.allowed).toBeGreaterThan(0.85 * 8 * ((WINDOWS * 2_000) / 6));
    expect(Math.max(...together(outcome))).toBe(0);
  });

  test('without a gate the same workers are refused by the hundred: the simulation can see it', async () => {
    const outcome = await simulate({
      ...budget,
      limiter: 'fixed window',
      workers: 8,
      seed: 1,
      makeGate: createOpenGate,
    });
    expect(Math.min(...together(outcome))).toBeGreaterThan(100);
  });

  test.each(seeded(WINDOWED.flatMap(([limiter]) => [8, 200].map((workers) => [limiter, workers] as const))))(
    '%s, two processes of %i workers: a share of 0.95, then one 429 a window in all (seed %i)',
    async (limiter, workers, seed) => {
      const outcome = await run({ ...budget, limiter, workers, processes: 2, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(0.95);
      expect(Math.max(...secondHalf(together(outcome)))).toBeLessThanOrEqual(1);
      // Neither of them starves.
      expect(Math.min(...outcome.each)).toBeGreaterThan(0.15 * outcome.allowed);
    },
    TIMEOUT_MS,
  );

  test.each(seeded(WINDOWED.map(([limiter]) => [limiter] as const)))(
    '%s: a process that starts a little later finds its part (seed %i)',
    async (limiter, seed) => {
      const outcome = await simulate({ ...budget, limiter, workers: 8, processes: 2, apartMs: 300, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(0.95);
      expect(Math.min(...outcome.each)).toBeGreaterThan(0.15 * outcome.allowed);
      expect(Math.max(...secondHalf(together(outcome)))).toBeLessThanOrEqual(1);
    },
    TIMEOUT_MS,
  );

  test.each(seeded(GOALS))(
    '%s: a share of %d also in a process that is often busy with something else (seed %i)',
    async (limiter, share, seed) => {
      const outcome = await run({ ...budget, limiter, workers: 8, stalls: true, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(share);
    },
    TIMEOUT_MS,
  );
});

describe('other budgets', () => {
  const budgets = [
    [10, 1_000],
    [50, 1_000],
    [1_000, 1_000],
    [10, 10_000],
    [50, 10_000],
    [1_000, 10_000],
    [10, 60_000],
    [50, 60_000],
    [1_000, 60_000],
  ] as const;

  test.each(
    seeded(
      WINDOWED.flatMap(([limiter, share]) => budgets.map((budget) => [limiter, ...budget, share] as const)),
    ),
  )(
    '%s, limit %i in %i ms: a share of %d (seed %i)',
    async (limiter, limit, windowMs, share, seed) => {
      // Eight workers at six milliseconds are not enough for a thousand calls a second.
      const workers = limit === 1_000 && windowMs === 1_000 ? 100 : 8;
      const outcome = await run({ limiter, limit, windowMs, workers, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(share);
      expect(Math.max(...secondHalf(together(outcome)))).toBe(0);
    },
    TIMEOUT_MS,
  );

  test.each(
    seeded([
      [50, 1_000],
      [1_000, 10_000],
      [1_000, 60_000],
    ] as const),
  )(
    'token bucket, limit %i in %i ms: a share of 0.94 (seed %i)',
    async (limit, windowMs, seed) => {
      const outcome = await run({ limiter: 'token bucket', limit, windowMs, workers: 8, seed });
      expect(outcome.share).toBeGreaterThanOrEqual(0.94);
      expect(Math.max(...secondHalf(together(outcome)))).toBe(0);
    },
    TIMEOUT_MS,
  );
});
