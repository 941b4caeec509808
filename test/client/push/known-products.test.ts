import type { ProductDraft } from 'accounting-data-sdk';
import { productSchema } from 'accounting-data-sdk/schemas';
import { expect, test, vi } from 'vitest';
import { numbered, type PushSetUp, setUpPush } from '../../support/push.ts';
import { jsonResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const A: ProductDraft = { productNumber: 'A', name: 'Desk' };

/** Product A was pushed, and deleted by others. Another product has its id now. */
async function withReusedId(product: ProductDraft, sameMoment = false): Promise<PushSetUp> {
  const setUp = setUpPush();
  const { run, sandbox } = setUp;
  expect((await run([A])).done).toEqual(['A created']);
  const { createdAt } = sandbox.store.products.get('1') ?? {};
  sandbox.store.products.delete('1');
  await advance(3_600_000);
  sandbox.store.products.insert({ id: '1', ...product, ...(sameMoment && { createdAt }) } as never);
  return setUp;
}

test.each<[string, ProductDraft]>([
  ['another key', { productNumber: 'B', name: 'Chair' }],
  ['no key', { name: 'Chair' }],
  ['a key that a row has', { productNumber: 'C', name: 'Chair' }],
])(
  'a push leaves a product with %s alone that got the id of a deleted one, and creates that one again',
  async (_, other) => {
    const { run, sandbox } = await withReusedId(other);
    const rows = [A, { productNumber: 'C', name: 'Chair' }];
    const { done } = await run(other.productNumber === 'C' ? rows : [A]);
    expect(done).toContain('A created');
    expect(sandbox.store.products.get('1')).toMatchObject(other);
    expect(sandbox.journal.filter(({ id }) => id === '1')).toEqual([]);
    expect((await run([A])).done).toEqual(['A unchanged']);
  },
);

test('a push does not update the product that it has just created under the id of a deleted one', async () => {
  const { sandbox } = setUpPush([A]);
  const { products } = sandbox.store;
  const fetch: typeof sandbox.fetch = async (url, init) => {
    if (init?.method !== 'POST' || products.get('1')?.productNumber !== 'A')
      return await sandbox.fetch(url, init);
    products.delete('1');
    return jsonResponse(products.insert({ id: '1', ...JSON.parse(String(init.body)) }), 201);
  };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  await advance(3_600_000);
  const { done } = await run([
    { ...A, name: 'Table' },
    { productNumber: 'C', name: 'Chair' },
  ]);
  expect(done).toEqual(['A created', 'C created']);
  expect(products.all()).toMatchObject([
    { id: '1', productNumber: 'C', name: 'Chair' },
    { productNumber: 'A', name: 'Table' },
  ]);
});

test('a push takes a product that was created in the same second for the one that it knows', async () => {
  const { run, sandbox } = await withReusedId({ productNumber: 'renumbered', name: 'Desk' }, true);
  expect((await run([A])).done).toEqual(['A updated']);
  expect(sandbox.store.products.all()).toMatchObject([A]);
});

test('a push knows a renumbered product by the second of its create, whose response shows milliseconds', async () => {
  const { sandbox } = setUpPush();
  const fetch: typeof sandbox.fetch = async (url, init) => {
    const response = await sandbox.fetch(url, init);
    if (init?.method !== 'POST') return response;
    const body = (await response.text()).replace(/("createdAt":"[^"]{19})/, '$1.600');
    return new Response(body, { status: response.status, headers: response.headers });
  };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'renumbered' });
  expect((await run([A])).done).toEqual(['A updated']);
  expect(sandbox.store.products.count).toBe(1);
});

/** A service that leaves `createdAt` out. */
function withoutMoments(): PushSetUp {
  const { sandbox } = setUpPush();
  const fetch: typeof sandbox.fetch = async (url, init) => {
    const response = await sandbox.fetch(url, init);
    const body = (await response.text()).replaceAll(/"createdAt":"[^"]*",?/g, '');
    return new Response(body, { status: response.status, headers: response.headers });
  };
  return { ...setUpPush([], { client: { ...sandbox.clientOptions, fetch } }), sandbox };
}

test('a push reports a conflict if a service without createdAt shows a known product with another key, in each push', async () => {
  const { run, sandbox } = withoutMoments();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  for (const _ of [1, 2]) {
    const { results } = await run([A]);
    const reason = expect.stringContaining('has another key, and may be another product');
    expect(results).toMatchObject([{ action: 'conflict', ids: ['1'], reason }]);
  }
  expect(sandbox.store.products.all()).toMatchObject([{ productNumber: 'B', name: 'Desk' }]);
});

test('a push reports a conflict if the response to an update is another product', async () => {
  const { sandbox } = setUpPush([A]);
  const other = { id: '1', productNumber: 'B', name: 'Chair', createdAt: '2020-01-01T00:00:00Z' };
  const fetch: typeof sandbox.fetch = async (url, init) =>
    init?.method === 'PATCH' ? jsonResponse(other) : await sandbox.fetch(url, init);
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  const { results } = await run([{ ...A, name: 'Table' }]);
  const reason = expect.stringContaining('another product under the id 1');
  expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'], reason }]);
});

/** A service whose list has a product under an id that the route of one record does not find. */
function withUnreachable(id: string) {
  const { sandbox } = setUpPush();
  let isCut = true;
  const fetch: typeof sandbox.fetch = async (url, init) => {
    const path = decodeURIComponent(new URL(String(url)).pathname);
    if (isCut && path.endsWith(`/${id}`)) return problemResponse(404, { type: 'not_found' });
    return await sandbox.fetch(url, init);
  };
  const setUp = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  sandbox.store.products.insert({ ...A, id } as never);
  const mend = () => {
    isCut = false;
  };
  return { ...setUp, sandbox, mend };
}

