import { createClient } from 'accounting-data-sdk';
import { type LimiterName, playScenario, type Scenario } from '../../support/rate-simulation.ts';
import { jsonResponse, newOrigin } from '../../support/scripted-fetch.ts';
import type { Effort, Findings, Table } from '../support/part.ts';

const LIMIT = 1_000_000;

/**
 * What the queue of the rate limiter costs: 1 if it is in proportion to the number of calls, 4 if it is not. And how much
 * of a quota the callers of a key get, in real time.
 */
export async function rateLimiter({ quick }: Effort): Promise<Findings> {
  const few = quick ? 300 : 3_000;
  const callsOfOneKey = await growthOf(few, () => 'key');
  const callsOfManyKeys = await growthOf(few, (index) => `key-${index}`);
  const { table, failedCalls } = await quotas(quick ? 2 : 16);
  return {
    tables: [
      table,
      {
        title: `CPU of a call among ${4 * few} at once, against one among ${few}`,
        columns: ['keys', '×'],
        rows: [
          ['one', callsOfOneKey.toFixed(2)],
          ['one for each call', callsOfManyKeys.toFixed(2)],
        ],
      },
    ],
    figures: { callsOfOneKey, callsOfManyKeys, failedCalls },
  };
}

const KINDS: readonly LimiterName[] = ['fixed', 'sliding-counter', 'token-bucket'];
const CALLERS: readonly (Partial<Scenario> & { readonly what: string })[] = [
  { what: '1 process of 8 callers', callers: 8 },
  { what: '1 process of 50 callers', callers: 50 },
  { what: '2 processes of 8', callers: 8, processes: 2 },
  { what: '2 processes of 50', callers: 50, processes: 2 },
  { what: '4 processes of 8', callers: 8, processes: 4 },
  { what: '1 process of 8, a probe hangs', callers: 8, hangsIn: 1 },
];

/** The share of a quota of 100 calls in 2 s that callers get, and the 429s that each process gets in a window. */
async function quotas(windows: number): Promise<{ readonly table: Table; readonly failedCalls: number }> {
  const rows: string[][] = [];
  let failedCalls = 0;
  for (const limiter of KINDS) {
    const runs = CALLERS.map(async ({ what, ...callers }) => {
      const run = { limiter, limit: 100, windowMs: 2_000, windows, callers: 8, seed: 1, ...callers };
      const { share, rejections, failed, longestMs } = await playScenario(run);
      failedCalls += failed;
      const perWindow = rejections.flat().reduce((sum, count) => sum + count, 0) / rejections.flat().length;
      const longest = (longestMs / 1_000).toFixed(1);
      return [limiter, what, share.toFixed(2), perWindow.toFixed(1), longest, String(failed)];
    });
    rows.push(...(await Promise.all(runs)));
  }
  const columns = ['limit', 'callers', 'share', '429s a process and window', 'longest call, s', 'failed'];
  return { table: { title: 'Use of a quota of 100 calls in 2 s', columns, rows }, failedCalls };
}

/** Makes calls at once; the service has quota left. */
async function calls(count: number, keyOf: (index: number) => string): Promise<void> {
  let remaining = LIMIT;
  const fetch = async () => {
    remaining -= 1;
    const headers = { 'x-ratelimit-limit': String(LIMIT), 'x-ratelimit-remaining': String(remaining) };
    return jsonResponse({ id: '1' }, 200, headers);
  };
  let index = 0;
  const apiKey = () => keyOf(index++);
  const limits = { maxWaitMs: 600_000, deadlineMs: 600_000 };
  const client = createClient({ baseUrl: newOrigin(), apiKey, fetch, ...limits });
  await Promise.all(Array.from({ length: count }, () => client.accounts.get('1')));
}

/** The CPU time of a call, the better of two runs. */
async function cpuOf(count: number, keyOf: (index: number) => string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 2; run += 1) {
    const before = process.cpuUsage();
    await calls(count, keyOf);
    const { user, system } = process.cpuUsage(before);
    times.push(user + system);
  }
  return Math.min(...times) / count;
}

async function growthOf(few: number, keyOf: (index: number) => string): Promise<number> {
  await calls(few, keyOf);
  const cpuOfFew = await cpuOf(few, keyOf);
  return (await cpuOf(4 * few, keyOf)) / cpuOfFew;
}
