import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Redis } from 'ioredis';
import { copyCompany } from '../src/copy.ts';
import { SyncQueue } from '../src/queue.ts';
import type { RedisServer } from '../src/redis-server.ts';
import { Companies } from './support/books.ts';
import { redisForTest } from './support/redis.ts';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
const records = { accounts: 200, products: 60, budgets: 60, budgetLines: 60 };

let server: RedisServer | string;
before(async () => {
  server = await redisForTest();
});
after(async () => {
  if (typeof server !== 'string') await server[Symbol.asyncDispose]();
});

/** An empty database, or undefined where there is no server; then the test says so. */
async function open(t: TestContext) {
  if (typeof server === 'string') {
    t.diagnostic(`Not tried: ${server}.`);
    return undefined;
  }
  const redis = new Redis(server.url);
  await redis.flushall();
  return { redis, url: server.url };
}

async function untilIdle(queue: SyncQueue): Promise<void> {
  while ((await queue.open()) > 0) await wait(50);
}

test('each company has one job at a time, and a key that was revoked is a result', async (t) => {
  const opened = await open(t);
  if (opened === undefined) return;
  const { redis, url } = opened;
  const books = new Companies({ acme: { seed: 1, records }, bolt: { seed: 2, records }, crane: { seed: 3 } });
  books.of('crane').revokeKey(books.of('crane').keys.full);
  const underWay = new Set<string>();
  const twice: string[] = [];
  const queue = new SyncQueue({
    url,
    tenants: () => books.tenants,
    clientOf: books.clientOf,
    onJob: (event, tenant) => {
      if (event === 'begin' && underWay.has(tenant)) twice.push(tenant);
      if (event === 'begin') underWay.add(tenant);
      else underWay.delete(tenant);
    },
  });
  assert.equal(await queue.plan(), 3);
  assert.equal(await queue.plan(), 0);
  queue.work(3);
  await untilIdle(queue);
  assert.deepEqual(await books.copied(redis), books.records());
  assert.deepEqual(twice, []);
  const problems = (await queue.ended()).flatMap(({ tenant, problems }) =>
    problems.map((each) => `${tenant} ${each}`),
  );
  assert.deepEqual(problems, ['crane accounts unauthenticated']);

  books.of('bolt').store.products.insert({ name: 'Desk', salePrice: '12345678901234567.8901' });
  assert.equal(await queue.plan(), 3, 'a company whose job has ended is put in again');
  await untilIdle(queue);
  assert.deepEqual(await books.copied(redis), books.records());
  await queue.stop();
  redis.disconnect();
});

test('a run that was taken for dead writes nothing once another one has begun', async (t) => {
  const opened = await open(t);
  if (opened === undefined) return;
  const { redis } = opened;
  const books = new Companies({ acme: { records } });
  const sandbox = books.of('acme');
  const copy = () => copyCompany(redis, books.clientOf('acme'), { tenant: 'acme' });
  // While the first run is at its third page, another one begins.
  let written: Promise<string[]> | undefined;
  const stop = sandbox.onRequest(() => {
    if (sandbox.count() === 3) written = redis.set('holder:acme', 'another').then(() => books.copied(redis));
  });
  await assert.rejects(copy(), (error: Error & { errors: { error: Error }[] }) => {
    assert.match(error.errors[0]?.error.message ?? '', /Another run of acme has begun/);
    return true;
  });
  stop();
  assert.deepEqual(await books.copied(redis), await written);
  await copy();
  assert.deepEqual(await books.copied(redis), books.records());
  redis.disconnect();
});

test('machines that are killed or stopped at work, with others in their place, leave a copy that is right', async (t) => {
  const opened = await open(t);
  if (opened === undefined) return;
  const { redis, url } = opened;
  const books = new Companies({
    acme: { seed: 1, pageSize: 10, records },
    bolt: { seed: 2, pageSize: 10, records },
  });
  const folder = await mkdtemp(join(tmpdir(), 'bullmq-test-'));
  const file = join(folder, 'companies.json');
  await Promise.all([...books.sandboxes.values()].map((sandbox) => sandbox.listen()));
  const companies = [...books.sandboxes].map(
    ([
      tenant,
      {
        clientOptions: { baseUrl, apiKey },
      },
    ]) => ({
      tenant,
      baseUrl,
      apiKey,
    }),
  );
  await writeFile(file, JSON.stringify(companies));
  const { tenants, clientOf } = books;
  const queue = new SyncQueue({ url, tenants: () => tenants, clientOf });
  await queue.plan();

  const machine = () =>
    spawn(process.execPath, [main, file], {
      // It plans nothing by itself while this test looks on.
      env: { ...process.env, REDIS_URL: url, LOCK_MS: '5000', AT_ONCE: '1', PLAN: '0 0 1 1 *' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  for (const [tenant, signal] of [
    ['acme', 'SIGKILL'],
    ['bolt', 'SIGTERM'],
  ] as const) {
    const doomed = machine();
    const exit = once(doomed, 'exit');
    const sandbox = books.of(tenant);
    const stop = sandbox.onRequest(() => {
      if (sandbox.count() === 12) doomed.kill(signal);
    });
    assert.deepEqual(await exit, signal === 'SIGKILL' ? [null, signal] : [0, null]);
    stop();
  }
  for (const { store } of books.sandboxes.values()) store.accounts.update('1', { name: 'Changed meanwhile' });

  const heirs = [machine(), machine()];
  await untilIdle(queue);
  assert.equal((await queue.ended()).length, 2);
  // What changed while a run was under way is what the next one brings.
  await queue.plan();
  await untilIdle(queue);
  assert.deepEqual(await books.copied(redis), books.records());

  const exits = heirs.map((heir) => once(heir, 'exit'));
  for (const heir of heirs) heir.kill('SIGTERM');
  assert.deepEqual(await Promise.all(exits), [
    [0, null],
    [0, null],
  ]);
  await queue.stop();
  redis.disconnect();
  await Promise.all([...books.sandboxes.values()].map((sandbox) => sandbox.close()));
  await rm(folder, { recursive: true });
});