test.each(['p.1', 'mail.host.1', '7'])(
  'a push fails a row whose product the list shows under the id %s, which cannot be requested, and creates no second one',
  async (id) => {
    const { mend, run, sandbox } = withUnreachable(id);
    expect((await run([A])).done).toEqual(['A unchanged']);
    for (const _ of [1, 2]) {
      const { results } = await run([{ ...A, name: 'Table' }, { productNumber: 'B' }]);
      const reason = `the list shows product ${id}, whose id cannot be requested`;
      expect(results.find(({ key }) => key === 'A')).toMatchObject({ action: 'failed', id, reason });
    }
    expect(sandbox.store.products.all()).toHaveLength(2);
    mend();
    expect((await run([{ ...A, name: 'Table' }])).done).toEqual(['A updated']);
  },
);

test('a push reports a conflict for two rows that were pushed to one product, which has a third key now', async () => {
  const { run, sandbox } = setUpPush();
  await run([A]);
  for (const key of ['B', 'C']) {
    sandbox.store.products.update('1', { productNumber: key });
    if (key === 'B') expect((await run([{ ...A, productNumber: 'B' }])).done).toEqual(['B unchanged']);
  }
  expect((await run([A, { ...A, productNumber: 'B' }])).done).toEqual(['A conflict', 'B conflict']);
  expect(sandbox.store.products.all()).toMatchObject([{ id: '1', productNumber: 'C' }]);
});

test('a push fails a row whose listed product is not found after an unreadable update, and says so', async () => {
  const { sandbox } = setUpPush([A]);
  const fetch: typeof sandbox.fetch = async (url, init) => {
    if (init?.method === 'PATCH') return jsonResponse({ ok: true });
    const isOfOne = new URL(String(url)).pathname.endsWith('/1');
    return isOfOne ? problemResponse(404, { type: 'not_found' }) : await sandbox.fetch(url, init);
  };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  const { results } = await run([{ ...A, name: 'Table' }]);
  expect(results).toMatchObject([{ action: 'failed', id: '1', error: { code: 'not_found' } }]);
});

test('a push that asks for long counts a known product that both of its looks miss as missed once', async () => {
  const { entries, run, sandbox } = setUpPush();
  await run([A]);
  let isHidden = true;
  const fetch: typeof sandbox.fetch = async (url, init) => {
    if (!isHidden || init?.method === 'POST') return await sandbox.fetch(url, init);
    const isOfOne = new URL(String(url)).pathname.endsWith('/1');
    return isOfOne ? problemResponse(404, { type: 'not_found' }) : jsonResponse([]);
  };
  const { run: again } = setUpPush([], { client: { ...sandbox.clientOptions, fetch } });
  const confirm = async () => {
    await advance(6_000);
    setTimeout(() => {
      isHidden = false;
    }, 10_000);
    return true;
  };
  expect((await again([A], { store: entries, confirm })).done).toEqual(['A unchanged']);
  expect(sandbox.store.products.all()).toMatchObject([A]);
});

test('a push requests the products that its store knows instead of the list, if they are fewer than its pages', async () => {
  const { run, sandbox } = setUpPush(numbered(3_000), { sandbox: { rateLimit: false } });
  const row = { productNumber: 'P-7', name: 'new' };
  await run([row]);
  expect(sandbox.count()).toBeGreaterThan(50);
  const onProgress = vi.fn();
  expect((await run([row], { onProgress })).done).toEqual(['P-7 unchanged']);
  expect(sandbox.count()).toBe(1);
  expect(onProgress).toHaveBeenCalledWith(expect.objectContaining({ phase: 'read', done: 1 }));
  const { report } = await run([{ ...row, name: 'newer' }], { dryRun: true });
  expect([report.counts.updated, report.complete, sandbox.count()]).toEqual([1, undefined, 1]);
  // A row that the store does not know, a product that was deleted, and one that was renumbered: the list says more.
  for (const change of [
    () => undefined,
    () => sandbox.store.products.delete('8'),
    () => sandbox.store.products.update('1', { productNumber: 'renumbered' }),
  ]) {
    change();
    await run([row, { productNumber: 'P-0' }]);
    expect(sandbox.count()).toBeGreaterThan(50);
  }
  expect(sandbox.store.products.count).toBe(3_000);
  expect(sandbox.store.products.get('1')).toMatchObject({ productNumber: 'P-0' });
});

test('a push finds the products of a key function although a schema renames the field, without a store too', async () => {
  const schema = productSchema.transform(({ productNumber, ...rest }) => ({
    ...rest,
    number: productNumber,
  }));
  const { sandbox } = setUpPush();
  const client = { ...sandbox.clientOptions, schemas: { products: schema } };
  for (const store of [new Map(), new Map(), new Map()]) {
    const { run } = setUpPush([], { client });
    await run([A], { store, key: (record) => record.productNumber });
  }
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push looks no further for known products whose keys differ from those of their rows only in case', async () => {
  const setUp = setUpPush(numbered(4));
  const rows = numbered(4).map(({ productNumber: key }) => ({
    productNumber: `${key}`.toLowerCase(),
    name: 'Desk',
  }));
  const { report: first } = await setUp.run(rows);
  expect(first.counts.updated).toBe(4);
  // A row that the store does not know makes the next push read the list.
  const { report } = await setUp.run([...rows, { productNumber: 'new' }]);
  expect(report.counts).toMatchObject({ unchanged: 4, created: 1 });
  expect(report.evidence.facts).not.toContain('unlisted_record');
  expect(setUp.sandbox.count(({ path }) => /products\/\d/.test(path))).toBe(0);
});
