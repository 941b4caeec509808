import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, pushAndDie, setUpPush } from '../../support/push.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const products = (count: number) => numbered(count, { isInactive: false });
const deactivate = () => ({ isInactive: true });

test('a push updates missing products with the patch of the missing function, and only those that differ from it', async () => {
  const { run, ids } = setUpPush([...products(3), { name: 'without a key' }]);
  // By default they are kept.
  expect((await run(products(1))).commits).toEqual([]);
  const { report, results } = await run(products(1), { missing: deactivate });
  expect(report.counts).toMatchObject({ unchanged: 1, updated: 2, deleted: 0 });
  expect(results.slice(1)).toMatchObject([
    { key: 'P-1', index: undefined, action: 'updated', id: ids[1], fields: ['isInactive'] },
    { key: 'P-2', index: undefined, action: 'updated', id: ids[2] },
  ]);
  expect((await run(products(1), { missing: deactivate })).commits).toEqual([]);
});

test("a push with missing: 'delete' deletes missing products, but none without a key", async () => {
  const { run, sandbox } = setUpPush([
    ...products(3),
    { name: 'none' },
    { productNumber: '', name: 'empty' },
  ]);
  const { done, report } = await run(products(1), { missing: 'delete' });
  expect(done).toEqual(['P-0 unchanged', 'P-1 deleted', 'P-2 deleted']);
  expect(report.counts.deleted).toBe(2);
  expect(sandbox.store.products.ids()).toEqual(['1', '4', '5']);
});

test.each([
  ['DELETE', 'delete' as const],
  ['PATCH', deactivate],
])('a push reports nothing about a missing product whose %s returns 404', async (method, missing) => {
  const { run, sandbox } = setUpPush(products(2));
  sandbox.faults.add({ kind: 'status', status: 404, type: 'not_found' }, { method, times: 1 });
  expect((await run(products(1), { missing })).done).toEqual(['P-0 unchanged']);
});

test('a push does not delete a product that got the key of a row since it was read', async () => {
  const { run, sandbox, ids } = setUpPush(products(2));
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') sandbox.store.products.update(ids[1] ?? '', { productNumber: 'P-0' });
  });
  const { done } = await run([...products(1), { productNumber: 'NEW' }], { missing: 'delete' });
  expect(done).toEqual(['NEW created', 'P-0 unchanged']);
  expect(sandbox.store.products.get(ids[1] ?? '')).toBeDefined();
});

test('a push does not treat a product as missing that an earlier push created under a changed key', async () => {
  const storedKey = (key: string) => (key.startsWith('PREFIX-') ? key : `PREFIX-${key}`);
  const setUp = setUpPush(products(2), { quirks: { storedKey } });
  const { sandbox, run } = setUp;
  const rows = [...products(1), { productNumber: 'NEW' }];
  await pushAndDie(setUp, rows);
  // Without a response to the repeat, it is not known whether the third product is that of the row.
  sandbox.faults.add({ kind: 'connection-refused' }, { method: 'POST', times: 9 });
  expect(await run(rows, { missing: 'delete', ...ONCE })).toMatchObject({ commits: [] });
  sandbox.faults.clear();
  // The service replays the create.
  const { done } = await run(rows, { missing: 'delete' });
  expect(done).toEqual(['NEW updated', 'P-0 unchanged', 'P-1 deleted']);
  expect(sandbox.store.products.get('3')?.productNumber).toBe('PREFIX-NEW');
});

test.each([null, { id: '9' }])(
  'a push writes nothing if the missing function returns %j instead of a patch',
  async (patch) => {
    const { run, sandbox } = setUpPush(products(2));
    const error = await caught(run(products(1), { missing: () => patch as never }));
    expect(error).toMatchObject({
      code: 'push_failed',
      cause: { code: 'invalid_input', argument: expect.stringMatching(/^missing(?:\.\w+)?$/) },
      message: expect.stringContaining('(1 row read; '),
    });
    expect(sandbox.journal).toEqual([]);
  },
);

