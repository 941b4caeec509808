import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createClient, sync } from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startPglite } from '../../support/pglite.ts';
import { root } from './code-blocks.ts';

const guide = readFileSync(`${root}src/guides/copy-in-a-database.md`, 'utf8');
const queries = [...guide.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql);
const queriesFor = (name: string) =>
  queries.filter((sql) => !sql.startsWith('-- ') || sql.startsWith(`-- ${name}\n`));

const records = { accounts: 10, accountAddresses: 10, products: 20 };
const tenants = ['acme', 'bolt', 'none'] as const;
const collections = ['accounts', 'accountAddresses', 'products'] as const;
/** A company of a service that leaves out nulls; one has no products. */
const company = (tenant: string) => {
  const counts = tenant === 'none' ? { ...records, products: 0 } : records;
  const sandbox = createSandbox({ seed: tenant.length, records: counts, nullFields: 'omitted' });
  if (tenant === 'none') return createClient(sandbox.clientOptions);
  // One that changed today, and one number twice.
  for (const number of [1, 2]) {
    sandbox.store.products.insert({ name: `New ${number}`, ean: '8711234567890', isSaleItem: true });
  }
  return createClient(sandbox.clientOptions);
};

describe('the queries of the guide to copies', () => {
  test('run in SQLite', async () => {
    const database = new DatabaseSync(':memory:');
    for (const tenant of tenants) {
      await sync(company(tenant), { tenant, collections, target: sqliteTarget(database) });
    }
    database.exec('CREATE TEMP VIEW record AS SELECT * FROM accounting_record');
    const found = queriesFor('SQLite').map((sql) => database.prepare(sql).all().length);
    expect(found).toHaveLength(10);
    expect(found.filter((count) => count === 0).length).toBeLessThanOrEqual(3);
  });

  test('run in PostgreSQL', { timeout: 120_000 }, async () => {
    const database = await startPglite();
    onTestFinished(() => database.close());
    for (const tenant of tenants) {
      await sync(company(tenant), { tenant, collections, target: postgresTarget(database) });
    }
    await database.exec('SET search_path TO accounting');
    const found: number[] = [];
    for (const sql of queriesFor('PostgreSQL')) found.push((await database.query(sql)).rows.length);
    expect(found).toHaveLength(12);
    expect(found.filter((count) => count === 0).length).toBeLessThanOrEqual(3);
  });
});
