// A machine in a process of its own, with PGlite: like src/main.ts, with one job for the first company of its file.

import { readFile } from 'node:fs/promises';
import { type Company, plan, startQueue, work } from '../src/queue.ts';
import { stopOnSignals } from '../src/stop.ts';
import { createDatabase } from './database.ts';

type Listed = Company & { readonly tenant: string };

const [{ tenant, ...company }] = JSON.parse(await readFile(process.argv[2] ?? '', 'utf8')) as [Listed];
const database = await createDatabase();
const boss = await startQueue(database.queue);
await work(boss, {
  connection: database.connection,
  companyOf: () => company,
  stopAfter: { ms: 60_000 },
  atOnce: 1,
  signal: stopOnSignals(boss, () => database.close()),
  onJob: (_, { status }) => console.log(`${tenant}: ${status}, queued again`),
});
await plan(boss, { tenant, mode: 'incremental' });
