import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { CollectionName } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import type { PgBoss } from 'pg-boss';
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
import { createDatabase } from './database.ts';

const NAMES = ['accounts', 'products'] as const satisfies readonly CollectionName[];

type Done = { readonly tenant: string } & Result;

// One for all tests, because PGlite takes a second to start.
const database = await createDatabase();
after(() => database.close());
const { connection, query } = database;

/** An empty queue, and machines that work on it. */
async function open(t: TestContext, companies: ReadonlyMap<string, Sandbox> = new Map()) {
  const results: Done[] = [];
  const queues: PgBoss[] = [];
  const keys = new Map<string, string>();
  t.after(async () => {
    // Gracefully: a machine that is stopped at once may take a job of the next test with it.
    for (const boss of queues) await boss.stop();
    await connection.query('DELETE FROM pgboss.job');
    await connection.query('DELETE FROM pgboss.schedule');
    await connection.query('DROP SCHEMA IF EXISTS accounting CASCADE');
    await connection.query('DROP TABLE IF EXISTS parked_company, circuit');
  });
  const queue = async () => {
    const boss = await startQueue(database.queue);
    queues.push(boss);
    return boss;
  };
  return {
    results,
    keys,
    queue,
    async machine(options: Partial<WorkOptions> = {}) {
      const boss = await queue();
      await work(boss, {
        connection,
        companyOf: (tenant) => {
          const sandbox = companies.get(tenant);
          const apiKey = keys.get(tenant) ?? sandbox?.keys.full ?? '';
          return sandbox && { ...sandbox.clientOptions, apiKey, retry: false };
        },
        stopAfter: { requests: 30 },
        atOnce: 4,
        onJob: (tenant, result) => results.push({ tenant, ...result }),
        ...options,
      });
      return boss;
    },
  };
}

interface StoredJob {
  readonly data: Job;
  readonly state: string;
  readonly output: Result;
  readonly created_on: Date;
  readonly start_after: Date;
}

async function jobs(queueName: string): Promise<readonly StoredJob[]> {
  return await query(
    `SELECT data, state, source_output AS output, created_on, start_after FROM pgboss.job WHERE name = '${queueName}'
      ORDER BY created_on`,
  );
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
  const { results, machine } = await open(t, companies);
  const first = await machine();
  await machine();
  for (const tenant of companies.keys()) await plan(first, { tenant, mode: 'incremental' });
  const done = () => new Set(results.filter(({ status }) => status === 'synced').map(({ tenant }) => tenant));
  await until(() => done().size === companies.size);
  const statuses = new Set(results.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), ['paused', 'synced']);

  const rows = await query<{ key: string; body: object }>(
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
  sandbox.faults.next({ kind: 'status', status: 429, retryAfter: 3_600 });
  const { results, machine } = await open(t, new Map([['acme', sandbox]]));
  const boss = await machine({ stopAfter: { ms: 5_000 } });
  const before = Date.now();
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => results.length > 0);
  const next = (await jobs(SYNC)).find(({ state }) => state === 'created');
  assert.ok(next);
  const delay = next.start_after.getTime() - before;
  assert.ok(delay > 3_500_000 && delay < 3_700_000, `${delay} ms`);
  assert.equal(sandbox.count(), 1);
});

test('a company whose last job has just ended is not skipped for a minute', {
  timeout: 40_000,
}, async (t) => {
  const { results, queue, machine } = await open(t, new Map([['acme', createSandbox()]]));
  await queue();
  // As the supervisor of pg-boss writes it while a job of the company runs.
  await query(`UPDATE pgboss.queue SET singletons_active = '{acme}' WHERE name = '${SYNC}'`);
  const boss = await machine();
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => {
    t.signal.throwIfAborted();
    return results.length > 0;
  });
});

test('a company with a rejected key goes to the dead-letter queue, and sends nothing until its key changes', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 5 } });
  const { results, keys, machine } = await open(t, new Map([['acme', sandbox]]));
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

