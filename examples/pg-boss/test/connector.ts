import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { type ConnectorRun, connectorTests } from 'accounting-data-sdk/testing';
import { fromPglite } from 'pg-boss';
import { plan, type Result, SYNC, startQueue, work } from '../src/queue.ts';

const database = await PGlite.create();
const connection = { query: (text: string, values?: string[]) => database.query(text, values) };
const boss = await startQueue({ db: fromPglite(database), backend: 'pglite' });
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
  return (await database.query(jobs, [SYNC])).rows.length > 0;
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
    const { rows } = await database.query<{ body: object }>(copied, [collection]);
    return rows.map(({ body }) => body);
  },
  async reset() {
    results = [];
    const tables = "SELECT to_regclass('parked_company') AS parked";
    const { rows } = await database.query<{ parked: string | null }>(tables);
    if (rows[0]?.parked !== null) await database.exec('DELETE FROM parked_company');
    await database.exec('DELETE FROM pgboss.job; DROP SCHEMA IF EXISTS accounting CASCADE');
  },
});
for (const { name, run: play } of cases) test(name, play);
