import { spawn } from 'node:child_process';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { killAtRandom } from '../../../support/kill-at-random.ts';
import { ChangingRecords, type Copy } from './changing-records.ts';
import { connect, type Task } from './connector.ts';

/** What is killed, and how its copy is read. */
export type Killed = Pick<Task, 'to' | 'modules'> & { readonly read: () => Promise<Copy> };

export interface KillVerdict {
  readonly kills: number;
  /** Of these kills, how many left something that had begun. */
  readonly begun: number;
  /** What is wrong: after a death, after a sync of what changed, and after a full one, deletions included. */
  readonly findings: readonly string[];
}

const programs = new Map<string, Promise<string>>();

/** A program in one file: a process of it starts much faster than one of its sources. Each worker has its own. */
export function programOf(name: 'connector' | 'pusher'): Promise<string> {
  // Written once: tests that run at the same time start it.
  const program = programs.get(name) ?? bundle(name);
  programs.set(name, program);
  return program;
}

async function bundle(name: string): Promise<string> {
  const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const worker = process.env.VITEST_POOL_ID ?? 'alone';
  const program = pathOf(`../../../../node_modules/.cache/${name}-${worker}.mjs`);
  await build({
    entryPoints: [pathOf(`./${name}.ts`)],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return program;
}

/** Kills syncs at random moments, while a writer changes, deletes and creates records. */
export async function killOften(
  { read, ...killed }: Killed,
  { kills: wanted, seed, records = 300 }: { kills: number; seed: number; records?: number },
): Promise<KillVerdict> {
  const program = await programOf('connector');
  const changing = new ChangingRecords(seed, records);
  const { random } = changing;
  await using sandbox = changing.sandbox;
  await sandbox.listen();
  const task = { ...killed, baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full };
  const runAndKill = (mode: Task['mode'], mostRequests: number) => {
    // Half of the runs pause if they live long enough, and the next one resumes.
    const stopAfter = random.pick([undefined, Math.ceil(records / 10)]);
    const args = [program, JSON.stringify({ ...task, mode, stopAfter })];
    const connector = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
    return killAtRandom(connector, { sandbox, random, mostRequests });
  };

  const findings: string[] = [];
  let kills = 0;
  let begun = 0;
  for (let runs = 0; kills < wanted; runs++) {
    // A few get as far as the deletions at the end.
    const mostRequests = records * random.pick([0.2, 0.2, 0.2, 1.5]);
    const isKilled = await runAndKill(runs % 2 === 0 ? 'full' : 'incremental', mostRequests);
    const copy = await read();
    findings.push(...changing.broken(copy).map((what) => `after run ${runs}: ${what}`));
    if (!isKilled) continue;
    kills += 1;
    if (copy.rows.length > 0) begun += 1;
  }
  changing.rest();
  // The first one finishes what was interrupted, the second one reads what has changed since that began.
  await connect({ ...task, mode: 'incremental' });
  await connect({ ...task, mode: 'incremental' });
  findings.push(...changing.differences(await read()).lost);
  await connect({ ...task, mode: 'full' });
  const copy = await read();
  const { lost, left } = changing.differences(copy);
  findings.push(...lost, ...left, ...changing.broken(copy));
  return { kills, begun, findings };
}

/** Reads a copy in SQLite, of which a death may have left no table. */
export function readSqlite(file: string): Killed['read'] {
  return async () => {
    const database = new DatabaseSync(file);
    try {
      const all = (sql: string) => database.prepare(sql).all() as Record<string, string>[];
      if (all("SELECT 1 FROM sqlite_master WHERE name = 'accounting_checkpoint'").length === 0)
        return { rows: [], checkpoints: {} };
      return copyOf(
        all('SELECT collection, id, body FROM accounting_record'),
        all('SELECT key, value FROM accounting_checkpoint'),
      );
    } finally {
      database.close();
    }
  };
}

/** A copy of these rows; `body` may be JSON or its value. */
export function copyOf(rows: readonly object[], checkpoints: readonly object[]): Copy {
  return {
    rows: (rows as Copy['rows']).map((row) => ({
      ...row,
      body: typeof row.body === 'string' ? (JSON.parse(row.body) as object) : row.body,
    })),
    checkpoints: Object.fromEntries(
      (checkpoints as { key: string; value: string }[]).map(({ key, value }) => [key, value]),
    ),
  };
}
