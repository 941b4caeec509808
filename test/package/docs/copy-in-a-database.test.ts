import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createClient, type SyncTarget, sync } from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { beforeAll, expect, test } from 'vitest';
import { openPglite } from '../../support/pglite.ts';
import { root } from './code-blocks.ts';

const guide = readFileSync(`${root}src/guides/copy-in-a-database.md`, 'utf8');
const blocks = [...guide.matchAll(/^```sql\n(.*?)^```$(?:\n\n((?:^\|[^\n]*\n)+))?/gms)];
/** The statements that let a role read one company. */
const policies = blocks.map(([, sql = '']) => sql).find((sql) => sql.includes('CREATE POLICY')) ?? '';
/** Each query of the guide with the rows of the table below it. */
const queries = blocks
  .filter(([, sql]) => sql !== policies)
  .map(([, sql = '', table]) => ({
    sql,
    sample: table
      ?.trim()
      .split('\n')
      .slice(2)
      .map((line) => line.slice(2, -2).split(' | ')),
  }));

const counts = { accounts: 10, accountAddresses: 10, products: 20 };
const collections = ['accounts', 'accountAddresses', 'products'] as const;

/** An amount, and how the service sends it. */
const [RIGHT, SENT] = ['77.7700', '77,77'];

/** Companies of a service that leaves out nulls. One has no products. */
const companies = newCompanies();

function newCompanies(): Readonly<Record<'acme' | 'bolt' | 'none', Sandbox>> {
  const [acme, bolt, none] = [20, 20, 0].map((products, seed) => {
    const records = { ...counts, products };
    return createSandbox({ seed, records, nullFields: 'omitted' });
  }) as [Sandbox, Sandbox, Sandbox];
  for (const [index, { store, clock }] of [acme, bolt].entries()) {
    // Its generated records are older. Tomorrow, so that the test can run at midnight.
    clock.advance(24 * 3_600_000);
    for (const number of [1, 2]) {
      const name = `New ${number}`;
      store.products.insert({ name, ean: '8711234567890', isSaleItem: true, salePrice: '5.5' });
    }
    store.products.insert({ name: 'Typo', salePrice: RIGHT, articleCode: `only ${index}` });
    // Twice in both, so that it is no difference.
    store.products.insert({ name: 'Shared', articleCode: 'both', tags: ['new', 'new'] } as never);
  }
  return { acme, bolt, none };
}

/** A value as both databases can return it. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  const text = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  if (text) return Date.parse(value);
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || /^-?\d+\.\d+$/.test(`${value}`);
  // Sums of floating point numbers differ in their last digits.
  return isNumber ? Number(Number(value).toFixed(4)) : value;
}

/** Copies the companies into a target. Returns the rows of a query, of which each cell is a string. */
async function copied(target: SyncTarget, query: (sql: string) => Promise<readonly object[]>) {
  for (const [tenant, sandbox] of Object.entries(companies)) {
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await sandbox.fetch(...request);
      return new Response((await response.text()).replaceAll(RIGHT, SENT), response);
    };
    await sync(createClient({ ...sandbox.clientOptions, fetch }), { tenant, collections, target });
  }
  return async (sql: string) =>
    (await query(sql)).map((row) => Object.values(row).map((cell) => `${plain(cell)}`));
}

const postgres = await openPglite();
let inPostgres: (sql: string) => Promise<readonly unknown[][]>;
beforeAll(async () => {
  await postgres.exec('CREATE SCHEMA accounting; SET search_path TO accounting');
  inPostgres = await copied(postgresTarget(postgres), async (sql) => {
    const query = sql.replace('json_each(tags)', 'jsonb_array_elements(tags)');
    return (await postgres.query<object>(query)).rows;
  });
});

test('each query of the guide to copies returns as many rows as it must, the same in SQLite and PostgreSQL, and those of its table', async () => {
  const sqlite = new DatabaseSync(':memory:');
  const inSqlite = await copied(sqliteTarget(sqlite), async (sql) =>
    sqlite.prepare(sql.replace('JOIN record', 'JOIN accounting_record')).all(),
  );
  const found: number[] = [];
  for (const { sql, sample } of queries) {
    const rows = await inPostgres(sql);
    found.push(rows.length);
    if (sample !== undefined) expect(rows).toEqual(sample);
    if (sql.startsWith('-- PostgreSQL')) continue;
    const same = await inSqlite(sql);
    expect([sql, same.toSorted()]).toEqual([sql, rows.toSorted()]);
    if (sample !== undefined) expect(same).toEqual(sample);
  }
  // All collections were synced a moment ago, without an error, so the first query finds none. Each company has ten
  // addresses, and two have four new products.
  expect(found).toEqual([3, 6, 30, 7]);
});

test('a role with the policies of the guide to copies reads its company, also after a view has got a column', async () => {
  await postgres.exec(`CREATE ROLE acme; ${policies}`);
  const asAcme = async () => {
    const tenants = (view: string) =>
      postgres.query<{ tenant: string }>(`SELECT DISTINCT tenant FROM accounting.${view}`);
    await postgres.exec('SET ROLE acme');
    const found = await Promise.all(['products', 'sync_status', 'record', 'status'].map(tenants));
    const others = await Promise.allSettled(['accounts', 'checkpoint', 'seen'].map(tenants));
    await postgres.exec('RESET ROLE');
    return [found.map(({ rows }) => rows), others.map(({ status }) => status)];
  };
  const own = Array(4).fill([{ tenant: 'acme' }]);
  const denied = Array(3).fill('rejected');
  expect(await asAcme()).toEqual([own, denied]);
  companies.bolt.store.products.update('1', { mood: 'new' } as never);
  await copied(postgresTarget(postgres), async () => []);
  const { rows } = await postgres.query('SELECT mood FROM accounting.products WHERE mood IS NOT NULL');
  expect(rows).toEqual([{ mood: 'new' }]);
  expect(await asAcme()).toEqual([own, denied]);
});
