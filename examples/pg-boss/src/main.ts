// One machine of many: npm run work -- companies.json, with DATABASE_URL.

import { readFile } from 'node:fs/promises';
import { createClient } from 'accounting-data-sdk';
import pg from 'pg';
import { plan, startQueue, work } from './queue.ts';

/** A company, as the file names it. `tenant` is a label: never the key. */
type Company = Record<'tenant' | 'baseUrl' | 'apiKey', string>;

const { DATABASE_URL: connectionString = '' } = process.env;
const companies = JSON.parse(await readFile(process.argv[2] ?? 'companies.json', 'utf8')) as Company[];
const pool = new pg.Pool({ connectionString });
// A connection that breaks while idle is replaced by the next query.
pool.on('error', (error) => console.error(error.message));
const boss = await startQueue({ connectionString });
await work(boss, {
  connection: pool,
  clientOf: (tenant) => {
    const company = companies.find((each) => each.tenant === tenant);
    if (company === undefined) throw new Error(`There is no company ${tenant}.`);
    return createClient({ baseUrl: company.baseUrl, apiKey: company.apiKey });
  },
  stopAfter: { ms: 60_000 },
  atOnce: 4,
  onJob: (tenant, { records, paused, problem }) =>
    console.log(`${tenant}: ${problem ?? `${records} records${paused ? ', to be resumed' : ''}`}`),
});
const planAll = async () => {
  for (const { tenant } of companies) await plan(boss, tenant);
};
await planAll();
const timer = setInterval(() => planAll().catch(console.error), 15 * 60_000);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    clearInterval(timer);
    // What was committed stays; another machine resumes.
    await boss.stop({ graceful: false });
    await pool.end();
  });
}
