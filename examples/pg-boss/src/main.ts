// One machine of many: npm run work -- companies.json, with DATABASE_URL.

import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { type Company, planHourly, type Result, startQueue, work } from './queue.ts';
import { stopOnSignals } from './stop.ts';

/** A company, as the file names it. `tenant` is a label: never the key. */
type Listed = Record<'tenant' | 'baseUrl' | 'apiKey', string>;

const AT_ONCE = 4;
const { DATABASE_URL: connectionString = '' } = process.env;
const path = process.argv[2] ?? 'companies.json';

// With a secret store, read one company in `companyOf` and the names of all in `planHourly`, and drop the cache.
const MAX_AGE_MS = 60_000;
let cache = { companies: new Map<string, Company>(), readAt: -Infinity };
async function companies(): Promise<Map<string, Company>> {
  if (Date.now() - cache.readAt < MAX_AGE_MS) return cache.companies;
  const list = JSON.parse(await readFile(path, 'utf8')) as Listed[];
  cache = { companies: new Map(list.map(({ tenant, ...company }) => [tenant, company])), readAt: Date.now() };
  return cache.companies;
}

function lineOf(result: Result): string {
  if (result.status === 'failed') return result.message;
  if (result.status === 'synced') return `${result.records} records`;
  if (result.status === 'paused') {
    return `${result.records} records, resumes in ${Math.ceil(result.resumeAfterMs / 1_000)} s`;
  }
  if (result.status === 'parked') return 'parked until its key changes';
  if (result.status === 'removed') return 'is not a company any more';
  return result.status === 'down' ? 'the service is down, queued again' : 'stopped, queued again';
}

// A sync sends one statement at a time: a machine holds at most 6 connections.
const pool = new pg.Pool({ connectionString, max: AT_ONCE });
// A connection that breaks while idle is replaced by the next query.
pool.on('error', (error) => console.error(error.message));
const boss = await startQueue({ connectionString, max: 2 });
const signal = stopOnSignals(boss, () => pool.end());
await work(boss, {
  connection: pool,
  companyOf: async (tenant) => (await companies()).get(tenant),
  stopAfter: { ms: 60_000 },
  atOnce: AT_ONCE,
  signal,
  onJob: (tenant, result) => {
    const print = result.status === 'failed' ? console.error : console.log;
    print(`${tenant}: ${lineOf(result)}`);
  },
});
await planHourly(boss, async () => (await companies()).keys());