test('an error outside the SDK is reported with its company and message, and retried', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 5 } });
  const { results, machine } = await open(t, new Map([['acme', sandbox]]));
  let calls = 0;
  const boss = await machine({
    stopAfter: { ms: 60_000 },
    companyOf: () => {
      calls += 1;
      if (calls === 1) throw new Error('The secret store is down.');
      return sandbox.clientOptions;
    },
  });
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => results.length >= 2);
  const [failure, success] = results;
  assert.deepEqual(failure, {
    tenant: 'acme',
    status: 'failed',
    code: 'unexpected_error',
    message: 'unexpected_error: The secret store is down.',
    retryable: true,
  });
  assert.equal(success?.status, 'synced');
});

test('twenty starts queue nothing, and a job for each company once the hour is planned', async (t) => {
  const { queue } = await open(t);
  const tenants = Array.from({ length: 200 }, (_, index) => `company-${index}`);
  let plans = 0;
  const boss = await queue();
  for (let start = 0; start < 20; start += 1) {
    await planHourly(boss, () => {
      plans += 1;
      return tenants;
    });
  }
  assert.deepEqual(await jobs(SYNC), []);
  const [schedule, ...others] = await boss.getSchedules();
  assert.deepEqual(others, []);
  assert.ok(schedule);
  await boss.send(schedule.name);
  await until(async () => (await jobs(SYNC)).length > 0);
  assert.equal(plans, 1);
  assert.equal((await jobs(SYNC)).length, tenants.length);
});

test('planning an hour again leaves one job for each company, and takes one statement for each thousand', async (t) => {
  const { queue } = await open(t);
  const tenants = Array.from({ length: 2_500 }, (_, index) => `company-${index}`);
  const boss = await queue();
  const now = new Date();
  const { statements } = database;
  statements.length = 0;
  await planAll(boss, tenants, now);
  const inserts = statements.filter((text) => /insert into pgboss\.job/i.test(text));
  assert.equal(inserts.length, 3);
  for (let again = 0; again < 3; again += 1) await planAll(boss, tenants, now);
  const waiting = await jobs(SYNC);
  assert.equal(waiting.length, tenants.length);
  assert.ok(new Set(waiting.map(({ start_after }) => start_after.getTime())).size > 2_000);
});

test('finished jobs are deleted after a day', async (t) => {
  const { queue } = await open(t);
  const settings = await (await queue()).getQueue(SYNC);
  assert.equal(settings?.deleteAfterSeconds, 86_400);
});

