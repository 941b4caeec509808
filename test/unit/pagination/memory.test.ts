import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { heapAfterCollection } from '../../support/heap.ts';

const RECORDS = 20_000;

// Kept, they would be some 35 MB.
test.for(['page', 'keyset'] as const)(
  'a walk by %s holds on to nothing that it has delivered',
  async (pagination) => {
    const sandbox = createSandbox({
      records: { products: RECORDS },
      pageSize: 200,
      logLimit: 0,
      rateLimit: false,
    });
    const client = createClient({
      ...sandbox.clientOptions,
      fetch: async (...request) => {
        // As HTTP does: what waits for finalizers is let go of when the event loop turns.
        await new Promise((resolve) => setImmediate(resolve));
        return sandbox.fetch(...request);
      },
    });
    const heap: number[] = [];
    let records = 0;
    for await (const page of client.products.list({}, { pagination }).pages()) {
      records += page.records.length;
      // The first look comes late enough for everything that is made once.
      if (records >= (heap.length + 1) * (RECORDS / 5)) heap.push(heapAfterCollection());
    }
    expect(records).toBe(RECORDS);
    expect(heap).toHaveLength(5);
    expect(Math.max(...heap) - (heap[0] ?? 0)).toBeLessThan(8);
  },
);
