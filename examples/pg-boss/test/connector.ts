import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type ConnectorRun, connectorTests } from 'accounting-data-sdk/testing';
import { plan, type Result, SYNC, startQueue, work } from '../src/queue.ts';
import { rows } from '../src/tables.ts';
import { createDatabase } from './database.ts';

const database = await createDatabase();
const { connection } = database;
const boss = await startQueue(database.queue);
after(async () => {
  await boss.stop({ graceful: false });
  await database.close();
});

let service: ConnectorRun;
let results: Result[] = [];

await work(boss, {
  connection,
  companyOf: () => ({ baseUrl: service.baseUrl, apiKey: service.apiKey, afterLastPage: 'not_found' }),
  stopAfter: { ms: 60_000 },
  atOnce: 2,
  get signal() {
    return service.signal;
  },
  onJob: (_, result) => results.push(result),
});

/** Whether a job waits or runs. */
async function isBusy(): Promise<boolean> {
  const jobs = "SELECT 1 FROM pgboss.job WHERE name = $1 AND state IN ('created', 'active')";
  return (await rows(connection, jobs, [SYNC])).length > 0;
}

/** Plans a job of the company, and waits for its end. */
async function run(started: ConnectorRun): Promise<void> {
  service = started;
  const before = results.length;
  await plan(boss, { tenant: 'acme', mode: 'full' });
  const isOver = ({ status }: Result) =>
    status === 'stopped' ? started.signal.aborted : status !== 'paused' && status !== 'down';
  let result: Result | undefined;
  while (result === undefined) {
    await wait(20);
    result = results.slice(before).find(isOver);
  }
  // What an earlier run left in the queue reads the same service.
  while (!started.signal.aborted && (await isBusy())) await wait(20);
  if (result.status !== 'synced')
    throw new Error(result.status === 'failed' ? result.message : result.status);
}

const cases = connectorTests({
  collections: ['accounts', 'products'],
  // A job that was fetched and not begun is retried when its heartbeat is missing, after half a minute.
  timeoutMs: 120_000,
  run,
  async records(collection) {
    const copied = 'SELECT body FROM accounting.record WHERE collection = $1';
    return (await rows<{ body: object }>(connection, copied, [collection])).map(({ body }) => body);
  },
  async reset() {
    results = [];
    await database.query('DELETE FROM parked_company');
    await database.query('DELETE FROM pgboss.job');
    await database.query('DROP SCHEMA IF EXISTS accounting CASCADE');
  },
});
for (const { name, run: play } of cases) test(name, play);
