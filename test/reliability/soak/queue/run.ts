// Four processes of the example pg-boss sync 200 companies while one is killed every few seconds. Then every copy is
// compared with its service.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createClient, verify } from 'accounting-data-sdk';
import { postgresTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { plan, SYNC, startQueue } from '../../../../examples/pg-boss/src/queue.ts';
import { createDatabase } from './database.ts';
import type { Message } from './worker.ts';

const { DATABASE_URL, COMPANIES = '200', SOAK_KILLS = '20' } = process.env;
const PROCESSES = 4;
const LARGE = 5;
const KILL_EVERY_MS = 3_000;

if (DATABASE_URL === undefined) {
  console.error('The queue needs PostgreSQL: set DATABASE_URL.');
  process.exit(1);
}

/** Services with quotas and with 2 % of faults. */
const services = new Map<string, Sandbox>();
for (let index = 0; index < Number(COMPANIES); index += 1) {
  const sandbox = createSandbox({
    seed: index,
    records:
      index < LARGE ? { accounts: 1_500, products: 900, budgets: 300 } : { accounts: 30, products: 12 },
    rateLimit: { limit: 60, windowMs: 3_000 },
  });
  sandbox.faults.add({ kind: 'status', status: 503 }, { probability: 0.01 });
  sandbox.faults.add({ kind: 'disconnect', reset: true, committed: false }, { probability: 0.01 });
  await sandbox.listen();
  services.set(`company-${index}`, sandbox);
}

const pick = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)];

/** Changes, deletes or creates a record of some company. */
function change(): void {
  const store = pick([...services.values()])?.store;
  const collection = Math.random() < 0.5 ? store?.accounts : store?.products;
  const id = pick(collection?.ids() ?? []);
  const dice = Math.random();
  if (id === undefined || dice < 0.15) collection?.insert({ name: `New ${dice}` });
  else if (dice < 0.25) collection?.delete(id);
  else collection?.update(id, { name: `Changed ${dice}` });
}

const database = await createDatabase(DATABASE_URL);
const boss = await startQueue({ connectionString: database.url, max: 2 });
const folder = await mkdtemp(join(tmpdir(), 'queue-'));
const file = join(folder, 'companies.json');
const companies = [...services].map(([tenant, { clientOptions }]) => [tenant, clientOptions]);
await writeFile(file, JSON.stringify(Object.fromEntries(companies)));

interface Run {
  readonly tenant: string;
  readonly start: number;
  end: number;
}
const runs: Run[] = [];
const workers = new Map<ChildProcess, Map<string, Run>>();
let killed = 0;

function startWorker(): void {
  const child = fork(join(import.meta.dirname, 'worker.ts'), [file, database.url]);
  const running = new Map<string, Run>();
  workers.set(child, running);
  child.on('message', ({ kind, tenant, at }: Message) => {
    const before = running.get(tenant);
    if (before !== undefined) before.end = at;
    running.delete(tenant);
    if (kind === 'end') return;
    const run = { tenant, start: at, end: Number.POSITIVE_INFINITY };
    runs.push(run);
    running.set(tenant, run);
  });
}

/** Kills a process with SIGKILL, and starts another. */
async function kill(): Promise<void> {
  const [child, running] = pick([...workers]) as [ChildProcess, Map<string, Run>];
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
  for (const run of running.values()) run.end = performance.timeOrigin + performance.now();
  killed += running.size;
  workers.delete(child);
  startWorker();
}

/** Runs of one company that another process began before they had ended. */
function overlaps(): number {
  const ends = new Map<string, number>();
  return runs
    .toSorted((a, b) => a.start - b.start)
    .filter(({ tenant, start, end }) => {
      const before = ends.get(tenant) ?? 0;
      ends.set(tenant, Math.max(before, end));
      return start < before;
    }).length;
}

const planAll = (mode: 'incremental' | 'full') =>
  plan(
    boss,
    [...services.keys()].map((tenant) => ({ tenant, mode })),
  );
const untilIdle = async () => {
  const jobs = `SELECT 1 FROM pgboss.job WHERE name = '${SYNC}' AND state IN ('created', 'retry', 'active') LIMIT 1`;
  while ((await database.rows(jobs)).length > 0) await wait(200);
};

for (let count = 0; count < PROCESSES; count += 1) startWorker();
const timers = [setInterval(change, 10), setInterval(() => void planAll('incremental'), 15_000)];
await planAll('incremental');
for (let count = 0; count < Number(SOAK_KILLS); count += 1) {
  await wait(KILL_EVERY_MS);
  await kill();
}
for (const timer of timers) clearInterval(timer);
for (const { faults } of services.values()) faults.clear();
await untilIdle();
// Not before: in a round that an incremental sync has begun, a full one looks for no deletions of what was read in it.
await planAll('full');
await untilIdle();
const codes = await Promise.all(
  [...workers.keys()].map(async (child) => {
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    return (await exited)[0];
  }),
);

let wrong = 0;
const target = postgresTarget(database.connection);
for (const [tenant, { clientOptions }] of services) {
  const { equal, collections } = await verify(createClient(clientOptions), { tenant, target });
  if (equal !== false) continue;
  wrong += 1;
  const found = collections.filter(
    ({ missing, different, extra }) => missing.length + different.length + extra.length > 0,
  );
  console.log(`${tenant}: ${JSON.stringify(found)}`);
}
console.log(
  `runs: ${runs.length}, ${killed} of them killed, ${overlaps()} overlaps; exit codes: ${codes.join(', ')}`,
);
console.log(`copies that differ from their service: ${wrong} of ${services.size}`);

await boss.stop({ graceful: false });
await database.drop();
for (const sandbox of services.values()) await sandbox.close();
await rm(folder, { recursive: true });
process.exitCode = wrong === 0 && overlaps() === 0 && codes.every((code) => code === 0) ? 0 : 1;