test('a machine that stops queues its jobs again, and another machine completes them', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 50, products: 50 } });
  sandbox.faults.add({ kind: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  const { results, machine } = await open(t, new Map([['acme', sandbox]]));
  const stop = new AbortController();
  const boss = await machine({ stopAfter: { ms: 8_000_000 }, maxOutageMs: 8_000_000, signal: stop.signal });
  await plan(boss, { tenant: 'acme', mode: 'full' });
  await until(() => sandbox.count() > 0);
  stop.abort();
  await boss.stop({ timeout: 60_000 });
  assert.deepEqual(
    results.map(({ status }) => status),
    ['stopped'],
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

test('a service that is down for all gets no requests until one job has found it up again', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 5 } });
  sandbox.faults.add({ kind: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  const tenants = Array.from({ length: 4 }, (_, index) => `company-${index}`);
  const { results, machine } = await open(t, new Map(tenants.map((tenant) => [tenant, sandbox])));
  const statusesOf = (tenant: string) =>
    results.filter((result) => result.tenant === tenant).map(({ status }) => status);
  const boss = await machine({ atOnce: 1, stopAfter: { ms: 60_000 }, maxOutageMs: 0 });
  for (const [index, tenant] of tenants.entries()) {
    await plan(boss, { tenant, mode: 'incremental' });
    await until(() => statusesOf(tenant).length > 0);
    // The first three open the circuit.
    assert.equal(statusesOf(tenant)[0], index < 2 ? 'failed' : 'down');
  }
  // However slow this machine is.
  await query(`UPDATE circuit SET open_until = now() + interval '1 day'`);
  const sent = sandbox.count();
  const start = (state: string) =>
    query(`UPDATE pgboss.job SET start_after = now() WHERE name = '${SYNC}' AND state = '${state}'`);
  await start('retry');
  await until(() => tenants.every((tenant) => statusesOf(tenant).at(-1) === 'down'));
  assert.equal(sandbox.count(), sent);
  const waiting = (await jobs(SYNC)).filter(({ state }) => state === 'created');
  assert.equal(waiting.length, tenants.length);
  for (const { start_after, created_on } of waiting) {
    assert.ok(start_after.getTime() - created_on.getTime() > 1_000);
  }

  // A minute later: one job tries, and the circuit stays open.
  const passes = async () => {
    await query(`UPDATE circuit SET open_until = now()`);
    await start('created');
  };
  const before = results.length;
  await passes();
  await until(() => results.length >= before + tenants.length);
  const tried = sandbox.requests.slice(sent).length;
  const syncs = results.slice(0, before).filter(({ status }) => status === 'failed').length + 1;
  assert.equal(tried, sent / syncs);
  assert.deepEqual(new Set(results.slice(before).map(({ status }) => status)), new Set(['down']));

  sandbox.faults.clear();
  await passes();
  await until(() => results.some(({ status }) => status === 'synced'));
  assert.deepEqual(await query('SELECT * FROM circuit'), []);
  await until(async () => {
    await start('created');
    return tenants.every((tenant) => statusesOf(tenant).at(-1) === 'synced');
  });
});

test('a company that is down alone does not stop the others', async (t) => {
  const companies = new Map(
    ['acme', 'bolt', 'cube'].map((tenant) => [tenant, createSandbox({ records: { accounts: 5 } })]),
  );
  companies.get('acme')?.faults.add({ kind: 'status', status: 503 }, { times: Number.POSITIVE_INFINITY });
  const { results, machine } = await open(t, companies);
  const boss = await machine({ stopAfter: { ms: 60_000 }, maxOutageMs: 0 });
  for (const tenant of companies.keys()) await plan(boss, { tenant, mode: 'incremental' });
  const of = (tenant: string) => results.filter((result) => result.tenant === tenant);
  await until(() => of('acme').length >= 2 && of('bolt').length > 0 && of('cube').length > 0);
  for (const result of of('acme')) assert.equal(result.status, 'failed');
  for (const tenant of ['bolt', 'cube']) assert.equal(of(tenant)[0]?.status, 'synced');
});

test('the jobs of a company that was removed end without a request', async (t) => {
  const { results, machine } = await open(t);
  const boss = await machine();
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(() => results.length > 0);
  assert.deepEqual(results, [{ tenant: 'acme', status: 'removed' }]);
  assert.deepEqual(await jobs(FAILED), []);
});

test('the queries of the guide run', async (t) => {
  const sandbox = createSandbox({ records: { accounts: 5 } });
  const { results, machine } = await open(t, new Map([['acme', sandbox]]));
  const boss = await machine({ stopAfter: { ms: 60_000 } });
  await plan(boss, { tenant: 'acme', mode: 'incremental' });
  await until(
    async () => results.length > 0 && (await jobs(SYNC)).every(({ state }) => state === 'completed'),
  );
  const guide = await readFile(new URL('../../../src/guides/running-at-scale.md', import.meta.url), 'utf8');
  const [, block = ''] = /### Metrics[\s\S]*?```sql\n([\s\S]*?)```/.exec(guide) ?? [];
  const queries = block.split(/;\n/).filter((text) => text.trim() !== '');
  assert.equal(queries.length, 9);
  const found = [];
  for (const text of queries)
    found.push((await query<object>(text)).map((row) => Object.values(row).map(String)));
  const [stale, late, byStatus, duration, records, ...none] = found;
  assert.deepEqual([stale, late, byStatus, records], [[['0']], [['null']], [['synced', '1']], [['5']]]);
  assert.equal(duration?.length, 1);
  assert.deepEqual(none, [[], [], [], []]);
});
