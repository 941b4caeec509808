import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { type CollectionName, createClient } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { fromPglite, type PgBoss } from 'pg-boss';
import {
  FAILED,
  type Job,
  plan,
  planAll,
  planHourly,
  type Result,
  SYNC,
  startQueue,
  type WorkOptions,
  work,
} from '../src/queue.ts';
import { staleCompanies } from '../src/stale.ts';

const NAMES = ['accounts', 'products'] as const satisfies readonly CollectionName[];

type Done = { readonly tenant: string } & Result;

/** A database, and machines that work on the queue in it. */
async function open(t: TestContext, companies: ReadonlyMap<string, Sandbox>) {
  const database = await PGlite.create();
  const connection = { query: (text: string, values?: string[]) => database.query(text, values) };
  const results: Done[] = [];
  const queues: PgBoss[] = [];
  const keys = new Map<string, string>();
  t.after(async () => {
    for (const boss of queues) await boss.stop({ graceful: false });
    await database.close();
  });
  const queue = async () => {
    const boss = await startQueue({ db: fromPglite(database), backend: 'pglite' });
    queues.push(boss);
    return boss;
  };
  return {
    database,
    connection,
    results,
    keys,
    queue,
    async machine(options: Partial<WorkOptions> = {}) {
      const boss = await queue();
      await work(boss, {
        connection,
        companyOf: (tenant) => {
          const sandbox = companies.get(tenant);
          assert.ok(sandbox);
          const apiKey = keys.get(tenant) ?? sandbox.keys.full;
          return { apiKey, client: createClient({ ...sandbox.clientOptions, apiKey }) };
        },
        stopAfter: { requests: 30 },
        atOnce: 4,
        onJob: (tenant, result) => results.push({ tenant, ...result }),
        ...options,
      });
      return boss;
    },
    async jobs(queueName: string) {
      const { rows } = await database.query<{
        data: Job;
        state: string;
        output: Result;
        start_after: Date;
      }>(
        'SELECT data, state, source_output AS output, start_after FROM pgboss.job WHERE name = $1 ORDER BY created_on',
        [queueName],
      );
      return rows;
    },
  };
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(50);
}

test('two machines complete the copies of twenty companies, in jobs of at most 30 requests', async (t) => {
  const companies = new Map(
    Array.from({ length: 20 }, (_, seed) => [
      `company-${seed}`,
      createSandbox({ seed, records: { accounts: 60 + 2 * seed, products: 40 } }),
    ]),
  );
  const { database, results, machine } = await open(t, companies);
  const first = await machine();
  await machine();
  for (const tenant of companies.keys()) await plan(first, { tenant, mode: 'incremental' });
  const done = () => new Set(results.filter(({ status }) => status === 'synced').map(({ tenant }) => tenant));
  await until(() => done().size === companies.size);
  const statuses = new Set(results.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), ['paused', 'synced']);

  const { rows } = await database.query<{ key: string; body: object }>(
    `SELECT tenant || ' ' || collection || ' ' || id AS key, body FROM accounting.record
      WHERE collection IN ('accounts', 'products')`,
  );
  const copied = new Map(rows.map(({ key, body }) => [key, body]));
  const sent = [...companies].flatMap(([tenant, { store }]) =>
    NAMES.flatMap((name) =>
      store[name].all().map((record) => [`${tenant} ${name} ${record.id}`, record] as const),
    ),
  );
  assert.equal(copied.size, sent.length);
  for (const [key, record] of sent) assert.deepEqual(copied.get(key), record);
});

test('a company that is paused for an hour queues again for then', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 5 } });
  sandbox.faults.add({ kind: 'status', status: 429, retryAfter: 3_600 });
  const { results, machine, jobs } = await open(t, new Map([['acme', sandbox]]));
  const boss = await machine({ stopAfter: { ms: 5_000 } });
  const before = Date.now();
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => results.length > 0);
  const next = (await jobs(SYNC)).find(({ state }) => state === 'created');
  assert.ok(next);
  const delay = next.start_after.getTime() - before;
  assert.ok(delay > 3_500_000 && delay < 3_700_000, `${delay} ms`);
  await wait(1_500);
  assert.equal(results.length, 1);
});

