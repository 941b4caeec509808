import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createClient, sync } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { d1Target } from '../src/d1-target.ts';
import type { D1 } from '../src/env.ts';
import { type Local, startLocal } from '../src/local.ts';

const COLLECTIONS = ['accounts', 'products', 'budgets', 'budgetLines'] as const;

async function open(t: TestContext, maxRequests?: number) {
  const sandbox = createSandbox({ records: { accounts: 120, products: 60, budgets: 20, budgetLines: 60 } });
  await sandbox.listen();
  const { baseUrl, apiKey } = sandbox.clientOptions;
  const local = await startLocal({ baseUrl, apiKey, ...(maxRequests !== undefined && { maxRequests }) });
  // An open server would keep the process of a failed test alive.
  t.after(async () => {
    await local[Symbol.asyncDispose]();
    await sandbox.close();
  });
  return { sandbox, local };
}

async function copied({ db }: Local): Promise<string[]> {
  const { results } = await db
    .prepare('select collection, data from record')
    .all<{ collection: string; data: string }>();
  return results.map(({ collection, data }) => `${collection} ${data}`).sort();
}

const inBooks = ({ store }: Sandbox) =>
  COLLECTIONS.flatMap((name) =>
    store[name].all().map((record) => `${name} ${JSON.stringify(record)}`),
  ).sort();

test('copies everything, then what changed, to the last digit', async (t) => {
  const { sandbox, local } = await open(t);
  assert.equal(await local.run(), 'ok');
  assert.deepEqual(await copied(local), inBooks(sandbox));
  assert.deepEqual(await local.counts(), { accounts: 120, budgetLines: 60, budgets: 20, products: 60 });

  sandbox.clearLogs();
  sandbox.store.products.insert({ name: 'Desk', salePrice: '12345678901234567.8901' });
  assert.equal(await local.run(), 'ok');
  assert.deepEqual(await copied(local), inBooks(sandbox));
  const read = new Set(sandbox.requests.flatMap(({ ids = [] }) => ids));
  assert.equal(read.size, 1);
});

test('sends at most MAX_REQUESTS requests in a run, and continues in the next', async (t) => {
  const { sandbox, local } = await open(t, 10);
  const runs: number[] = [];
  while (runs.length < 20 && (await copied(local).catch(() => [])).length < 260) {
    const before = sandbox.count();
    assert.equal(await local.run(), 'ok');
    runs.push(sandbox.count() - before);
  }
  assert.deepEqual(await copied(local), inBooks(sandbox));
  assert.ok(runs.length > 1, `${runs.length} runs`);
  assert.ok(Math.max(...runs) <= 10, `${runs} requests`);
});

test('sends nothing until the time for which the service asked to wait', async (t) => {
  const { sandbox, local } = await open(t);
  sandbox.faults.next({ kind: 'status', status: 429, retryAfter: 3_600 });
  assert.equal(await local.run(), 'ok');
  const sent = sandbox.count();
  assert.ok(sent > 0);
  const row = await local.db.prepare('select until from pause').first<{ until: number }>();
  const minutes = ((row?.until ?? 0) - Date.now()) / 60_000;
  assert.ok(minutes > 55 && minutes < 61, `${minutes} minutes`);

  assert.equal(await local.run(), 'ok');
  assert.equal(sandbox.count(), sent);
});

test('lets no second run in while one is under way, until its lease has ended', async (t) => {
  const { sandbox, local } = await open(t);
  await local.counts();
  await local.db
    .prepare("insert into lease values ('company', ?1)")
    .bind(Date.now() + 600_000)
    .run();
  assert.equal(await local.run(), 'exception');
  assert.equal(sandbox.count(), 0);

  await local.db
    .prepare('update lease set until = ?1')
    .bind(Date.now() - 1)
    .run();
  assert.equal(await local.run(), 'ok');
  assert.deepEqual(await copied(local), inBooks(sandbox));
});

test('writes rows and checkpoint together or not at all, and releases the lease when a run fails', async (t) => {
  const { sandbox, local } = await open(t);
  await local.counts();
  await local.db
    .prepare(
      "create trigger full before insert on checkpoint begin select raise(abort, 'the disk is full'); end",
    )
    .run();
  assert.equal(await local.run(), 'exception');
  assert.deepEqual(await copied(local), []);

  await local.db.prepare('drop trigger full').run();
  assert.equal(await local.run(), 'ok');
  assert.deepEqual(await copied(local), inBooks(sandbox));
});

test('reads the checkpoints of all collections with one statement', async (t) => {
  const { sandbox, local } = await open(t);
  assert.equal(await local.run(), 'ok');
  const statements: string[] = [];
  const { db } = local;
  const counted: D1 = {
    prepare(query) {
      statements.push(query);
      return db.prepare(query);
    },
    batch: (all) => db.batch(all),
  };
  const client = createClient(sandbox.clientOptions);
  const report = await sync(client, {
    tenant: 'company',
    target: d1Target(counted),
    collections: COLLECTIONS,
  });
  assert.deepEqual(
    report.collections.map(({ mode }) => mode),
    COLLECTIONS.map(() => 'incremental'),
  );
  assert.equal(statements.filter((text) => /^select .* from checkpoint/.test(text)).length, 1);
});
