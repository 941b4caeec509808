/**
 * Keeps a copy of the books in PostgreSQL: rows and checkpoint in one transaction, amounts as `numeric`.
 *
 * By default in PGlite, which is PostgreSQL in this process, in the folder BOOKS or in memory: nothing to
 * install. With DATABASE_URL on a server, by the same code (`npm install pg`). Without ACCOUNTING_BASE_URL the books
 * are a sandbox of this process.
 */
import { type Client, createClient, reconcile, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';

/** What PGlite and a client of `pg` have in common. */
export interface Sql {
  query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }>;
}

const COLLECTIONS = ['accounts', 'products', 'budgets', 'budgetLines'] as const;

const SCHEMA = [
  `create table if not exists record (
    tenant text, collection text, id text, data jsonb not null,
    -- An amount is a decimal string in JSON, and becomes a numeric without losing a digit.
    sale_price numeric generated always as ((data ->> 'salePrice')::numeric) stored,
    primary key (tenant, collection, id))`,
  'create table if not exists checkpoint (key text primary key, value text not null)',
];

const UPSERT = `insert into record (tenant, collection, id, data)
  select $1, $2, row ->> 'id', row from jsonb_array_elements($3::jsonb) as row
  on conflict (tenant, collection, id) do update set data = excluded.data`;

/** Brings the copy up to date: what is new or changed, then what was deleted. */
export async function copyToPostgres(client: Client, sql: Sql, tenant: string): Promise<void> {
  for (const statement of SCHEMA) await sql.query(statement);
  const get = async (key: string) => {
    const { rows } = await sql.query<{ value: string }>('select value from checkpoint where key = $1', [key]);
    return rows[0]?.value;
  };
  await sync(client, {
    // It only reads: the checkpoint is written below, together with the rows, so that neither is ever ahead.
    store: { get },
    tenant,
    collections: COLLECTIONS,
    onBatch: ({ collection, records, key, checkpoint }) =>
      transaction(sql, async () => {
        await sql.query(UPSERT, [tenant, collection, JSON.stringify(records)]);
        await sql.query(
          'insert into checkpoint values ($1, $2) on conflict (key) do update set value = excluded.value',
          [key, checkpoint],
        );
      }),
  });

  // Once a day would do: it walks everything. A sync does not see deletions.
  for (const collection of COLLECTIONS) {
    const where = 'from record where tenant = $1 and collection = $2';
    const { rows } = await sql.query<{ id: string }>(`select id ${where}`, [tenant, collection]);
    await reconcile(client[collection], {
      localIds: () => rows.map(({ id }) => id),
      onDelete: (ids) => sql.query(`delete ${where} and id = any($3)`, [tenant, collection, ids]),
      onRepair: (records) => sql.query(UPSERT, [tenant, collection, JSON.stringify(records)]),
    });
  }
}

async function transaction(sql: Sql, work: () => Promise<void>): Promise<void> {
  await sql.query('begin');
  try {
    await work();
    await sql.query('commit');
  } catch (error) {
    await sql.query('rollback');
    throw error;
  }
}

/** How many products the copy has, and what they cost together: to the last digit, for `numeric` is decimal. */
export async function total(sql: Sql, tenant: string): Promise<{ products: string; total: string }> {
  const { rows } = await sql.query<{ products: string; total: string }>(
    `select count(*)::text as products, coalesce(sum(sale_price), 0)::text as total
     from record where tenant = $1 and collection = 'products'`,
    [tenant],
  );
  return rows[0] ?? { products: '0', total: '0' };
}

async function connect(): Promise<Sql & { close(): Promise<void> }> {
  const url = process.env.DATABASE_URL;
  if (url === undefined) {
    const { PGlite } = await import('@electric-sql/pglite');
    return PGlite.create(process.env.BOOKS) as Promise<Sql & { close(): Promise<void> }>;
  }
  const driver: string = 'pg';
  const { default: pg } = await import(driver);
  const client = new pg.Client(url);
  await client.connect();
  return Object.assign(client, { close: () => client.end() });
}

if (process.argv[1] === import.meta.filename) {
  const sandbox = process.env.ACCOUNTING_BASE_URL === undefined ? createSandbox({ records: 500 }) : undefined;
  const sql = await connect();
  // The label of this company in the copy. A sandbox has other books each time.
  const tenant = process.env.TENANT ?? `sandbox-${Date.now()}`;
  await copyToPostgres(createClient(sandbox?.clientOptions), sql, tenant);
  const { products, total: sum } = await total(sql, tenant);
  console.log(`${products} products, together ${sum}`);
  await sql.close();
}
