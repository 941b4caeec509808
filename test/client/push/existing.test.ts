import type { Product } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { numbered, setUpPush } from '../../support/push.ts';

const rows = [
  { productNumber: 'A', name: 'Desk' },
  { productNumber: 'B', name: 'Chair' },
];

/** A service with two products, and a copy of them that is an hour old. */
function withCopy(sandboxOptions = {}) {
  const setUp = setUpPush(rows, { sandbox: { clock: '2026-01-31T12:00:00Z', ...sandboxOptions } });
  const products: Product[] = setUp.sandbox.store.products
    .all()
    .map((product) => ({ ...product }) as Product);
  setUp.sandbox.clock.advance(3_600_000);
  return { ...setUp, existing: { products, asOf: '2026-01-31T12:00:00Z' } };
}

test('a push compares with an AsyncIterable of existing.products, and reads only what changed since asOf', async () => {
  const { run, existing, sandbox } = withCopy();
  sandbox.clock.advance(3_600_000);
  async function* products() {
    yield* existing.products;
  }
  const changed = [{ productNumber: 'A', name: 'Table' }, ...rows.slice(1)];
  const { done } = await run(changed, { existing: { ...existing, products: products() }, lookbackMs: 1000 });
  expect(done).toEqual(['A updated', 'B unchanged']);
  expect(sandbox.requests[0]?.query).toMatchObject({ updatedSince: '2026-01-30T23:59:59-12:00' });
});

test('a push prefers what changed after asOf to existing.products', async () => {
  const { run, existing, sandbox, ids } = withCopy();
  sandbox.store.products.update(ids[0] ?? '', { name: 'Changed' });
  sandbox.store.products.update(ids[1] ?? '', { productNumber: 'C' });
  sandbox.store.products.insert({ productNumber: 'D', name: 'New' });
  const { done } = await run([...rows, { productNumber: 'D', name: 'New' }], { existing });
  expect(done).toEqual(['A updated', 'B created', 'D unchanged']);
});

test('a push counts a product that was deleted after asOf as unchanged, and creates it if its row differs', async () => {
  const { run, existing, sandbox, ids } = withCopy();
  sandbox.store.products.delete(ids[0] ?? '');
  expect((await run(rows, { existing })).done).toEqual(['A unchanged', 'B unchanged']);
  const { results } = await run([{ productNumber: 'A', name: 'Table' }], { existing });
  expect(results).toMatchObject([{ action: 'created', id: '3' }]);
});

test('a push finds what changed since asOf on a service that compares local times', async () => {
  const { run, existing, sandbox } = withCopy({
    timestamps: 'offset',
    timeZone: 'America/New_York',
    dateFilter: 'local',
  });
  sandbox.store.products.insert({ productNumber: 'D', name: 'New' });
  expect((await run([{ productNumber: 'D', name: 'New' }], { existing })).done).toEqual(['D unchanged']);
});

test('a push counts a product once if its list starts again and shows it twice', async () => {
  const { run } = setUpPush(numbered(80), { sandbox: { order: 'none', pageSize: 10, hiddenRecords: 0.1 } });
  const { report } = await run(numbered(80));
  expect(report.counts.conflict).toBe(0);
});

test('a push fails rows without a product if the list of changes repeats products each time it is read', async () => {
  const sandboxOptions = { order: 'updated-asc', ties: 'each-page', pageSize: 10, ids: { form: 'uuid' } };
  const { run, existing, sandbox } = withCopy(sandboxOptions);
  for (let n = 0; n < 60; n++) sandbox.store.products.insert({ productNumber: `X-${n}` });
  const { done, commits } = await run([...rows, { productNumber: 'NEW' }], { existing });
  expect([done, commits]).toEqual([['A unchanged', 'B unchanged', 'NEW failed'], []]);
});

test('a push prefers what changed after asOf to existing.products, even if it is invalid', async () => {
  const { run, existing, sandbox, ids } = withCopy();
  sandbox.store.products.update(ids[0] ?? '', { productNumber: 'C', brand: 5 as never });
  expect((await run(rows, { existing })).done).toEqual(['A created', 'B unchanged']);
});
