import { createClient } from 'accounting-data-sdk';
import { jsonResponse, newOrigin } from '../../support/scripted-fetch.ts';

const LIMIT = 1_000_000;

/** So many calls at once of a client with the same key for each, or a new one; the service has quota left. */
async function calls(count: number, keyOf: (index: number) => string): Promise<void> {
  let remaining = LIMIT;
  const baseUrl = newOrigin();
  const fetch = async () => {
    remaining -= 1;
    return jsonResponse({ id: '1' }, 200, {
      'x-ratelimit-limit': String(LIMIT),
      'x-ratelimit-remaining': String(remaining),
    });
  };
  let index = 0;
  const apiKey = () => keyOf(index++);
  const client = createClient({ baseUrl, apiKey, fetch, maxWaitMs: 600_000, deadlineMs: 600_000 });
  await Promise.all(Array.from({ length: count }, () => client.accounts.get('1')));
}

/** The CPU time of so many calls, the better of two runs. */
async function cpuOf(count: number, keyOf: (index: number) => string): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 2; run += 1) {
    const before = process.cpuUsage();
    await calls(count, keyOf);
    const { user, system } = process.cpuUsage(before);
    times.push(user + system);
  }
  return Math.min(...times);
}

/** CPU of a call among 12,000 at once, against one among 3,000: 1 if it is in proportion, 4 if it is not. */
export async function growthOf(keyOf: (index: number) => string): Promise<number> {
  await calls(1_000, keyOf);
  const few = await cpuOf(3_000, keyOf);
  return (await cpuOf(12_000, keyOf)) / few / 4;
}
