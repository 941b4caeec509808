import { randomUUID } from 'node:crypto';
import { type Batch, type Client, changes } from 'accounting-data-sdk';
import type { Database, Sql } from './database.ts';

/** The collections that are copied, parents before their children. */
export const COLLECTIONS = ['accounts', 'products', 'budgets', 'budgetLines'] as const;

/** One collection of one company: what a job is about. */
export interface Pair {
  readonly tenant: string;
  readonly collection: (typeof COLLECTIONS)[number];
}

const SCHEMA = [
  `create table if not exists record (
    tenant text, collection text, id text, data jsonb not null,
    primary key (tenant, collection, id))`,
  'create table if not exists checkpoint (key text primary key, value text not null)',
  // Which run may write. A slow worker that counted as dead finds the name of another one here.
  `create table if not exists holder (tenant text, collection text, run text not null,
    primary key (tenant, collection))`,
];

const TAKE = `insert into holder values ($1, $2, $3)
  on conflict (tenant, collection) do update set run = excluded.run`;

const HOLD = 'select 1 as held from holder where tenant = $1 and collection = $2 and run = $3 for update';

const UPSERT = `insert into record (tenant, collection, id, data)
  select $1, $2, row ->> 'id', row from jsonb_array_elements($3::jsonb) as row
  on conflict (tenant, collection, id) do update set data = excluded.data`;

const ADVANCE = `insert into checkpoint values ($1, $2)
  on conflict (key) do update set value = excluded.value`;

/** Creates the tables. Several processes may do so at once: they wait for each other. */
export function prepareCopy(database: Database): Promise<void> {
  return database.transaction(async (sql) => {
    await sql.query('select pg_advisory_xact_lock(7305)');
    for (const statement of SCHEMA) await sql.query(statement);
  });
}

/**
 * Brings one collection of one company up to date. Rows and checkpoint are written in one transaction, and only while
 * no later run of the same pair has begun. Resolves to the number of records read.
 */
export async function copyPair(
  database: Database,
  client: Client,
  { tenant, collection, signal }: Pair & { readonly signal?: AbortSignal },
): Promise<number> {
  const run = randomUUID();
  await database.query(TAKE, [tenant, collection, run]);

  const get = async (key: string) => {
    const { rows } = await database.query<{ value: string }>('select value from checkpoint where key = $1', [
      key,
    ]);
    return rows[0]?.value;
  };
  let records = 0;
  for await (const batch of changes(client[collection], {
    store: { get },
    tenant,
    signal,
    name: collection,
  })) {
    await database.transaction((sql) => write(sql, { tenant, collection, run, batch }));
    records += batch.records.length;
  }
  return records;
}

async function write(
  sql: Sql,
  { tenant, collection, run, batch }: Pair & { readonly run: string; readonly batch: Batch<{ id: string }> },
): Promise<void> {
  const { rows } = await sql.query(HOLD, [tenant, collection, run]);
  if (rows.length === 0) throw new Error(`Another run of ${tenant} ${collection} has begun.`);
  await sql.query(UPSERT, [tenant, collection, JSON.stringify(batch.records)]);
  await sql.query(ADVANCE, [batch.key, batch.checkpoint]);
}