test.each([
  ['a row in conflict', { productNumber: 'A', name: 'y' }, 'A conflict'],
  ['an invalid row', { productNumber: 'A', salePrice: 'five' }, 'A failed'],
])('a push does not delete a product that the key of %s may mean', async (_, uncertain, result) => {
  for (const key of ['A ', 'a']) {
    const { run, sandbox } = setUpPush([
      ...products(1),
      { productNumber: key },
      { productNumber: ` ${key}` },
    ]);
    const { done, commits } = await run([...products(1), uncertain], { missing: 'delete' });
    expect([done, commits]).toEqual([[result, 'P-0 unchanged'], []]);
    expect(sandbox.store.products.all()).toHaveLength(3);
  }
});

test('a push treats no product as missing if a row has no key, and never the product of an invalid row', async () => {
  const without = await setUpPush(products(3)).run([{ productNumber: 'P-0' }, {}], { missing: 'delete' });
  expect(without.done).toEqual(['P-0 unchanged', 'undefined failed']);
  const rows = [{ productNumber: 'P-0' }, { productNumber: 'P-1', salePrice: 'free' }];
  const invalid = await setUpPush(products(2)).run(rows, { missing: 'delete' });
  expect(invalid.done).toEqual(['P-0 unchanged', 'P-1 failed']);
});

test.each([
  ['there are no rows', [], 'empty_read', 60],
  ['no product has a row', [{ productNumber: 'other' }], 'few_local_ids_seen', 60],
  ['more are missing than maxCandidates', products(9), 'too_many_candidates', 51],
] as const)('a push writes nothing if %s', async (_, rows, reason, deleted) => {
  const { run, sandbox } = setUpPush(products(60));
  const error = await caught(run([...rows], { missing: 'delete' }));
  const report = { local: rows.length, seen: 60, missing: deleted, candidates: deleted };
  expect(error).toMatchObject({ code: 'deletions_aborted', reason, maxCandidates: 50, report });
  for (const words of [`${deleted} of 60`, 'nothing was written', 'maxCandidates'])
    expect((error as Error).message).toContain(words);
  expect(sandbox.journal).toEqual([]);

  const options = { missing: 'delete', maxCandidates: Number.POSITIVE_INFINITY } as const;
  expect((await run([...rows], options)).report.counts).toMatchObject({ deleted });
});

test('a push deletes at most a tenth of the products that have a key, if that is more than 50', async () => {
  const { run, sandbox } = setUpPush(products(600), { sandbox: { pageSize: 200 } });
  const error = await caught(run(products(530), { missing: 'delete' }));
  expect(error).toMatchObject({ code: 'deletions_aborted', maxCandidates: 60, report: { candidates: 70 } });
  expect(sandbox.store.products.all()).toHaveLength(600);
  expect((await run(products(540), { missing: 'delete' })).report.counts).toMatchObject({ deleted: 60 });
});

test('a push counts each product once against maxCandidates if it reads the list again', async () => {
  // A seed with which keyset pagination alone misses a product.
  const { run, client } = setUpPush(numbered(100), {
    sandbox: { seed: 27, order: 'none', pageSize: 10, hiddenRecords: 0.1 },
  });
  const visible = await client.products.list({}, { pagination: 'page' }).toArray({ limit: 100 });
  const rows = visible.slice(0, 5).map(({ productNumber }) => ({ productNumber }));
  const error = await caught(run(rows, { missing: 'delete' }));
  const missing = visible.length - 5;
  expect(error).toMatchObject({ report: { seen: visible.length, missing, candidates: missing } });
});

test('a push does not delete the product of a row that has another key by now, even if its update fails', async () => {
  const { run, sandbox } = setUpPush();
  const rows = products(2);
  await run(rows);
  sandbox.store.products.update('1', { productNumber: 'renumbered' });
  sandbox.faults.add({ kind: 'status', status: 422 }, { method: 'PATCH', times: 1 });
  expect((await run(rows, { missing: 'delete' })).done).toEqual(['P-0 failed', 'P-1 unchanged']);
  expect(sandbox.store.products.all()).toHaveLength(2);
});
