// One machine of many: npm run work -- companies.json, with DATABASE_URL.

import { readFile } from 'node:fs/promises';
import { createClient } from 'accounting-data-sdk';
import pg from 'pg';
import { planHourly, type Result, startQueue, work } from './queue.ts';

/** A company, as the file names it. `tenant` is a label: never the key. */
type Company = Record<'tenant' | 'baseUrl' | 'apiKey', string>;

const AT_ONCE = 4;
const { DATABASE_URL: connectionString = '' } = process.env;
const path = process.argv[2] ?? 'companies.json';

// With a secret store, read one company in `companyOf` and the names of all in `planHourly`, and drop the cache.
const MAX_AGE_MS = 60_000;
let cache = { companies: new Map<string, Company>(), readAt: -Infinity };
async function companies(): Promise<Map<string, Company>> {
  if (Date.now() - cache.readAt < MAX_AGE_MS) return cache.companies;
  const list = JSON.parse(await readFile(path, 'utf8')) as Company[];
  cache = { companies: new Map(list.map((each) => [each.tenant, each])), readAt: Date.now() };
  return cache.companies;
}

function lineOf(result: Result): string {
  if (result.status === 'failed') return result.message;
  if (result.status === 'synced') return `${result.records} records`;
  if (result.status === 'paused') {
    return `${result.records} records, resumes in ${Math.ceil(result.resumeAfterMs / 1_000)} s`;
  }
  return result.status === 'parked' ? 'parked until its key changes' : 'stopped, queued again';
}

// A machine holds at most 10 connections: a sync sends one or two statements at a time.
const pool = new pg.Pool({ connectionString, max: 2 * AT_ONCE });
// A connection that breaks while idle is replaced by the next query.
pool.on('error', (error) => console.error(error.message));
const boss = await startQueue({ connectionString, max: 2 });
const stop = new AbortController();
await work(boss, {
  connection: pool,
  companyOf: async (tenant) => {
    const company = (await companies()).get(tenant);
    if (company === undefined) throw new Error(`There is no company ${tenant}.`);
    const { baseUrl, apiKey } = company;
    return { apiKey, client: createClient({ baseUrl, apiKey }) };
  },
  stopAfter: { ms: 60_000 },
  atOnce: AT_ONCE,
  signal: stop.signal,
  onJob: (tenant, result) => {
    const print = result.status === 'failed' ? console.error : console.log;
    print(`${tenant}: ${lineOf(result)}`);
  },
});
await planHourly(boss, async () => (await companies()).keys());
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    // What was committed stays; another machine resumes.
    stop.abort();
    await boss.stop({ timeout: 8_000 });
    await pool.end();
  });
}
