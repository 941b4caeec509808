import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';

// What the contract suite cannot check, because the specification leaves it open or names no value.

test('lists come in pages of 30 by ascending numeric id, end with an empty one, and reject another page number', async () => {
  const sandbox = createSandbox({ records: { accounts: 65 } });
  const pages = [];
  for (const page of [1, 2, 3, 4]) pages.push(ids(await call(sandbox, `/accounts?_page=${page}`)));
  expect(pages.map((page) => page.length)).toEqual([30, 30, 5, 0]);
  expect(pages.flat()).toEqual(Array.from({ length: 65 }, (_, i) => String(i + 1)));
  // Of a repeated parameter, the last one counts.
  expect(ids(await call(sandbox, '/accounts?id[gt]=2&id[gt]=63'))).toEqual(['64', '65']);
  for (const page of ['0', '-1', 'x', '1.5', '']) {
    const response = await call(sandbox, `/accounts?_page=${page}`);
    expect([page, response.status, response.record.type]).toEqual([page, 400, 'malformed_request']);
  }
});

test('an issued key gives access only to its collections, until it is revoked', async () => {
  const sandbox = createSandbox();
  const key = sandbox.issueKey({ collections: ['boms', 'bomLines'], access: 'read' });
  expect(sandbox.issueKey()).not.toBe(key);
  sandbox.store.boms.insert({});
  for (const path of ['/bom-lines', '/boms/1']) expect((await call(sandbox, path, { key })).status).toBe(200);
  (await call(sandbox, '/accounts', { key })).expectProblem(403, 'scope_required');
  for (const none of [sandbox.keys.forbidden, sandbox.issueKey({ access: 'none', error: 'forbidden' })])
    (await call(sandbox, '/boms', { key: none })).expectProblem(403, 'forbidden');
  sandbox.revokeKey(key);
  expect((await call(sandbox, '/boms', { key })).status).toBe(401);
  for (const one of ['unknown', key]) expect(() => sandbox.revokeKey(one)).toThrow(RangeError);
});

test('keys are all different, and the same for the same seed', () => {
  const keys = (seed: number) => createSandbox({ seed }).keys;
  expect(keys(5)).toEqual(keys(5));
  expect(new Set(Object.values(keys(5)).concat(keys(6).full)).size).toBe(7);
});

test('creates of two companies under one key are two, and the journal names company, key and time', async () => {
  const sandbox = createSandbox({ clock: '2026-01-31T12:00:00Z' });
  for (const key of [sandbox.keys.full, sandbox.keys.otherCompany])
    await createProduct(sandbox, { name: 'Desk' }, { idempotencyKey: 'a', key });
  expect([sandbox.store.products.count, sandbox.otherStore.products.count]).toEqual([1, 1]);
  const key = sandbox.issueKey({ company: 'other', access: 'read' });
  expect(ids(await call(sandbox, '/products', { key }))).toEqual(sandbox.otherStore.products.ids());
  const create = { action: 'create', idempotencyKey: 'a', at: new Date('2026-01-31T12:00:00Z') };
  expect(sandbox.journal).toMatchObject([
    { ...create, id: '1', company: 'main', key: 'full' },
    { ...create, id: '1000000001', company: 'other', key: 'otherCompany' },
  ]);
});

test('a create with a blank Idempotency-Key is rejected as one without it', async () => {
  const sandbox = createSandbox();
  for (const idempotencyKey of ['', ' ']) {
    const rejected = await createProduct(sandbox, { name: 'Desk' }, { idempotencyKey });
    rejected.expectProblem(422, 'idempotency_key_required');
  }
});

test('a body is JSON in UTF-8 under any spelling of its type, and a path is percent-encoded UTF-8', async () => {
  const sandbox = createSandbox();
  const create = async (type: string, body: string | Buffer<ArrayBuffer>) => {
    const headers = { 'X-AUTH-TOKEN': sandbox.keys.full, 'Idempotency-Key': type, 'Content-Type': type };
    const url = `${sandbox.baseUrl}/api/public/v1/products`;
    return (await sandbox.fetch(url, { method: 'POST', headers, body })).status;
  };
  expect(await create('Application/JSON; charset=utf-8', '{"name":"Zoë"}')).toBe(201);
  expect(await create('application/json', Buffer.from('{"name":"Zoë"}', 'latin1'))).toBe(400);
  (await call(sandbox, '/accounts/%E0%A4%A')).expectProblem(400, 'malformed_request');
});

test('the log lists requests and their responses, without the key', async () => {
  const sandbox = createSandbox({ clock: '2026-01-31T12:00:00Z', records: { accounts: 2 } });
  const heard: unknown[] = [];
  const stop = sandbox.onRequest(({ records }) => heard.push(records));
  await call(sandbox, '/accounts?id[gt]=1&_page=1');
  stop();
  const soFar = sandbox.requests;
  await createProduct(sandbox, { salePrice: 1 }, { idempotencyKey: 'k' });
  await createProduct(sandbox, 'no json', { idempotencyKey: 'k' });
  expect(JSON.stringify(sandbox.requests)).not.toContain(sandbox.keys.full);
  const list = {
    path: '/api/public/v1/accounts',
    query: { 'id[gt]': '1', _page: '1' },
    key: 'full',
    records: 1,
  };
  expect(sandbox.requests).toMatchObject([
    { ...list, at: new Date('2026-01-31T12:00:00Z') },
    { method: 'POST', idempotencyKey: 'k', body: { salePrice: 1 }, error: 'validation_failed', status: 422 },
    { body: 'no json', status: 400, error: 'malformed_request' },
  ]);
  expect([heard, sandbox.count(), sandbox.count(({ method }) => method === 'POST')]).toEqual([[1], 3, 2]);
  // A test may keep what it has read.
  expect(soFar).toHaveLength(1);
});

test('the journal lists what requests changed, without the writes of the store', async () => {
  const sandbox = createSandbox();
  sandbox.store.products.insert({ id: '7' });
  for (const body of [{ name: 'a', brand: null }, {}])
    await call(sandbox, '/products/7', { method: 'PATCH', body });
  await call(sandbox, '/products/7', { method: 'DELETE' });
  expect(sandbox.journal.map(({ action, id, key, fields }) => [action, id, key, fields])).toEqual([
    ['update', '7', 'full', ['name', 'brand']],
    ['delete', '7', 'full', []],
  ]);
});
