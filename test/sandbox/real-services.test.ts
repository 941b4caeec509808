import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';

describe('text', () => {
  test.each([
    [{ trim: true }, ' Desk\u00A0 ', 'Desk'],
    [{ nfc: true }, 'Cafe\u0301', 'Caf\u00E9'],
    [{ letters: 'upper' }, 'ab-1', 'AB-1'],
    [{ letters: 'lower', trim: true }, ' AB-1', 'ab-1'],
    [{ prefix: 'P-' }, '17', 'P-17'],
    [{ prefix: 'P-' }, 'P-17', 'P-17'],
    [{ fields: ['name'], letters: 'upper' }, 'ab', 'ab'],
  ] as const)('%j stores %j as %j', async (text, sent, stored) => {
    const sandbox = createSandbox({ text });
    await createProduct(sandbox, { productNumber: sent, tags: [sent], salePrice: '1' });
    expect(sandbox.store.products.get('1')).toMatchObject({ productNumber: stored, tags: [sent] });
    const patched = await call(sandbox, '/products/1', { method: 'PATCH', body: { productNumber: sent } });
    expect(patched.record.productNumber).toBe(stored);
  });
});

test.each([7_200_000, -18_000_000])('timestampOffsetMs %d moves timestamps, not Date', async (offset) => {
  const now = Date.UTC(2026, 0, 31, 12);
  const sandbox = createSandbox({ clock: now, timestampOffsetMs: offset });
  const { headers, record } = await createProduct(sandbox, {});
  expect(Date.parse(headers.get('date') ?? '')).toBe(now);
  expect([record.createdAt, record.updatedAt].map((at) => Date.parse(String(at)) - now)).toEqual([
    offset,
    offset,
  ]);
  const since = (ms: number) => call(sandbox, `/products?updatedSince=${new Date(ms).toISOString()}`);
  expect((await since(now + offset)).list).toHaveLength(1);
  expect((await since(now + offset + 1000)).list).toHaveLength(0);
});

describe('ties', () => {
  const tied = (ties: 'id-asc' | 'each-page' | 'each-response') => {
    const sandbox = createSandbox({ ties, order: 'updated-asc', clock: 0, pageSize: 20 });
    for (const _ of Array(60)) sandbox.store.boms.insert({});
    return sandbox;
  };
  const pages = async (sandbox: ReturnType<typeof tied>) =>
    (await Promise.all([1, 2, 3].map((page) => call(sandbox, `/boms?_page=${page}`)))).map(ids);

  test('each-page loses records of a read by page, and the same page again has the same records', async () => {
    const sandbox = tied('each-page');
    const first = await pages(sandbox);
    expect(await pages(sandbox)).toEqual(first);
    expect(new Set(first.flat()).size).toBeLessThan(60);
  });

  test('each-response gives the same page another order, and id-asc one order', async () => {
    const sandbox = tied('each-response');
    expect(await pages(sandbox)).not.toEqual(await pages(sandbox));
    expect(new Set((await pages(tied('id-asc'))).flat()).size).toBe(60);
  });

  test('records that differ in the field of the order keep it', async () => {
    const sandbox = createSandbox({ ties: 'each-response', order: 'created-asc', records: { boms: 25 } });
    expect(ids(await call(sandbox, '/boms')).map(Number)).toEqual(
      Array.from({ length: 25 }, (_, i) => i + 1),
    );
  });
});

test('pageParameter is the only parameter with a page number', async () => {
  const sandbox = createSandbox({ pageParameter: 'page', records: { boms: 40 } });
  expect(ids(await call(sandbox, '/boms?page=2'))).toHaveLength(10);
  expect(ids(await call(sandbox, '/boms?_page=2'))).toHaveLength(30);
  const rejected = await call(sandbox, '/boms?page=0');
  expect([rejected.status, rejected.record.detail]).toEqual([400, expect.stringMatching(/^page /)]);
});

test('hiddenRecords and lockedRecords take a function of the record', async () => {
  const sandbox = createSandbox({
    hiddenRecords: ({ name }) => name === 'hidden',
    lockedRecords: ({ status }) => status === 'archived',
  });
  sandbox.store.load({ products: [{ name: 'hidden' }, { status: 'archived' }, { status: 'active' }] });
  expect(ids(await call(sandbox, '/products'))).toEqual(['2', '3']);
  const patch = (id: string) =>
    call(sandbox, `/products/${id}`, { method: 'PATCH', body: { status: 'archived' } });
  const locked = await patch('2');
  expect([locked.status, locked.record.type]).toEqual([403, 'forbidden']);
  expect((await patch('3')).status).toBe(200);
  expect((await call(sandbox, '/products/3', { method: 'DELETE' })).status).toBe(403);
});

