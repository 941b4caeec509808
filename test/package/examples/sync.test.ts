import { PGlite } from '@electric-sql/pglite';
import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { syncMany } from '../../../examples/many-tenants.ts';
import { copyToPostgres, type Sql, total } from '../../../examples/sync-to-postgres.ts';

let database: PGlite;
beforeAll(async () => {
  database = await PGlite.create();
}, 120_000);
afterAll(() => database.close());

test('sync-to-postgres keeps a copy without losing a digit, a change or a deletion', {
  timeout: 120_000,
}, async () => {
  const sandbox = createSandbox({ records: { accounts: 40, budgets: 35 } });
  const { products, accounts } = sandbox.store;
  for (const salePrice of ['12345678901234567.8901', '0.0001', '0.1000', null])
    products.insert({ salePrice });
  const client = createClient(sandbox.clientOptions);
  const sql = database as Sql;
  const ids = async () => {
    const { rows } = await sql.query<{ id: string }>(
      "select id from record where tenant = 'acme' and collection = 'accounts' order by id::numeric",
    );
    return rows.map(({ id }) => id);
  };

  await copyToPostgres(client, sql, 'acme');
  expect(await total(sql, 'acme')).toEqual({ products: '4', total: '12345678901234567.9902' });
  expect(await ids()).toEqual(accounts.ids());

  const [gone = '', kept = ''] = accounts.ids();
  accounts.delete(gone);
  accounts.update(kept, { name: 'Renamed' });
  products.insert({ salePrice: '0.0098' });
  await copyToPostgres(client, sql, 'acme');
  expect(await ids()).toEqual(accounts.ids());
  expect(await total(sql, 'acme')).toEqual({ products: '5', total: '12345678901234568.0000' });
  const { rows } = await sql.query("select data from record where collection = 'accounts' and id = $1", [
    kept,
  ]);
  expect(rows).toEqual([{ data: expect.objectContaining({ id: kept, name: 'Renamed' }) }]);
});

test('sync-to-postgres leaves rows and checkpoint as they were where a batch fails', {
  timeout: 120_000,
}, async () => {
  const sandbox = createSandbox({ records: { accounts: 10 } });
  const failing: Sql = {
    query: (text, values) =>
      text.startsWith('insert into checkpoint')
        ? Promise.reject(new Error('the disk is full'))
        : (database as Sql).query(text, values),
  };
  await expect(copyToPostgres(createClient(sandbox.clientOptions), failing, 'bolt')).rejects.toMatchObject({
    code: 'sync_failed',
  });
  const { rows } = await database.query("select * from record where tenant = 'bolt'");
  expect(rows).toEqual([]);
});

test('many-tenants brings every company up to date that it can', async () => {
  const books = Array.from({ length: 9 }, (_, seed) => createSandbox({ seed, records: 60 }));
  const tenants = books.map((sandbox, index) => ({
    tenant: `company-${index}`,
    baseUrl: sandbox.baseUrl,
    apiKey: index === 4 ? sandbox.keys.revoked : index === 5 ? sandbox.keys.productsOnly : sandbox.keys.full,
    fetch: sandbox.fetch,
  }));
  const counts = new Map<string, number>();
  const outcomes = await syncMany([...tenants, { tenant: 'astray', baseUrl: 'nowhere', apiKey: 'k' }], {
    store: new Map(),
    onBatch: (tenant, { records }) => counts.set(tenant, (counts.get(tenant) ?? 0) + records.length),
    atOnce: 3,
  });
  const by = Object.fromEntries(outcomes.map((outcome) => [outcome.tenant, outcome]));
  expect(outcomes).toHaveLength(10);
  for (const index of [0, 1, 2, 3, 6, 7, 8]) {
    expect(by[`company-${index}`]).toEqual({ tenant: `company-${index}`, records: 60 });
    expect(counts.get(`company-${index}`)).toBe(60);
  }
  expect(by['company-4']).toMatchObject({ records: 0, problem: expect.stringContaining('unauthenticated') });
  expect(by['company-5']?.problem).toBeUndefined();
  expect(by['company-5']?.forbidden).toHaveLength(13);
  expect(by['company-5']?.records).toBe(books[5]?.store.products.count);
  expect(by.astray).toMatchObject({ records: 0, problem: 'invalid_input' });
});
