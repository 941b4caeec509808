import { createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { runUntilSettled, useVirtualClock } from '../../../support/virtual-clock.ts';
import { listed } from '../service/client.ts';
import { SimServer } from '../service/server.ts';

useVirtualClock();

const LATENCY_MS = 50;
const PAGE_SIZE = 30;

interface Collection {
  readonly ids: 'dense' | 'sparse' | 'bursts';
  readonly deleted: number;
  readonly pages: number;
}

interface Cost {
  /** Compared with a read by page, with the empty page at its end. */
  readonly requests: number;
  readonly ms: number;
}

let services = 0;

async function read({ ids, deleted, pages }: Collection, prefetch: number): Promise<Cost> {
  const random = new SeededRandom(5);
  const records = Math.round((pages * PAGE_SIZE) / (1 - deleted));
  const server = new SimServer({ seed: 1, ids, order: 'id asc', records, pageSize: PAGE_SIZE });
  for (const id of server.ids.toSorted((a, b) => Number(a) - Number(b)))
    if (random.chance(deleted)) server.delete(id);

  const { accounts } = createClient({
    baseUrl: `https://ahead-${++services}.example.com`,
    apiKey: 'key-of-the-company',
    fetch: async (url) => {
      await sleep(LATENCY_MS);
      const { records: rows } = await listed(server, new URL(url).searchParams);
      return Response.json(rows);
    },
    rateLimiter: false,
  });
  const startedAt = Date.now();
  const options = { pagination: 'keyset', prefetch } as const;
  const delivered = await runUntilSettled(
    accounts.list({}, options).toArray({ limit: Number.POSITIVE_INFINITY }),
  );
  const existing = server.ids.length;
  expect(delivered).toHaveLength(existing);
  return {
    requests: server.requests / (Math.ceil(existing / PAGE_SIZE) + 1),
    ms: Date.now() - startedAt,
  };
}

const sleep = (ms: number) => new Promise<void>((resolve) => globalThis.setTimeout(resolve, ms));

test.each([
  [{ ids: 'dense', deleted: 0, pages: 60 }, 0.37, 1.15],
  [{ ids: 'dense', deleted: 0.3, pages: 60 }, 0.4, 1.5],
  [{ ids: 'sparse', deleted: 0, pages: 60 }, 0.5, 1.9],
  [{ ids: 'bursts', deleted: 0, pages: 60 }, 1.02, 2.4],
] as const)(
  'keyset with prefetch: 4 reads %j in at most %d of the time of one after another, with %d times the requests of pages',
  async (collection, time, requests) => {
    const alone = await read(collection, 0);
    const ahead = await read(collection, 4);
    expect(ahead.ms / alone.ms).toBeLessThanOrEqual(time);
    expect(ahead.requests).toBeLessThanOrEqual(requests);
  },
);
