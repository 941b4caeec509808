import { expect, test } from 'vitest';
import { measureSync } from '../../reliability/soak/sync-memory.ts';

// 20,000 products are some 35 MB: kept, they would be seen. The soak walks a million.
test('the heap does not grow with what is synced or reconciled', { timeout: 120_000 }, async () => {
  const heap = await measureSync(20_000, 2);
  expect(heap.sync).toHaveLength(2);
  expect(heap.reconcile).toHaveLength(2);
  expect(Math.max(...heap.sync, ...heap.reconcile)).toBeLessThan(20);
});