test('a company with a rejected key goes to the dead-letter queue, and sends nothing until its key changes', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 5 } });
  const { connection, results, keys, machine, jobs } = await open(t, new Map([['acme', sandbox]]));
  keys.set('acme', 'revoked');
  const boss = await machine({ stopAfter: { ms: 60_000 } });
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(async () => (await jobs(FAILED)).length === 1);
  const [failure] = results;
  assert.ok(failure?.status === 'failed');
  assert.equal(failure.code, 'unauthenticated');
  assert.match(failure.message, /^unauthenticated: .*acme/);
  const [dead] = await jobs(FAILED);
  assert.deepEqual(dead?.data, { tenant: 'acme', mode: 'incremental' });
  const { tenant: _, ...output } = failure;
  assert.deepEqual(dead?.output, output);
  assert.deepEqual(
    (await staleCompanies(connection, ['acme'], '3 hours')).map(({ tenant, lastSuccess }) => [
      tenant,
      lastSuccess,
    ]),
    [['acme', null]],
  );

  const sent = sandbox.count();
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => results.length === 2);
  assert.equal(results[1]?.status, 'parked');
  assert.equal(sandbox.count(), sent);

  keys.delete('acme');
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => results.length === 3);
  assert.equal(results[2]?.status, 'synced');
  assert.deepEqual(await staleCompanies(connection, ['acme'], '3 hours'), []);
  assert.equal((await staleCompanies(connection, ['acme'], '0 seconds')).length, 1);
});

test('planning again and on every machine leaves one job for each company and one schedule', async (t) => {
  const tenants = Array.from({ length: 2_500 }, (_, index) => `company-${index}`);
  const { database, queue, jobs } = await open(t, new Map());
  const statements: string[] = [];
  const query = database.query.bind(database);
  const first = await queue();
  database.query = ((text: string, ...rest: []) => {
    statements.push(text);
    return query(text, ...rest);
  }) as typeof query;
  const now = new Date();
  await planAll(first, tenants, now);
  const inserts = statements.filter((text) => /insert into pgboss\.job/i.test(text));
  assert.ok(inserts.length >= 1 && inserts.length <= 3, `${inserts.length} statements`);

  const second = await queue();
  for (const boss of [first, second, first]) await planAll(boss, tenants, now);
  const waiting = await jobs(SYNC);
  assert.equal(waiting.length, tenants.length);
  assert.ok(new Set(waiting.map(({ start_after }) => start_after.getTime())).size > 2_000);

  for (const boss of [first, second]) await planHourly(boss, () => tenants);
  assert.equal((await first.getSchedules()).length, 1);
});

test('a planned hour queues every company', async (t) => {
  const { queue, jobs } = await open(t, new Map());
  const boss = await queue();
  await planHourly(boss, () => ['acme', 'globex']);
  const [schedule] = await boss.getSchedules();
  assert.ok(schedule);
  await boss.send(schedule.name);
  await until(async () => (await jobs(SYNC)).length === 2);
});

test('finished jobs are deleted after a day', async (t) => {
  const { queue } = await open(t, new Map());
  const settings = await (await queue()).getQueue(SYNC);
  assert.equal(settings?.deleteAfterSeconds, 86_400);
});

test('a machine that stops queues its jobs again and prints no error; another machine completes them', async (t) => {
  const printed = t.mock.method(console, 'error', () => {});
  const sandbox = createSandbox({ records: { accounts: 50, products: 50 } });
  sandbox.faults.add({ kind: 'status', status: 503 });
  const { results, machine, jobs } = await open(t, new Map([['acme', sandbox]]));
  const stop = new AbortController();
  const boss = await machine({ stopAfter: { ms: 8_000_000 }, signal: stop.signal });
  await plan(boss, { tenant: 'acme', mode: 'full' });
  await until(() => sandbox.count() > 0);
  stop.abort();
  const before = Date.now();
  await boss.stop({ timeout: 8_000 });
  assert.ok(Date.now() - before < 8_000);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['stopped'],
  );
  assert.deepEqual(
    printed.mock.calls.map(({ arguments: args }) => args),
    [],
  );
  const next = (await jobs(SYNC)).filter(({ state }) => state === 'created');
  assert.deepEqual(
    next.map(({ data }) => data),
    [{ tenant: 'acme', mode: 'full' }],
  );

  sandbox.faults.clear();
  await machine();
  await until(() => results.some(({ status }) => status === 'synced'));
});
