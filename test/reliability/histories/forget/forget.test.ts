import { DatabaseSync } from 'node:sqlite';
import { createClient, forget, isAccountingError, refresh, type SyncTarget, sync } from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { test } from 'vitest';
import { openPglite } from '../../../support/pglite.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';
import { expectNoFindings, NO_HURRY, seedsToRun } from '../../../support/seeds.ts';

const collections = ['accounts', 'products', 'boms'] as const;

/** A database without locks, which several runs use at the same time. */
interface Database {
  readonly target: SyncTarget;
  /** What it has of a tenant: a line for each row. */
  rowsOf(tenant: string): Promise<readonly string[]>;
}

/** What a table has of a tenant. */
type Select = (table: string, tenant: string) => readonly object[] | Promise<readonly object[]>;

const withRows = (target: SyncTarget, select: Select): Database => ({
  target,
  async rowsOf(tenant) {
    const rows: string[] = [];
    for (const table of ['record', 'checkpoint', 'seen', 'status'])
      for (const row of await select(table, tenant)) rows.push(`${table} ${JSON.stringify(row)}`);
    return rows;
  },
});

function openSqlite(): Database {
  const database = new DatabaseSync(':memory:');
  return withRows(sqliteTarget(database), (table, tenant) =>
    database.prepare(`SELECT * FROM accounting_${table} WHERE tenant = ?`).all(tenant),
  );
}

async function openPostgres(): Promise<Database> {
  const database = await openPglite();
  return withRows(postgresTarget(database), async (table, tenant) => {
    const { rows } = await database.query(`SELECT * FROM accounting.${table} WHERE tenant = $1`, [tenant]);
    return rows as readonly object[];
  });
}

/** A company of its own, with two keys. */
function company(random: SeededRandom, name: string) {
  const sandbox = createSandbox({
    seed: random.int(0, 1e6),
    pageSize: 5,
    records: { accounts: random.int(0, 25), products: random.int(1, 25), boms: random.int(0, 5) },
  });
  for (const { id } of sandbox.store.accounts.all()) sandbox.store.accounts.update(id, { name });
  for (const { id } of sandbox.store.products.all()) sandbox.store.products.update(id, { name });
  const { full, readOnly } = sandbox.keys;
  const clientOf = (isRotated: boolean) =>
    createClient({ ...sandbox.clientOptions, apiKey: isRotated ? readOnly : full });
  return { sandbox, clientOf };
}

/** Takes a turn of the event loop, or only a few microtasks. */
async function aMoment(random: SeededRandom): Promise<void> {
  if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
  for (let turns = random.int(0, 20); turns > 0; turns--) await undefined;
}

/** What was left of the forgotten company. */
async function play(seed: number, { target, rowsOf }: Database): Promise<readonly string[]> {
  const random = new SeededRandom(seed * 13 + 3);
  const tenant = `tenant-${seed}`;
  const acme = company(random, 'acme');
  const options = { tenant, target, collections } as const;
  if (random.chance(0.7)) await sync(acme.clientOf(false), options);
  const { products } = acme.sandbox.store;
  for (const id of products.ids().slice(1)) {
    if (random.chance(0.3)) products.update(id, { remark: 'changed' });
    if (random.chance(0.1)) products.delete(id);
  }

  const opened = Promise.withResolvers<void>();
  const observed: SyncTarget = {
    async open(...args) {
      const one = await target.open(...args);
      opened.resolve();
      return one;
    },
  };
  const client = acme.clientOf(random.chance(0.4));
  const run = random.chance(0.8)
    ? sync(client, {
        ...options,
        target: observed,
        mode: random.pick(['incremental', 'full']),
        concurrency: random.int(1, 3),
      })
    : refresh(client.products, { tenant, target: observed, ids: products.ids() });
  const ended = run.then(
    () => undefined,
    (error: unknown) => error,
  );
  // A refresh of a copy that does not exist opens nothing.
  await Promise.race([opened.promise, ended]);
  const wanted = acme.sandbox.count() + random.pick([0, 0, 1, 2, 3, 5, 8, 13]);
  const reached = new Promise<void>((resolve) => {
    if (acme.sandbox.count() >= wanted) resolve();
    else acme.sandbox.onRequest(() => acme.sandbox.count() >= wanted && resolve());
  });
  await Promise.race([reached, ended]);
  await aMoment(random);
  await forget({ tenant, target });
  const bolt = random.chance(0.4) ? company(random, 'bolt') : undefined;
  if (bolt !== undefined) {
    await aMoment(random);
    await sync(bolt.clientOf(false), { ...options, mode: random.pick(['incremental', 'full']) });
  }
  const error = await ended;
  if (error !== undefined && !isExpected(error)) throw error;
  const rows = await rowsOf(tenant);
  if (bolt === undefined) return rows;
  const kept = rows.filter((row) => row.startsWith('record '));
  const { store } = bolt.sandbox;
  const expected = store.accounts.count + store.products.count + store.boms.count;
  const left = kept.filter((row) => row.includes('acme'));
  return kept.length === expected ? left : [...left, `${kept.length} of ${expected} of the next company`];
}

/** The run noticed that its copy is gone. */
function isExpected(error: unknown): boolean {
  if (isAccountingError(error, 'sync_failed')) return error.errors.every((one) => isExpected(one.error));
  if (isAccountingError(error, 'invalid_input')) return error.argument === 'tenant';
  return isAccountingError(error, 'concurrent_run') || isAccountingError(error, 'deletions_aborted');
}

test.each([
  ['SQLite', async () => openSqlite(), 20],
  // Where the same takes seven times as long.
  ['PostgreSQL', openPostgres, 2],
])('a run beside forget leaves nothing of a company in %s', NO_HURRY, async (_, open, seeds) => {
  const database = await open();
  await expectNoFindings(seedsToRun(seeds), (seed) => play(seed, database));
});
