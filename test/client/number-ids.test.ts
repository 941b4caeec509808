import { DatabaseSync } from 'node:sqlite';
import { createClient, push, refresh, sync, verify } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

/** A service whose ids are JSON numbers, and a client that reads them. */
function numbered(options: SandboxOptions = {}) {
  const sandbox = createSandbox({
    records: { products: 65 },
    pageSize: 10,
    ids: { numbers: true },
    ...options,
  });
  return { sandbox, client: createClient({ ...sandbox.clientOptions, ids: 'numbers' }) };
}

test.each([
  [17, '17'],
  [0, '0'],
  [Number.MAX_SAFE_INTEGER, '9007199254740991'],
  ['A-17', 'A-17'],
])('with ids: numbers the id %j is read as %j by every method', async (id, expected) => {
  const { products } = scriptedClient(scriptedFetch(jsonResponse({ id, name: 'Desk' })), { ids: 'numbers' });
  for (const read of [
    () => products.get(expected),
    () => products.find(expected),
    () => products.create({ name: 'Desk' }),
    () => products.update(expected, { name: 'Desk' }),
  ]) {
    expect(await read()).toEqual({ id: expected, name: 'Desk' });
  }
  const lists = scriptedFetch(jsonResponse([{ id, name: 'Desk' }]), jsonResponse([]));
  const client = scriptedClient(lists, { ids: 'numbers' });
  const records = await client.accounts.list({}, { pagination: 'page' }).toArray({ limit: 9 });
  expect(records).toEqual([{ id: expected, name: 'Desk' }]);
});

test.each([1.5, 2 ** 53, -(2 ** 60), null, '', true, [17], { id: 17 }])(
  'with ids: numbers the id %j is invalid',
  async (id) => {
    const { products } = scriptedClient(scriptedFetch(jsonResponse({ id })), { ids: 'numbers' });
    const error = await caught(products.get('17'));
    expect(error).toMatchObject({ reason: 'wrong_shape' });
    expect(String(error)).not.toContain("ids: 'numbers'");
    if (Math.abs(Number(id)) >= 2 ** 53)
      expect(String(error)).toContain('above 2^53, whose digits JavaScript has lost');
  },
);

test('with ids: numbers another record than the one requested is rejected', async () => {
  const { products } = scriptedClient(scriptedFetch(jsonResponse({ id: 7 })), { ids: 'numbers' });
  expect(await caught(products.update('5', {}))).toMatchObject({ reason: 'wrong_record', recordId: '7' });
  expect(await caught(products.delete('7-A'))).toMatchObject({ code: 'invalid_input', argument: 'id' });
});

test('ids: numbers reads and copies lists, and finds what was deleted', async () => {
  const { sandbox, client } = numbered();
  const database = new DatabaseSync(':memory:');
  const target = sqliteTarget(database);
  const copy = { tenant: 'acme', target, collections: ['products'] } as const;
  const first = await sync(client, copy);
  expect(first.collections).toMatchObject([{ records: 65, invalid: 0, pagination: 'keyset' }]);
  sandbox.store.products.delete('7');
  sandbox.store.products.delete('8');
  sandbox.store.products.update('9', { name: 'Renamed' });
  const refreshed = await refresh(client.products, { tenant: 'acme', target, ids: ['7', '9'] });
  expect(refreshed).toMatchObject({ deleted: 1, changed: 1 });
  const full = await sync(client, { ...copy, mode: 'full' });
  expect(full.collections).toMatchObject([{ deletions: { deleted: 1, repaired: 0 } }]);
  const rows = database.prepare('SELECT id, name FROM products ORDER BY CAST(id AS INTEGER)').all();
  expect(rows).toEqual(sandbox.store.products.all().map(({ id, name }) => ({ id, name })));
  const [verified] = (await verify(client, copy)).collections;
  expect(verified).toMatchObject({ records: 63, missing: [], extra: [] });
});

test('ids: numbers finds products that a push created before', async () => {
  const { sandbox, client } = numbered({ records: 0 });
  const store = new Map<string, string>();
  const rows = [{ productNumber: 'A-1', name: 'Desk' }];
  const run = () => push(client.products, { tenant: 'acme', rows, key: 'productNumber', store });
  expect(await run()).toMatchObject({ counts: { created: 1 } });
  expect(await run()).toMatchObject({ counts: { created: 0, unchanged: 1 } });
  sandbox.store.products.update('1', { productNumber: 'B-1' });
  expect(await run()).toMatchObject({ counts: { created: 0, updated: 1 } });
  expect(sandbox.store.products.all()).toMatchObject([{ id: '1', productNumber: 'A-1' }]);
});
