// One of the processes that are killed: like src/main.ts, with shorter jobs, and reports what it does.

import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { type Company, startQueue, work } from '../src/queue.ts';
import { stopOnSignals } from '../src/stop.ts';
import type { Message } from './messages.ts';

const AT_ONCE = 4;
const [path = '', slice = '10000'] = process.argv.slice(2);
const { DATABASE_URL: connectionString = '' } = process.env;
const companies = new Map(
  Object.entries(JSON.parse(await readFile(path, 'utf8')) as Record<string, Company>),
);

let queries = 0;
const pool = new pg.Pool({ connectionString, max: AT_ONCE });
const send = (message: Message) => process.send?.(message);
const now = () => performance.timeOrigin + performance.now();
const boss = await startQueue({ connectionString, max: 2 });
await work(boss, {
  connection: {
    query: (text, values) => {
      queries += 1;
      return pool.query(text, values);
    },
  },
  companyOf: (tenant) => {
    send({ kind: 'start', tenant, at: now() });
    return companies.get(tenant);
  },
  stopAfter: { ms: Number(slice) },
  atOnce: AT_ONCE,
  signal: stopOnSignals(boss, async () => {
    await pool.end();
    process.disconnect?.();
  }),
  onJob: (tenant, result) => {
    send({
      kind: 'end',
      tenant,
      at: now(),
      status: result.status,
      queries,
      memory: process.memoryUsage.rss(),
    });
    queries = 0;
    if (result.status === 'failed') console.error(`${tenant}: ${result.message}`);
  },
});
