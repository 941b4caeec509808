// One machine of many: npm start -- companies.json, with DATABASE_URL.

import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { planHourly, startQueue, work } from './queue.ts';

/** A company, as the file names it. `tenant` is a label: never the key. */
type Listed = Record<'tenant' | 'baseUrl' | 'apiKey', string>;

const AT_ONCE = 4;
const { DATABASE_URL: connectionString = '' } = process.env;
const [file = 'companies.json'] = process.argv.slice(2);
if (connectionString === '') throw new Error('The queue needs PostgreSQL: set DATABASE_URL.');

async function companies(): Promise<Map<string, Omit<Listed, 'tenant'>>> {
  const list = JSON.parse(await readFile(file, 'utf8')) as Listed[];
  return new Map(list.map(({ tenant, ...company }) => [tenant, company]));
}

// A sync sends one statement at a time: a machine holds at most six connections.
const pool = new pg.Pool({ connectionString, max: AT_ONCE });
// A connection that breaks while idle is replaced by the next query.
pool.on('error', (error) => console.error(error.message));
const boss = await startQueue({ connectionString, max: 2 });
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, async () => {
    // A process manager kills after ten seconds or more, and a database that does not respond must not delay the end.
    setTimeout(() => process.exit(1), 9_500).unref();
    stop.abort();
    await boss.stop({ timeout: 8_000 });
    await pool.end();
  });
}
await work(boss, {
  connection: pool,
  companyOf: async (tenant) => (await companies()).get(tenant),
  stopAfter: { ms: 60_000 },
  atOnce: AT_ONCE,
  signal: stop.signal,
  onJob: (tenant, result) => console.log(tenant, result),
});
await planHourly(boss, async () => (await companies()).keys());
