import { createClient } from 'accounting-data-sdk';
import { beforeAll, expect, test } from 'vitest';
import { jsonResponse, newOrigin } from '../../support/scripted-fetch.ts';
import { loadTransport } from '../../support/virtual-clock.ts';

beforeAll(loadTransport);

const LIMIT = 1_000_000;

/** A client for each call, with a new key each time or always the same; the service has quota left. */
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

/** The CPU time of a piece of work, in ms. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

test.each<[string, (index: number) => string]>([
  ['of one key', () => 'key'],
  ['of as many keys', (index) => `key-${index}`],
])('12,000 calls at once %s cost no more than in proportion to 3,000', async (_name, keyOf) => {
  await calls(1_000, keyOf);
  const three = Math.min(await cpuMs(() => calls(3_000, keyOf)), await cpuMs(() => calls(3_000, keyOf)));
  const twelve = Math.min(await cpuMs(() => calls(12_000, keyOf)), await cpuMs(() => calls(12_000, keyOf)));
  // In proportion it is 4 times as much, with the square 16 times. The limit is far from both, for the garbage collector.
  expect(twelve).toBeLessThan(10 * three);
});
