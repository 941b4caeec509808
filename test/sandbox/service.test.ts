import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';

// What the contract suite cannot check, because the specification leaves it open or names no value.

describe('lists', () => {
  test('come in pages of 30 by ascending numeric id and end with an empty one', async () => {
    const sandbox = createSandbox({ records: { accounts: 65 } });
    const pages = [];
    for (const page of [1, 2, 3, 4]) pages.push(ids(await call(sandbox, `/accounts?_page=${page}`)));
    expect(pages.map((page) => page.length)).toEqual([30, 30, 5, 0]);
    expect(pages.flat()).toEqual(Array.from({ length: 65 }, (_, i) => String(i + 1)));
  });

  test.each([
    ['id[gt]=2&id[gt]=9', ['10', '11']],
    ['id[gt]=4&id[lt]=3', []],
  ])('apply the filter %s, of which a repeated parameter counts last', async (query, expected) => {
    const sandbox = createSandbox({ records: { boms: 11 } });
    expect(ids(await call(sandbox, `/boms?${query}`))).toEqual(expected);
  });

  test.each(['0', '-1', 'x', '1.5', ''])('_page=%s is 400', async (page) => {
    const response = await call(createSandbox(), `/accounts?_page=${page}`);
    expect([response.status, response.record.type]).toEqual([400, 'malformed_request']);
  });
});

test('an issued key gives access only to its collections, until it is revoked', async () => {
  const sandbox = createSandbox();
  const key = sandbox.issueKey({ collections: ['boms', 'bomLines'], access: 'read' });
  sandbox.store.boms.insert({});
  for (const path of ['/bom-lines', '/boms/1']) expect((await call(sandbox, path, { key })).status).toBe(200);
  const accounts = await call(sandbox, '/accounts', { key });
  expect([accounts.status, accounts.record.type]).toEqual([403, 'scope_required']);
  sandbox.revokeKey(key);
  expect((await call(sandbox, '/boms', { key })).status).toBe(401);
});

test('a repeat of a create gets the first response, whatever the order of its fields', async () => {
  const sandbox = createSandbox();
  const first = await createProduct(sandbox, { name: 'Desk', salePrice: '129' }, { idempotencyKey: 'a' });
  const again = await createProduct(sandbox, { salePrice: '129', name: 'Desk' }, { idempotencyKey: 'a' });
  const other = await createProduct(sandbox, { name: 'Chair' }, { idempotencyKey: 'a' });
  expect([again.status, again.json]).toEqual([201, first.json]);
  expect([other.status, other.record.type]).toEqual([422, 'validation_failed']);
  expect(sandbox.journal).toMatchObject([{ action: 'create', id: '1', key: 'full', idempotencyKey: 'a' }]);
});

test.each([
  [{ salePrice: 12.5 }, 'salePrice'],
  [{ createdAt: '2026-01-01T00:00:00Z' }, 'createdAt'],
  [{ salePriceDecimals: 1.5 }, 'salePriceDecimals'],
])('a body with %j is rejected with the field', async (body, field) => {
  const response = await createProduct(createSandbox(), body);
  expect([response.status, response.record.violations]).toMatchObject([422, [{ propertyPath: field }]]);
});
