import { growthOf } from '../support/many-calls.ts';
import type { Effort, Findings } from '../support/part.ts';
import { printedBy } from '../support/rows-of.ts';

/** What `rate-limiter.ts --json` prints for each limiter under each setting. */
interface Row {
  readonly limiter: string;
  readonly workers: number;
  readonly isLimited: boolean;
  readonly processes: number;
  readonly share: number;
  readonly failed: number;
  readonly rateLimitedInFirstHalf: number;
  readonly rateLimitedInSecondHalf: number;
  readonly mostRateLimitedInAWindow: number;
}

const FIXED_WINDOWS = ['fixed window', 'window from first call'];

export async function rateLimiter({ quick }: Effort): Promise<Findings> {
  const printed = await printedBy('rate-limiter.ts', '--json', '--windows', quick ? '2' : '15');
  const rows = JSON.parse(printed) as readonly Row[];
  const limited = rows.filter(({ isLimited }) => isLimited);
  const least = (limiters: readonly string[], processes: number) =>
    Math.min(
      ...limited
        .filter((row) => limiters.includes(row.limiter) && row.processes === processes)
        .map(({ share }) => share),
    );
  return {
    tables: [
      {
        title: 'Share of the quota of a key, and 429s',
        columns: [
          'limiter',
          'workers',
          'limiter on',
          'share',
          '429s, by half',
          'most a window',
          'failed calls',
        ],
        rows: rows.map((row) => [
          row.limiter,
          row.processes > 1 ? `${row.processes} × ${row.workers}` : `${row.workers}`,
          row.isLimited ? 'yes' : 'no',
          row.share.toFixed(2),
          `${row.rateLimitedInFirstHalf} + ${row.rateLimitedInSecondHalf}`,
          `${row.mostRateLimitedInAWindow}`,
          `${row.failed}`,
        ]),
      },
    ],
    figures: {
      fixedWindows: least(FIXED_WINDOWS, 1),
      tokenBucket: least(['token bucket'], 1),
      slidingCounter: least(['sliding counter'], 1),
      twoProcesses: least(FIXED_WINDOWS, 2),
      callsOfOneKey: await growthOf(() => 'key'),
      callsOfManyKeys: await growthOf((index) => `key-${index}`),
      failedCalls: limited.reduce((sum, { failed }) => sum + failed, 0),
    },
  };
}
