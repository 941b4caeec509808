import { beforeAll, expect, test } from 'vitest';
import { type LimiterName, playScenario, type Result, type Scenario } from '../../support/rate-simulation.ts';
import {
  loadTransport,
  runUntilSettled,
  startVirtualClock,
  stopVirtualClock,
} from '../../support/virtual-clock.ts';

beforeAll(loadTransport);

const RUN = { limit: 50, windowMs: 1_000, windows: 9, callers: 8, seed: 0 };

const mostInAWindow = ({ rejections }: Result) => Math.max(...rejections.flat());

/** The result of a run in virtual time without a failed call. */
async function simulated(scenario: Partial<Scenario> & Pick<Scenario, 'limiter'>): Promise<Result> {
  const run = { ...RUN, ...scenario };
  startVirtualClock(run.seed);
  try {
    const result = await runUntilSettled(playScenario(run));
    expect(result.failed).toBe(0);
    return result;
  } finally {
    stopVirtualClock();
  }
}

test.each<[LimiterName, share: number, most429s: number]>([
  ['fixed', 0.97, 1],
  ['fixed-from-first', 0.97, 1],
  ['token-bucket', 0.93, 2],
  ['sliding-counter', 0.78, 2],
])(
  '%s: uses %d of the quota with no failed call and at most %d 429s a window',
  async (limiter, share, most) => {
    for (const run of [
      { limit: 100, windowMs: 2_000, callers: 50 },
      { limit: 50, windowMs: 2_000, callers: 50, seed: 1 },
    ]) {
      const result = await simulated({ limiter, ...run });
      expect(mostInAWindow(result)).toBeLessThanOrEqual(most);
      expect(result.share).toBeGreaterThanOrEqual(share);
    }
  },
);

test.each([
  { processes: 2, callers: 50 },
  { processes: 4, callers: 8 },
])(
  '$processes processes of $callers callers use 0.95 of the quota, each with no more 429s a window than it has callers',
  async (run) => {
    const result = await simulated({ limiter: 'fixed', ...run });
    expect(mostInAWindow(result)).toBeLessThanOrEqual(run.callers);
    expect(result.share).toBeGreaterThanOrEqual(0.95);
  },
);
