import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { LimiterName } from '../../support/rate-limiters.ts';
import type { RateCallersOptions } from '../programs/rate-callers.ts';
import type { KeyReport, RateServiceOptions } from '../programs/rate-service.ts';
import { growthOf } from '../support/many-calls.ts';
import type { Effort, Findings } from '../support/part.ts';

const ALLOWANCE = { limit: 100, windowMs: 2_000 };
const FIXED_WINDOWS: readonly LimiterName[] = ['fixed window', 'window from first call'];
const LIMITERS: readonly LimiterName[] = [...FIXED_WINDOWS, 'token bucket', 'sliding counter', 'sliding log'];

/** Who calls each limiter under a key of its own. */
interface Callers {
  readonly workers: number;
  readonly processes: number;
}

/** Those of a group run at the same time. */
const GROUPS: readonly (readonly Callers[])[] = [
  [
    { workers: 8, processes: 1 },
    { workers: 200, processes: 1 },
  ],
  [
    { workers: 8, processes: 2 },
    { workers: 200, processes: 2 },
  ],
];

/** About the time that a process takes to start. */
const PREPARATION_MS = 2_000;

interface Row extends Callers, KeyReport {
  readonly limiter: LimiterName;
  /** Of what a client with perfect knowledge could have used. */
  readonly share: number;
  readonly failed: number;
}

/** How much of a key's quota the rate limiter uses, in real time, and what its queue costs. */
export async function rateLimiter({ quick }: Effort): Promise<Findings> {
  const rows = await rowsOf(quick ? 2 : 15);
  const least = (limiters: readonly LimiterName[], processes: number) =>
    Math.min(
      ...rows
        .filter((row) => limiters.includes(row.limiter) && row.processes === processes)
        .map(({ share }) => share),
    );
  return {
    tables: [
      {
        title: 'Share of the quota of a key, and 429s',
        columns: ['limiter', 'workers', 'share', '429s, by half', 'most a window', 'failed calls'],
        rows: rows.map(({ limiter, processes, workers, share, rateLimited, failed }) => {
          const half = Math.ceil(rateLimited.length / 2);
          return [
            limiter,
            processes > 1 ? `${processes} × ${workers}` : `${workers}`,
            share.toFixed(2),
            `${sum(rateLimited.slice(0, half))} + ${sum(rateLimited.slice(half))}`,
            `${Math.max(...rateLimited)}`,
            `${failed}`,
          ];
        }),
      },
    ],
    figures: {
      fixedWindows: least(FIXED_WINDOWS, 1),
      tokenBucket: least(['token bucket'], 1),
      slidingCounter: least(['sliding counter'], 1),
      twoProcesses: least(FIXED_WINDOWS, 2),
      callsOfOneKey: await growthOf(() => 'key'),
      callsOfManyKeys: await growthOf((index) => `key-${index}`),
      failedCalls: sum(rows.map(({ failed }) => failed)),
    },
  };
}

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

function start(program: string, options: RateServiceOptions | RateCallersOptions): ChildProcess {
  return fork(new URL(`../programs/${program}.ts`, import.meta.url), [JSON.stringify(options)]);
}

async function messageOf<T>(process: ChildProcess): Promise<T> {
  const [message] = (await once(process, 'message')) as [T];
  return message;
}

async function rowsOf(windows: number): Promise<Row[]> {
  const service = start('rate-service', { ...ALLOWANCE, windows });
  const { port } = await messageOf<{ port: number }>(service);
  const rows: Row[] = [];
  for (const group of GROUPS) {
    rows.push(...(await Promise.all(group.map((callers) => carryOut(callers, port, windows)))).flat());
  }
  service.kill();
  return rows;
}

/** Lets the processes call for the time of the run, and gets the counts from the service. */
async function carryOut(callers: Callers, port: number, windows: number): Promise<Row[]> {
  const { limit, windowMs } = ALLOWANCE;
  // All processes at once, when they have started; in the first half of a window, so that it can be used.
  const begin = Math.ceil((Date.now() + PREPARATION_MS) / windowMs) * windowMs;
  const runs = LIMITERS.map((limiter, index) => ({
    limiter,
    key: [limiter, ...Object.values(callers)].join('/'),
    // Bursts of several runs at once would measure the machine.
    startAt: begin + ((index + 1) * windowMs) / (2 * LIMITERS.length),
  }));
  const options = { runs, workers: callers.workers, port, forMs: windows * windowMs };
  const processes = Array.from({ length: callers.processes }, () => start('rate-callers', options));
  const failures = await Promise.all(processes.map((each) => messageOf<Record<string, number>>(each)));
  return Promise.all(
    runs.map(async ({ limiter, key }) => {
      const response = await fetch(`http://127.0.0.1:${port}/report?key=${encodeURIComponent(key)}`);
      const report = (await response.json()) as KeyReport;
      // A bucket is full at the start and fills while it is used.
      const share = report.allowed / (limit * (limiter === 'token bucket' ? windows + 1 : windows));
      return { ...callers, ...report, limiter, share, failed: sum(failures.map((of) => of[key] ?? 0)) };
    }),
  );
}
