/**
 * How much of a key's quota the rate limiter uses, in real time, against limiters on a loopback server in a process of
 * its own; beside it, workers that only wait for Retry-After and give up after five attempts.
 *
 *   npx node test/bench/rate-limiter.ts [--windows 15] [--json]
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import type { LimiterName } from '../support/rate-limiters.ts';
import type { Report, Setting } from '../support/rate-loopback.ts';

const ALLOWANCE = { limit: 100, windowMs: 2_000 };
const LIMITERS: readonly LimiterName[] = [
  'fixed window',
  'window from first call',
  'token bucket',
  'sliding counter',
  'sliding log',
];

/** About the time that a process takes to start. */
const PREPARATION_MS = 2_000;

/** What runs at the same time, each in processes of its own, against every limiter under a key of its own. */
const GROUPS: readonly (readonly Setting[])[] = [
  [
    { workers: 8, isLimited: true, processes: 1 },
    { workers: 8, isLimited: false, processes: 1 },
  ],
  [
    { workers: 200, isLimited: true, processes: 1 },
    { workers: 200, isLimited: false, processes: 1 },
  ],
  [
    { workers: 8, isLimited: true, processes: 2 },
    { workers: 8, isLimited: false, processes: 2 },
    { workers: 200, isLimited: true, processes: 2 },
  ],
];

const helper = (name: string) => new URL(`../support/${name}.ts`, import.meta.url);

/** What `--json` prints for each limiter under each setting. */
interface Row extends Omit<Report, 'allowed' | 'rateLimited'> {
  /** Of what a client with perfect knowledge could have used. */
  readonly share: number;
  readonly rateLimitedInFirstHalf: number;
  readonly rateLimitedInSecondHalf: number;
  readonly mostRateLimitedInAWindow: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { windows: { type: 'string', default: '15' }, json: { type: 'boolean', default: false } },
  });
  const windows = Number(values.windows);
  const server = fork(helper('rate-loopback'), [JSON.stringify({ ...ALLOWANCE, windows })]);
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  if (!values.json) {
    console.log(
      `limit ${ALLOWANCE.limit} in ${ALLOWANCE.windowMs} ms, ${windows} windows, loopback server\n`,
    );
    console.log(
      'limiter                 workers      limited   share   429s, first half + second        failed',
    );
  }
  const rows: Row[] = [];
  for (const group of GROUPS) {
    const reports = await Promise.all(group.map((setting) => carryOut(setting, { port, windows })));
    const ofGroup = reports.flat().map((report) => row(report, windows));
    rows.push(...ofGroup);
    if (!values.json) for (const each of ofGroup) console.log(line(each));
  }
  server.kill();
  if (values.json) console.log(JSON.stringify(rows, undefined, 2));
}

/** Lets the processes of a setting call for the time of the run, and gets the counts from the server. */
async function carryOut(setting: Setting, { port, windows }: { port: number; windows: number }) {
  const { windowMs } = ALLOWANCE;
  // All processes at once, when they have started; in the first half of a window, so that it can be used.
  const begin = Math.ceil((Date.now() + PREPARATION_MS) / windowMs) * windowMs;
  const runs = LIMITERS.map((limiter, index) => ({
    limiter,
    key: [limiter, ...Object.values(setting)].join('/'),
    // Bursts of several runs at once would measure the machine.
    startAt: begin + ((index + 1) * windowMs) / (2 * LIMITERS.length),
  }));
  const options = { runs, ...setting, port, forMs: windows * windowMs };
  const clients = Array.from({ length: setting.processes }, () =>
    fork(helper('rate-loopback-client'), [JSON.stringify(options)]),
  );
  const failures = await Promise.all(clients.map(failuresOf));
  return Promise.all(
    runs.map(async ({ limiter, key }): Promise<Report> => {
      const response = await fetch(`http://127.0.0.1:${port}/report?key=${encodeURIComponent(key)}`);
      const counts = (await response.json()) as Pick<Report, 'allowed' | 'rateLimited'>;
      return {
        ...setting,
        ...counts,
        limiter,
        failed: failures.reduce((sum, of) => sum + (of[key] ?? 0), 0),
      };
    }),
  );
}

async function failuresOf(client: ChildProcess): Promise<Record<string, number>> {
  const [failed] = (await once(client, 'message')) as [Record<string, number>];
  return failed;
}

function row({ allowed, rateLimited, ...report }: Report, windows: number): Row {
  // A bucket is full at the start and fills while it is used.
  const quota = ALLOWANCE.limit * (report.limiter === 'token bucket' ? windows + 1 : windows);
  const half = Math.ceil(windows / 2);
  const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);
  return {
    ...report,
    share: allowed / quota,
    rateLimitedInFirstHalf: sum(rateLimited.slice(0, half)),
    rateLimitedInSecondHalf: sum(rateLimited.slice(half)),
    mostRateLimitedInAWindow: Math.max(...rateLimited),
  };
}

function line({ limiter, workers, isLimited, processes, share, failed, ...counts }: Row): string {
  const rateLimited = `${counts.rateLimitedInFirstHalf} + ${counts.rateLimitedInSecondHalf}, at most ${counts.mostRateLimitedInAWindow} a window`;
  return [
    limiter.padEnd(23),
    `${processes > 1 ? `${processes} × ` : ''}${workers}`.padEnd(12),
    (isLimited ? 'yes' : 'no').padEnd(9),
    share.toFixed(3).padEnd(7),
    rateLimited.padEnd(32),
    failed,
  ].join(' ');
}

await main();
