import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct } from './support/call.ts';

describe('the log', () => {
  test('lists requests and their responses', async () => {
    const sandbox = createSandbox({ clock: '2026-01-31T12:00:00Z', records: { accounts: 2 } });
    await call(sandbox, '/accounts?id[gt]=1&_page=1');
    await createProduct(sandbox, { salePrice: 1 }, { idempotencyKey: 'k' });
    await createProduct(sandbox, 'no json', { idempotencyKey: 'k' });
    expect(JSON.stringify(sandbox.requests)).not.toContain(sandbox.keys.full);
    const at = new Date('2026-01-31T12:00:00Z');
    expect(sandbox.requests).toMatchObject([
      { path: '/api/public/v1/accounts', query: { 'id[gt]': '1', _page: '1' }, key: 'full', at, records: 1 },
      {
        method: 'POST',
        idempotencyKey: 'k',
        body: { salePrice: 1 },
        status: 422,
        error: 'validation_failed',
      },
      { body: 'no json', status: 400, error: 'malformed_request' },
    ]);
  });

  test('a listener learns of each request before the sandbox receives the next one', async () => {
    const sandbox = createSandbox();
    const counts: number[] = [];
    sandbox.onRequest(() => counts.push(sandbox.count()));
    await Promise.all(Array.from({ length: 4 }, () => call(sandbox, '/accounts')));
    expect(counts).toEqual([1, 2, 3, 4]);
    sandbox.clearLogs();
    expect([sandbox.count(), sandbox.requests]).toEqual([0, []]);
  });

  test('the journal lists what requests changed, without the writes of the store', async () => {
    const sandbox = createSandbox();
    sandbox.store.products.insert({ id: '7' });
    await call(sandbox, '/products/7', { method: 'PATCH', body: { name: 'a', brand: null } });
    await call(sandbox, '/products/7', { method: 'PATCH', body: {} });
    await call(sandbox, '/products/7', { method: 'PATCH', body: { color: 'oak' } });
    await call(sandbox, '/products/7', { method: 'DELETE' });
    expect(sandbox.journal.map(({ action, id, key, fields }) => [action, id, key, fields])).toEqual([
      ['update', '7', 'full', ['name', 'brand']],
      ['update', '7', 'full', ['color']],
      ['delete', '7', 'full', []],
    ]);
  });
});
