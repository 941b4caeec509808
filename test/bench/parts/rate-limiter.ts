import { createClient } from 'accounting-data-sdk';
import { jsonResponse, newOrigin } from '../../support/scripted-fetch.ts';
import type { Findings } from '../support/part.ts';

const LIMIT = 1_000_000;

/** What the queue of the rate limiter costs: 1 if it is in proportion to the number of calls, 4 if it is not. */
export async function rateLimiter(): Promise<Findings> {
  const callsOfOneKey = await growthOf(() => 'key');
  const callsOfManyKeys = await growthOf((index) => `key-${index}`);
  return {
    tables: [
      {
        title: 'CPU of a call among 12,000 at once, against one among 3,000',
        columns: ['keys', '×'],
        rows: [
          ['one', callsOfOneKey.toFixed(2)],
          ['one for each call', callsOfManyKeys.toFixed(2)],
        ],
      },
    ],
    figures: { callsOfOneKey, callsOfManyKeys },
  };
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

async function growthOf(keyOf: (index: number) => string): Promise<number> {
  await calls(1_000, keyOf);
  const few = await cpuOf(3_000, keyOf);
  return (await cpuOf(12_000, keyOf)) / few;
}