test('lockedRecords as ids or a fraction rejects changes of the same records each time', async () => {
  const byId = createSandbox({ lockedRecords: ['2'], records: { products: 3 } });
  const statuses = async (sandbox: typeof byId) => {
    const patches = sandbox.store.products
      .ids()
      .map((id) => call(sandbox, `/products/${id}`, { method: 'PATCH', body: { name: 'x' } }));
    return (await Promise.all(patches)).map(({ status }) => status);
  };
  expect(await statuses(byId)).toEqual([200, 403, 200]);
  const fraction = { lockedRecords: 0.3, records: { products: 100 } };
  const some = await statuses(createSandbox(fraction));
  expect(some.filter((status) => status === 403).length).toBeGreaterThan(15);
  expect(await statuses(createSandbox(fraction))).toEqual(some);
});

test('ids.cast reads, changes and deletes the record of the digits that an id begins with', async () => {
  const sandbox = createSandbox({ ids: { cast: true }, records: { products: 2 } });
  for (const id of ['1abc', '01', '1.json']) {
    expect((await call(sandbox, `/products/${id}`)).record.id).toBe('1');
  }
  expect((await call(sandbox, '/products/abc')).status).toBe(404);
  await call(sandbox, '/products/1x', { method: 'PATCH', body: { name: 'Changed' } });
  await call(sandbox, '/products/2x', { method: 'DELETE' });
  expect(sandbox.store.products.all()).toMatchObject([{ id: '1', name: 'Changed' }]);
});

describe('uniqueFields', () => {
  test.each([422, 409] as const)(
    'rejects a repeated value with %d, but not an empty one',
    async (uniqueStatus) => {
      const sandbox = createSandbox({ uniqueFields: ['productNumber'], uniqueStatus });
      const product = { productNumber: 'A-1' };
      expect((await createProduct(sandbox, product)).status).toBe(201);
      const repeated = await createProduct(sandbox, product);
      expect([repeated.status, repeated.record.type]).toEqual([
        uniqueStatus,
        uniqueStatus === 422 ? 'validation_failed' : 'conflict',
      ]);
      for (const _ of Array(2)) expect((await createProduct(sandbox, {})).status).toBe(201);
      expect((await call(sandbox, '/products/1', { method: 'PATCH', body: product })).status).toBe(200);
      expect((await call(sandbox, '/products/2', { method: 'PATCH', body: product })).status).toBe(
        uniqueStatus,
      );
    },
  );

  test('compares what is stored, and sees writes that readers do not see yet', async () => {
    const sandbox = createSandbox({
      uniqueFields: ['ean'],
      text: { trim: true },
      commitDelayMs: 60_000,
      clock: 0,
    });
    expect((await createProduct(sandbox, { ean: '1 ' })).status).toBe(201);
    expect((await createProduct(sandbox, { ean: '1' })).status).toBe(422);
    await call(sandbox, '/products/1', { method: 'DELETE' });
    expect((await createProduct(sandbox, { ean: '1' })).status).toBe(201);
  });
});

test('lost-response with a marker leaves the key in progress until its lifetime is over', async () => {
  for (const committed of [true, false]) {
    const sandbox = createSandbox({ clock: 0 });
    sandbox.faults.next({ kind: 'lost-response', committed, marker: true });
    await expect(createProduct(sandbox, {}, { idempotencyKey: 'k' })).rejects.toThrow();
    sandbox.clock.advance(86_399_999);
    const again = await createProduct(sandbox, {}, { idempotencyKey: 'k' });
    expect([again.status, again.record.type]).toEqual([409, 'request_in_progress']);
    expect(sandbox.store.products.count).toBe(committed ? 1 : 0);
    sandbox.clock.advance(1);
    expect((await createProduct(sandbox, {}, { idempotencyKey: 'k' })).status).toBe(201);
  }
});

test.each([
  ['html', 'text/html; charset=utf-8', undefined],
  ['json', 'application/json', ['message']],
  ['title', 'application/json', ['title']],
  ['detail', 'application/json', ['detail']],
  ['symfony', 'application/json', ['title', 'status', 'detail']],
  ['spring', 'application/json', ['status', 'error', 'path']],
  ['empty', null, undefined],
] as const)('the body %s of an error of a gateway', async (body, type, members) => {
  const gateway = createSandbox({ records: { boms: 1 } });
  gateway.faults.add({ kind: 'status', status: 404, body }, { times: 2 });
  for (const sandbox of [createSandbox({ notFoundBody: body }), gateway]) {
    const response = await sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/boms/1`, {
      headers: { 'X-AUTH-TOKEN': sandbox.keys.full },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, type]);
    const text = await response.text();
    if (members !== undefined) expect(Object.keys(JSON.parse(text))).toEqual(members);
    else expect(text.includes('Not Found')).toBe(body === 'html');
  }
});
