import type { Effort, Findings } from '../support/part.ts';
import { printedBy } from '../support/rows-of.ts';

/** What `rate-gate.ts --json` prints for each limiter under each setting. */
interface Row {
  readonly limiter: string;
  readonly workers: number;
  readonly gate: boolean;
  readonly processes: number;
  readonly share: number;
  readonly failed: number;
  readonly refusedInFirstHalf: number;
  readonly refusedInSecondHalf: number;
  readonly mostRefusedInAWindow: number;
}

const FIXED_WINDOWS = ['fixed window', 'window from first call'];

export async function rateLimiter({ quick }: Effort): Promise<Findings> {
  const printed = await printedBy('rate-gate.ts', '--json', '--windows', quick ? '2' : '15');
  const rows = JSON.parse(printed) as readonly Row[];
  const gated = rows.filter(({ gate }) => gate);
  const least = (limiters: readonly string[], processes: number) =>
    Math.min(
      ...gated
        .filter((row) => limiters.includes(row.limiter) && row.processes === processes)
        .map(({ share }) => share),
    );
  return {
    tables: [
      {
        title: 'Share of the budget of a key, and 429s',
        columns: ['limiter', 'workers', 'gate', 'share', '429s, by half', 'most a window', 'failed calls'],
        rows: rows.map((row) => [
          row.limiter,
          row.processes > 1 ? `${row.processes} × ${row.workers}` : `${row.workers}`,
          row.gate ? 'yes' : 'no',
          row.share.toFixed(2),
          `${row.refusedInFirstHalf} + ${row.refusedInSecondHalf}`,
          `${row.mostRefusedInAWindow}`,
          `${row.failed}`,
        ]),
      },
    ],
    figures: {
      fixedWindows: least(FIXED_WINDOWS, 1),
      tokenBucket: least(['token bucket'], 1),
      slidingCounter: least(['sliding counter'], 1),
      twoProcesses: least(FIXED_WINDOWS, 2),
      failedCalls: gated.reduce((sum, { failed }) => sum + failed, 0),
    },
  };
}
