import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { setUpPush } from '../../support/push.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

// Within 3 s after another push of the tenant, every product is read.
useVirtualClock();

const MINUTE = 60_000;
const rows: ProductDraft[] = Array.from({ length: 12 }, (_, n) => ({ productNumber: `P-${n}`, name: 'x' }));

test.each([-300 * MINUTE, 0, 2 * MINUTE, 120 * MINUTE])(
  'a push creates deleted products again if timestamps are %i ms ahead of Date',
  async (timestampOffsetMs) => {
    const { run, sandbox } = setUpPush([], { sandbox: { timestampOffsetMs } });
    await run(rows);
    await advance(MINUTE);
    for (const id of ['2', '5', '9']) sandbox.store.products.delete(id);
    const fresh = rows.map(({ productNumber }) => ({ productNumber: `NEW-${productNumber}` }));
    const { report } = await run([...fresh, ...rows], { concurrency: 1 });
    expect(report.counts).toMatchObject({ created: 15, unchanged: 9 });
    expect(sandbox.store.products.all()).toHaveLength(24);
  },
);

test.each([-300 * MINUTE, 0, 120 * MINUTE])(
  'a push reads only the first of many new products if timestamps are %i ms ahead of Date',
  async (timestampOffsetMs) => {
    const { run, sandbox } = setUpPush([], { sandbox: { timestampOffsetMs } });
    const { report } = await run(rows, { concurrency: 1 });
    expect(report.counts).toMatchObject({ created: 12 });
    expect(sandbox.count(({ path, method }) => method === 'GET' && /\d$/.test(path))).toBe(1);
  },
);

test('a push reads a product that is as old as an existing one, because it can have been deleted', async () => {
  const { run, sandbox } = setUpPush([], { sandbox: { hiddenRecords: ['1', '2'] } });
  await run(rows.slice(0, 2), { concurrency: 1 });
  await advance(MINUTE);
  sandbox.store.products.delete('2');
  const { done } = await run([{ productNumber: 'NEW' }, ...rows.slice(0, 2)], { concurrency: 1 });
  expect(done).toEqual(['NEW created', 'P-0 unchanged', 'P-1 created']);
  expect(sandbox.store.products.all()).toHaveLength(3);
});

test('a push reads a product whose timestamp is further ahead of Date than that of a new one', async () => {
  const { run, sandbox } = setUpPush();
  await run(rows.slice(0, 1));
  await advance(MINUTE);
  sandbox.store.products.delete('1');
  sandbox.faults.add({ kind: 'clock-skew', byMs: -120 * MINUTE }, { method: 'POST', skip: 1, times: 1 });
  await run([{ productNumber: 'NEW' }, ...rows.slice(0, 1)], { concurrency: 1 });
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push shortly after another one of the tenant reads each product, even if one of another tenant ran in between', async () => {
  const { run, sandbox } = setUpPush();
  await run(rows.slice(0, 1));
  await run([], { tenant: 'other' });
  sandbox.store.products.delete('1');
  await run([{ productNumber: 'NEW' }, ...rows.slice(0, 1)], { concurrency: 1 });
  expect(sandbox.store.products.all()).toHaveLength(2);
});
