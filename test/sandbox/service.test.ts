import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';

describe('lists', () => {
  test('come in pages of 30 by ascending numeric id and end with an empty one', async () => {
    const sandbox = createSandbox();
    for (let i = 1; i <= 65; i += 1) sandbox.store.accounts.insert({ name: `Account ${i}` });

    const pages = [];
    for (const page of [1, 2, 3, 4]) pages.push(ids(await call(sandbox, `/accounts?_page=${page}`)));

    expect(pages.map((page) => page.length)).toEqual([30, 30, 5, 0]);
    expect(pages.flat()).toEqual(Array.from({ length: 65 }, (_, i) => String(i + 1)));
  });

  test.each([
    ['id[gt]=9', ['10', '11']],
    ['id[gte]=9', ['9', '10', '11']],
    ['id[lt]=3', ['1', '2']],
    ['id[lte]=3', ['1', '2', '3']],
    ['id[between]=3..5', ['3', '4', '5']],
    ['id[gt]=2&id[lte]=4', ['3', '4']],
    ['id[gt]=2&id[gt]=9', ['10', '11']],
    ['id[gt]=4&id[lt]=3', []],
  ])('filter %s', async (query, expected) => {
    const sandbox = createSandbox();
    for (let i = 1; i <= 11; i += 1) sandbox.store.boms.insert({});
    expect(ids(await call(sandbox, `/boms?${query}`))).toEqual(expected);
  });

  test('updatedSince includes its own second, whatever the fraction', async () => {
    const sandbox = createSandbox({ clock: '2026-01-31T12:00:00.700Z' });
    sandbox.store.budgets.insert({ id: '1' });
    sandbox.clock.advance(1000);
    sandbox.store.budgets.insert({ id: '2' });

    expect(ids(await call(sandbox, '/budgets?updatedSince=2026-01-31T12:00:00.900Z'))).toEqual(['1', '2']);
    expect(ids(await call(sandbox, '/budgets?updatedSince=2026-01-31T12:00:01Z'))).toEqual(['2']);
    expect(ids(await call(sandbox, '/budgets?updatedSince=2026-01-31T12:00:02Z'))).toEqual([]);
    expect(ids(await call(sandbox, '/budgets?updatedSince=2026-02-01'))).toEqual([]);
    expect(ids(await call(sandbox, '/budgets?updatedSince=2026-01-31T13:00:01%2B01:00'))).toEqual(['2']);
  });

  test('drop an invalid filter value without an error, or reject it with invalidFilter: reject', async () => {
    const sandbox = createSandbox();
    sandbox.store.accounts.insert({});
    expect(ids(await call(sandbox, '/accounts?id[gt]=abc&updatedSince=yesterday&id[between]=5'))).toEqual([
      '1',
    ]);

    const strict = createSandbox({ invalidFilter: 'reject' });
    const response = await call(strict, '/accounts?id[gt]=abc');
    expect([response.status, response.record.type]).toEqual([400, 'malformed_request']);
  });

  test.each(['0', '-1', 'x', '1.5', ''])('_page=%s is 400', async (page) => {
    const response = await call(createSandbox(), `/accounts?_page=${page}`);
    expect([response.status, response.record.type]).toEqual([400, 'malformed_request']);
  });
});

describe('keys', () => {
  test.each([
    ['full', 200, undefined],
    ['readOnly', 200, undefined],
    ['productsOnly', 403, 'scope_required'],
    ['forbidden', 403, 'forbidden'],
    ['revoked', 401, 'unauthenticated'],
    ['foreign', 401, 'unauthenticated'],
  ] as const)('%s reads accounts with %i', async (name, status, type) => {
    const sandbox = createSandbox();
    const response = await call(sandbox, '/accounts', { key: sandbox.keys[name] });
    expect(response.status).toBe(status);
    if (type !== undefined) expect(response.record.type).toBe(type);
    expect(response.headers.get('x-ratelimit-limit')).toBe('10000');
    expect(response.headers.get('x-ratelimit-remaining')).toMatch(/^\d+$/);
  });

  test('a read-only key cannot write, and a missing key can do nothing', async () => {
    const sandbox = createSandbox();
    const write = await createProduct(sandbox, { name: 'Desk' }, { key: sandbox.keys.readOnly });
    expect([write.status, write.record.type]).toEqual([403, 'scope_required']);
    expect((await call(sandbox, '/products', { key: null })).status).toBe(401);
    expect(sandbox.store.products.count).toBe(0);
  });

  test('an issued key gives access only to its collections, until it is revoked', async () => {
    const sandbox = createSandbox();
    const key = sandbox.issueKey({ collections: ['boms', 'bomLines'], access: 'read' });
    expect((await call(sandbox, '/bom-lines', { key })).status).toBe(200);
    expect((await call(sandbox, '/accounts', { key })).status).toBe(403);
    sandbox.revokeKey(key);
    expect((await call(sandbox, '/boms', { key })).status).toBe(401);
  });

  test('no company sees a record of the other', async () => {
    const sandbox = createSandbox();
    const own = sandbox.store.accounts.insert({});
    const theirs = sandbox.otherStore.accounts.insert({});
    const key = sandbox.keys.otherCompany;

    expect(ids(await call(sandbox, '/accounts'))).toEqual([own.id]);
    expect(ids(await call(sandbox, '/accounts', { key }))).toEqual([theirs.id]);
    expect((await call(sandbox, `/accounts/${theirs.id}`)).record.type).toBe('not_found');
    expect((await call(sandbox, `/accounts/${own.id}`, { key })).record.type).toBe('not_found');
  });
});

