import { DatabaseSync } from 'node:sqlite';
import { createClient, type SyncTarget, sync } from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { beforeAll, expect, test } from 'vitest';
import { openPglite } from '../../support/pglite.ts';
import { read } from './code-blocks.ts';

const guide = read('src/guides/copy-in-a-database.md');
const statements = [...guide.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql = '']) => sql);
/** The statements that let a role read one company. */
const policies = statements.find((sql) => sql.includes('CREATE POLICY')) ?? '';
const queries = statements.filter((sql) => sql !== policies);

const collections = ['accounts', 'accountAddresses', 'products'] as const;

/** Companies of a service that leaves out nulls. One has no products. */
const [acme, bolt, none] = [20, 20, 0].map((products, seed) =>
  createSandbox({
    seed,
    records: { accounts: 10, accountAddresses: 10, products },
    nullFields: 'omitted',
  }),
);
for (const sandbox of [acme, bolt]) {
  sandbox?.store.products.insert({ name: 'Shared', tags: ['new', 'new'] } as never);
}

/** A value as both databases can return it. Sums of floating point numbers differ in their last digits. */
function plain(value: unknown): string {
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || /^-?\d+\.\d+$/.test(`${value}`);
  return isNumber ? String(Number(Number(value).toFixed(4))) : `${value}`;
}

/** Copies the companies into a target. Returns the rows of a query, of which each cell is a string. */
async function copied(target: SyncTarget, query: (sql: string) => Promise<readonly object[]>) {
  for (const [tenant, sandbox] of Object.entries({ acme, bolt, none })) {
    await sync(createClient(sandbox?.clientOptions), { tenant, collections, target });
  }
  return async (sql: string) => (await query(sql)).map((row) => Object.values(row).map(plain)).toSorted();
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

test('each query of the guide to copies returns as many rows as it must, the same in SQLite and PostgreSQL', async () => {
  const sqlite = new DatabaseSync(':memory:');
  const inSqlite = await copied(sqliteTarget(sqlite), async (sql) => sqlite.prepare(sql).all());
  const found: number[] = [];
  for (const sql of queries) {
    const rows = await inPostgres(sql);
    found.push(rows.length);
    expect([sql, await inSqlite(sql)]).toEqual([sql, rows]);
  }
  // One for each company, the brands with stock, the addresses of three companies, and the tags.
  expect(found).toEqual([3, 6, 30, 7]);
  // The JSON operators are newer than the SQLite of many systems.
  const views = sqlite.prepare("SELECT sql FROM sqlite_schema WHERE type = 'view'").all();
  expect(views.filter(({ sql }) => String(sql).includes('->'))).toEqual([]);
});

test('the guide to copies names every column of sync_status, in their order', async () => {
  const [, table = ''] = /^`sync_status` has .*?\n\n\|(.*?)\n\n/ms.exec(guide) ?? [];
  const cells = table.split('\n').map((row) => row.split('|').at(row.startsWith('|') ? 1 : 0) ?? '');
  const named = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name));
  const sqlite = new DatabaseSync(':memory:');
  const options = { tenant: 'acme', collections: ['boms'], target: sqliteTarget(sqlite) } as const;
  await sync(createClient(acme?.clientOptions), options);
  const columns = sqlite.prepare("SELECT name FROM pragma_table_info('sync_status')").all();
  expect(named).toEqual(columns.map(({ name }) => name));
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
  const allowed = [Array(4).fill([{ tenant: 'acme' }]), Array(3).fill('rejected')];
  expect(await asAcme()).toEqual(allowed);
  bolt?.store.products.update('1', { mood: 'new' } as never);
  await copied(postgresTarget(postgres), async () => []);
  const { rows } = await postgres.query('SELECT mood FROM accounting.products WHERE mood IS NOT NULL');
  expect(rows).toEqual([{ mood: 'new' }]);
  expect(await asAcme()).toEqual(allowed);
});
