import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { COLLECTIONS, type Pair } from '../src/copy.ts';
import { openDatabase } from '../src/database.ts';
import { type Ended, SyncQueue } from '../src/queue.ts';
import { Companies, copied } from './support/books.ts';

const small = { accounts: 40, products: 40, budgets: 40, budgetLines: 40 };
const companies = () =>
  new Companies({
    acme: { seed: 1, records: small },
    bolt: { seed: 2, records: small },
    // Its books are forty times as large as theirs.
    crane: { seed: 3, records: { ...small, accounts: 1_600 } },
  });

async function machines(count: number, books: Companies) {
  const database = await openDatabase(undefined);
  const underWay: Pair[] = [];
  const atOnce = { pair: 0, tenant: 0 };
  const onJob = (event: 'begin' | 'end', pair: Pair) => {
    const same = ({ tenant, collection }: Pair) => tenant === pair.tenant && collection === pair.collection;
    if (event === 'end') {
      underWay.splice(underWay.findIndex(same), 1);
      return;
    }
    underWay.push(pair);
    atOnce.pair = Math.max(atOnce.pair, underWay.filter(same).length);
    atOnce.tenant = Math.max(atOnce.tenant, underWay.filter(({ tenant }) => tenant === pair.tenant).length);
  };
  const start = () =>
    SyncQueue.start({ database, tenants: () => books.tenants, clientOf: books.clientOf, onJob });
  const queues: SyncQueue[] = [];
  for (let machine = 0; machine < count; machine++) queues.push(await start());
  return { database, queues, start, atOnce };
}

async function untilIdle(queue: SyncQueue): Promise<void> {
  while ((await queue.open()) > 0) await wait(50);
}

/** Jobs that started although an idle company had fewer jobs so far. */
function unfair(jobs: readonly Ended[], tenants: readonly string[]): string[] {
  const jobsOf = (tenant: string, at: number) =>
    jobs.filter((job) => job.tenant === tenant && job.startedOn.getTime() <= at);
  const isBusy = (tenant: string, at: number) =>
    jobsOf(tenant, at).some(({ completedOn }) => completedOn === null || completedOn.getTime() >= at);
  return jobs.flatMap((job) => {
    const at = job.startedOn.getTime();
    const own = jobsOf(job.tenant, at).length;
    return tenants
      .filter((other) => !isBusy(other, at) && jobsOf(other, at).length < own - 1)
      .map((other) => `${job.tenant} ${job.collection} before a job of ${other}`);
  });
}

test('each pair has one job at a time, each company one run at a time, and companies alternate', async () => {
  const books = companies();
  const { database, queues, atOnce } = await machines(2, books);
  const [first, second] = queues as [SyncQueue, SyncQueue];
  assert.equal(await first.plan(), 12);
  assert.equal(await second.plan(), 0, 'a pair that waits is not put in again');

  await Promise.all([first.work(2), second.work(2)]);
  await untilIdle(first);
  assert.deepEqual(atOnce, { pair: 1, tenant: 1 });
  const jobs = await first.ended();
  assert.equal(jobs.length, 12);
  assert.deepEqual(unfair(jobs, books.tenants), []);
  assert.deepEqual(await copied(database), books.records());

  books.of('bolt').store.accounts.insert({ name: 'New' });
  assert.equal(await second.plan(), 12, 'a pair whose job has ended is put in again');
  await untilIdle(first);
  assert.deepEqual(await copied(database), books.records());
  const records = (await first.ended()).reduce((sum, job) => sum + job.records, 0);
  assert.equal(records, books.records().length, 'the second round brought the new record and no other');
  await Promise.all(queues.map((queue) => queue.stop()));
  await database.close();
});

test('the copy is correct although machines stop and start while they work', async () => {
  const books = companies();
  const { database, queues, start } = await machines(1, books);
  const [first] = queues as [SyncQueue];
  await first.plan();
  await first.work(2);
  // In the middle of the largest list.
  while (books.of('crane').count() < 10) await wait(5);
  await first.stop();
  const later = await start();
  assert.ok((await later.open()) > 0, 'work is left');
  await later.work(3);
  const helper = await start();
  await helper.work(1);
  await untilIdle(later);
  assert.equal((await later.ended()).length, 3 * COLLECTIONS.length);
  assert.deepEqual(await copied(database), books.records());
  await Promise.all([later.stop(), helper.stop()]);
  await database.close();
});

test('a revoked key ends its job without a retry, and does not affect other companies', async () => {
  const books = companies();
  const acme = books.of('acme');
  acme.revokeKey(acme.keys.full);
  const { database, queues } = await machines(1, books);
  const [queue] = queues as [SyncQueue];
  await queue.plan();
  await queue.work(3);
  await untilIdle(queue);
  const problems = (await queue.ended()).filter(({ problem }) => problem !== undefined);
  assert.deepEqual(
    problems.map(({ tenant, problem }) => `${tenant} ${problem}`),
    COLLECTIONS.map(() => 'acme unauthenticated'),
  );
  assert.equal(acme.count(), COLLECTIONS.length);
  const others = books.records().filter((record) => !record.startsWith('acme'));
  assert.deepEqual(await copied(database), others);
  await queue.stop();
  await database.close();
});
