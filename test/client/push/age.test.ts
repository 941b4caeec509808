import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { setUpPush } from '../../support/push.ts';

const MINUTE = 60_000;
const rows: ProductDraft[] = Array.from({ length: 12 }, (_, n) => ({ productNumber: `P-${n}`, name: 'x' }));

test.each([-300 * MINUTE, 0, 2 * MINUTE, 120 * MINUTE])(
  'creates deleted products again if timestamps are %i ms ahead of Date',
  async (timestampOffsetMs) => {
    const { run, sandbox } = setUpPush([], { sandbox: { timestampOffsetMs } });
    await run(rows);
    sandbox.clock.advance(MINUTE);
    for (const id of ['2', '5', '9']) sandbox.store.products.delete(id);
    const fresh = rows.map(({ productNumber }) => ({ productNumber: `NEW-${productNumber}` }));
    const { report } = await run([...fresh, ...rows], { concurrency: 1 });
    expect(report.counts).toMatchObject({ created: 15, unchanged: 9 });
    expect(sandbox.store.products.all()).toHaveLength(24);
  },
);

test.each([-300 * MINUTE, 0, 120 * MINUTE])(
  'reads only the first of many new products if timestamps are %i ms ahead of Date',
  async (timestampOffsetMs) => {
    const { run, sandbox } = setUpPush([], { sandbox: { timestampOffsetMs } });
    const { report } = await run(rows, { concurrency: 1 });
    expect(report.counts).toMatchObject({ created: 12 });
    expect(sandbox.count(({ path, method }) => method === 'GET' && /\d$/.test(path))).toBe(1);
  },
);
