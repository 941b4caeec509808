// One of the processes that are killed: a machine of the example, with shorter jobs, that reports each job.

import { readFile } from 'node:fs/promises';
import { startQueue, work } from '../../../../examples/pg-boss/src/queue.ts';
import { openPool } from './database.ts';

/** What a worker sends to the program that kills it. Times are in ms, by the clock of this machine. */
export interface Message {
  readonly kind: 'start' | 'end';
  readonly tenant: string;
  readonly at: number;
}

const AT_ONCE = 4;
const [path = '', connectionString = ''] = process.argv.slice(2);
const companies = new Map(Object.entries<object>(JSON.parse(await readFile(path, 'utf8'))));
const connection = openPool(connectionString, AT_ONCE);
const boss = await startQueue({ connectionString, max: 2 });
const stop = new AbortController();
process.once('SIGTERM', async () => {
  stop.abort();
  await boss.stop({ timeout: 8_000 });
  await connection.end();
  process.disconnect?.();
});
const send = (kind: Message['kind'], tenant: string) =>
  process.send?.({ kind, tenant, at: performance.timeOrigin + performance.now() } satisfies Message);
await work(boss, {
  connection,
  companyOf: async (tenant) => {
    send('start', tenant);
    return companies.get(tenant);
  },
  stopAfter: { ms: 10_000 },
  atOnce: AT_ONCE,
  signal: stop.signal,
  onJob: (tenant) => send('end', tenant),
});
