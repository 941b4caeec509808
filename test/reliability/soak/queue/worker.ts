// One of the processes that are killed: a machine of the example, with shorter jobs, that reports each job.

import { readFile } from 'node:fs/promises';
import type { PostgresConnection } from 'accounting-data-sdk/targets';
import { startQueue, work } from '../../../../examples/pg-boss/src/queue.ts';
import { openPool } from './database.ts';

/** What a worker sends to the program that kills it. Times are in ms, by the clock of this machine. */
export type Message =
  | { readonly kind: 'start'; readonly tenant: string; readonly at: number }
  | {
      readonly kind: 'end';
      readonly tenant: string;
      readonly at: number;
      readonly status: string;
      /** Sent by the copies since the last message. */
      readonly queries: number;
      /** Memory of this process, in bytes. */
      readonly memory: number;
    };

const AT_ONCE = 4;
const [path = '', connectionString = ''] = process.argv.slice(2);
const companies = new Map(Object.entries<object>(JSON.parse(await readFile(path, 'utf8'))));
let queries = 0;
const pool = openPool(connectionString, AT_ONCE);
const connection: PostgresConnection = {
  query: (text, values) => {
    queries += 1;
    return pool.query(text, values);
  },
};
const send = (message: Message) => process.send?.(message);
const now = () => performance.timeOrigin + performance.now();
const boss = await startQueue({ connectionString, max: 2 });
const stop = new AbortController();
process.once('SIGTERM', async () => {
  stop.abort();
  await boss.stop({ timeout: 8_000 });
  await pool.end();
  process.disconnect?.();
});
await work(boss, {
  connection,
  companyOf: async (tenant) => {
    send({ kind: 'start', tenant, at: now() });
    return companies.get(tenant);
  },
  stopAfter: { ms: 10_000 },
  atOnce: AT_ONCE,
  signal: stop.signal,
  onJob: (tenant, { status }) => {
    send({ kind: 'end', tenant, at: now(), status, queries, memory: process.memoryUsage.rss() });
    queries = 0;
  },
});
