// Four processes sync many companies while they are killed at random: npm start -- --companies 200 --kills 20, with
// DATABASE_URL. At the end every copy is compared with its service.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createClient, verify } from 'accounting-data-sdk';
import { postgresTarget } from 'accounting-data-sdk/targets';
import { plan, SYNC, startQueue } from '../src/queue.ts';
import type { Mode } from '../src/schedule.ts';
import { createDatabase } from '../test/database.ts';
import { Processes } from './processes.ts';
import { Services } from './service.ts';

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '200' },
    kills: { type: 'string', default: '20' },
    processes: { type: 'string', default: '4' },
    /** How long processes are killed and records change. */
    seconds: { type: 'string', default: '60' },
    /** The limit of one job. */
    slice: { type: 'string', default: '10' },
  },
});
const [companies, kills, count, seconds, slice] = [
  values.companies,
  values.kills,
  values.processes,
  values.seconds,
  values.slice,
].map(Number) as [number, number, number, number, number];

const database = await createDatabase();
if (database.url === undefined) {
  console.error('Set DATABASE_URL: several processes need PostgreSQL.');
  process.exit(1);
}
const folder = await mkdtemp(join(tmpdir(), 'kills-'));
const services = await Services.start(companies);
const file = join(folder, 'companies.json');
await writeFile(file, JSON.stringify(services.companies));
const tenants = [...services.sandboxes.keys()];
const boss = await startQueue(database.queue);
const startedAt = performance.now();
const phases: string[] = [];
let phaseAt = startedAt;
const endPhase = (name: string) => {
  phases.push(`${name} ${Math.round((performance.now() - phaseAt) / 1_000)} s`);
  phaseAt = performance.now();
};
const processes = new Processes(count, { args: [file, `${slice * 1_000}`], url: database.url });

const planAll = async (mode: Mode) => {
  await Promise.all(tenants.map((tenant) => plan(boss, { tenant, mode })));
};
const isIdle = async () => {
  const jobs = `SELECT 1 FROM pgboss.job WHERE name = '${SYNC}' AND state IN ('created', 'retry', 'active') LIMIT 1`;
  return (await database.query(jobs)).length === 0;
};

console.log(`${companies} companies, ${count} processes, ${kills} kills in ${seconds} s`);
let isOver = false;
const changes = (async () => {
  while (!isOver) {
    services.change();
    await wait(10);
  }
})();
const plans = (async () => {
  while (!isOver) {
    await planAll('incremental');
    await wait(15_000);
  }
})();
for (let kill = 0; kill < kills; kill += 1) {
  await wait((seconds * 1_000) / kills);
  await processes.kill();
}
isOver = true;
await Promise.all([changes, plans]);
services.endFaults();
endPhase('kills');
while (!(await isIdle())) await wait(200);
endPhase('the jobs that were left');
// Not before: in a round that an incremental sync has begun, a full one looks for no deletions of what was read in it.
await planAll('full');
while (!(await isIdle())) await wait(200);
endPhase('a full read of each company');
const codes = await processes.stop();

const [transactions] = await database.query<{ count: unknown }>(
  'SELECT xact_commit AS count FROM pg_stat_database WHERE datname = current_database()',
);
const [dead] = await database.query<{ count: unknown }>(
  `SELECT count(*) AS count FROM pgboss.job WHERE name = 'sync_failed'`,
);
const wrong: string[] = [];
const queue = services.sandboxes.entries();
const target = postgresTarget(database.connection);
const compare = async () => {
  for (const [tenant, { clientOptions }] of queue) {
    const { equal, collections } = await verify(createClient(clientOptions), { tenant, target });
    if (equal !== false) continue;
    const found = collections.filter(
      ({ missing, different, extra }) => missing.length + different.length + extra.length > 0,
    );
    wrong.push(`${tenant}: ${JSON.stringify(found)}`);
  }
};
const { requests, rateLimited } = services;
await Promise.all([compare(), compare(), compare(), compare()]);
endPhase('verify');
for (const line of wrong) console.log(line);

const statuses = [...processes.statuses].map(([status, number]) => `${number} ${status}`);
console.log(
  `runs: ${processes.runs}: ${statuses.join(', ')}, ${processes.killed} killed; ${processes.overlaps} overlaps`,
);
console.log(`requests: ${requests}, of them ${rateLimited} with 429`);
console.log(
  `queries: ${processes.queries} of the copies, ${(processes.queries / processes.runs).toFixed(1)} a run; ${transactions?.count} transactions with those of the queue`,
);
console.log(`memory of a process: at most ${Math.round(processes.memory / 2 ** 20)} MB`);
console.log(`dead letters: ${dead?.count}; exit codes after SIGTERM: ${codes.join(', ')}`);
console.log(`copies that differ from their service: ${wrong.length} of ${companies}`);
console.log(`${Math.round((performance.now() - startedAt) / 1_000)} s: ${phases.join(', ')}`);

await boss.stop({ graceful: false });
await database.close();
await services.close();
await rm(folder, { recursive: true });
const isRight = wrong.length === 0 && processes.overlaps === 0 && codes.every((code) => code === 0);
process.exitCode = isRight ? 0 : 1;
