import { createClient } from 'accounting-data-sdk';
import { jsonResponse, newOrigin } from '../../support/scripted-fetch.ts';
import type { Effort, Findings } from '../support/part.ts';

const LIMIT = 1_000_000;

/** What the queue of the rate limiter costs: 1 if it is in proportion to the number of calls, 4 if it is not. */
export async function rateLimiter({ quick }: Effort): Promise<Findings> {
  const few = quick ? 300 : 3_000;
  const callsOfOneKey = await growthOf(few, () => 'key');
  const callsOfManyKeys = await growthOf(few, (index) => `key-${index}`);
  return {
    tables: [
      {
        title: `CPU of a call among ${4 * few} at once, against one among ${few}`,
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

async function growthOf(few: number, keyOf: (index: number) => string): Promise<number> {
  await calls(few, keyOf);
  const cpuOfFew = await cpuOf(few, keyOf);
  return (await cpuOf(4 * few, keyOf)) / cpuOfFew;
}