describe('products', () => {
  test('are created once for each Idempotency-Key', async () => {
    const sandbox = createSandbox();
    const first = await createProduct(sandbox, { name: 'Desk', salePrice: '129' }, { idempotencyKey: 'a' });
    const again = await createProduct(sandbox, { salePrice: '129', name: 'Desk' }, { idempotencyKey: 'a' });
    const other = await createProduct(sandbox, { name: 'Chair' }, { idempotencyKey: 'a' });

    expect(first.status).toBe(201);
    expect(first.record).toMatchObject({ name: 'Desk', salePrice: '129.0000', brand: null });
    expect([again.status, again.json]).toEqual([201, first.json]);
    expect([other.status, other.record.type]).toEqual([422, 'validation_failed']);
    expect(sandbox.store.products.count).toBe(1);
    expect(sandbox.journal).toMatchObject([{ action: 'create', id: '1', key: 'full', idempotencyKey: 'a' }]);
  });

  test('a create without a key is rejected', async () => {
    const response = await call(createSandbox(), '/products', { method: 'POST', body: { name: 'Desk' } });
    expect([response.status, response.record.type]).toEqual([422, 'idempotency_key_required']);
  });

  test('a patch keeps what is left out and clears what is null', async () => {
    const sandbox = createSandbox();
    const { id } = sandbox.store.products.insert({ name: 'Desk', brand: 'Oak & Co', color: 'oak' });
    const response = await call(sandbox, `/products/${id}`, {
      method: 'PATCH',
      body: { brand: null, color: 'ash' },
    });
    expect(response.record).toMatchObject({ id, name: 'Desk', brand: null, color: 'ash' });
    expect(sandbox.store.products.get(id)).toEqual(response.json);
  });

  test('a delete leaves nothing behind', async () => {
    const sandbox = createSandbox();
    const { id } = sandbox.store.products.insert({});
    expect((await call(sandbox, `/products/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await call(sandbox, `/products/${id}`)).status).toBe(404);
    expect((await call(sandbox, `/products/${id}`, { method: 'DELETE' })).status).toBe(404);
  });

  test.each([
    [{ salePrice: 12.5 }, 'salePrice'],
    [{ isWebShop: 'yes' }, 'isWebShop'],
    [{ id: '7' }, 'id'],
    [{ createdAt: '2026-01-01T00:00:00Z' }, 'createdAt'],
    [{ salePriceDecimals: 1.5 }, 'salePriceDecimals'],
  ])('a body with %j is rejected', async (body, field) => {
    const sandbox = createSandbox();
    const response = await createProduct(sandbox, body);
    expect([response.status, response.record.type]).toEqual([422, 'validation_failed']);
    expect(response.record.violations).toMatchObject([{ propertyPath: field }]);
    expect(sandbox.store.products.count).toBe(0);
  });

  test.each([['{'], ['[]'], ['"text"'], [''], ['null']])('the body %j is malformed', async (body) => {
    const response = await createProduct(createSandbox(), body);
    expect([response.status, response.record.type]).toEqual([400, 'malformed_request']);
  });
});

describe('the quota', () => {
  test('is counted for each key and ends in 429 with Retry-After', async () => {
    const sandbox = createSandbox({
      clock: '2026-01-31T12:00:10Z',
      rateLimit: { limit: 2, windowMs: 60_000 },
    });
    const remaining = async (key: string) =>
      (await call(sandbox, '/accounts', { key })).headers.get('x-ratelimit-remaining');

    expect(await remaining(sandbox.keys.full)).toBe('1');
    expect(await remaining(sandbox.keys.full)).toBe('0');
    const rejected = await call(sandbox, '/accounts');
    expect([rejected.status, rejected.record.type]).toEqual([429, 'rate_limited']);
    expect(rejected.headers.get('retry-after')).toBe('50');
    expect(await remaining(sandbox.keys.readOnly)).toBe('1');

    sandbox.clock.advance(50_000);
    expect(await remaining(sandbox.keys.full)).toBe('1');
  });
});

describe('over HTTP', () => {
  test('serves the same records as fetch', async () => {
    await using sandbox = createSandbox();
    const { id } = sandbox.store.products.insert({ name: 'Désk' });
    expect(sandbox.clientOptions.fetch).toBe(sandbox.fetch);
    const through = await call(sandbox, `/products/${id}`);

    const { url } = await sandbox.listen();
    expect(sandbox.clientOptions).toEqual({ baseUrl: url, apiKey: sandbox.keys.full });
    expect((await call(sandbox, `/products/${id}`)).json).toEqual(through.json);
    expect(sandbox.requests.map(({ method, path, status }) => [method, path, status])).toEqual([
      ['GET', `/api/public/v1/products/${id}`, 200],
      ['GET', `/api/public/v1/products/${id}`, 200],
    ]);
  });

  test.each([true, false])('loses a response after the commit (listening: %s)', async (listening) => {
    await using sandbox = createSandbox();
    if (listening) await sandbox.listen();
    sandbox.faults.next({ kind: 'lost-response', committed: true });

    await expect(createProduct(sandbox, { name: 'Desk' }, { idempotencyKey: 'k' })).rejects.toThrow(
      'fetch failed',
    );
    const again = await createProduct(sandbox, { name: 'Desk' }, { idempotencyKey: 'k' });

    expect(again.status).toBe(201);
    expect(sandbox.store.products.count).toBe(1);
    expect(sandbox.journal).toHaveLength(1);
    expect(sandbox.requests.map(({ fault, idempotencyKey }) => [fault, idempotencyKey])).toEqual([
      ['lost-response', 'k'],
      [undefined, 'k'],
    ]);
  });

  test('does not show the key in the log', async () => {
    const sandbox = createSandbox();
    await call(sandbox, '/accounts');
    expect(sandbox.requests[0]?.key).toBe('full');
    expect(JSON.stringify(sandbox.requests)).not.toContain(sandbox.keys.full);
  });
});
