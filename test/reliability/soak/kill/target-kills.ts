import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { collectionNames } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { build } from 'esbuild';
import { killAtRandom } from '../../../support/kill-at-random.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

/** A record of a copy. */
export interface CopiedRecord {
  readonly collection: string;
  readonly id: string;
  readonly body: object;
}

export interface KilledTarget {
  /** A file of SQLite, or the address of PostgreSQL. */
  readonly to: string;
  /** A file beside the node_modules that have `pg`. */
  readonly modules?: string;
  /** Every record of the copy. */
  read(): Promise<readonly CopiedRecord[]>;
}

export interface TargetVerdict {
  readonly kills: number;
  /** Of these kills, how many found a copy that had begun. */
  readonly begun: number;
  /** What the copy lacks, or has in another form, after a sync of what changed. */
  readonly lost: readonly string[];
  /** How it differs from the service after a full sync, deletions included. */
  readonly differences: readonly string[];
}

/** The connector in one file: a process of it starts much faster than one of its sources. Each worker has its own. */
const program = fileURLToPath(
  new URL(
    `../../../../node_modules/.cache/target-connector-${process.env.VITEST_POOL_ID ?? 'alone'}.mjs`,
    import.meta.url,
  ),
);

/** Kills syncs into a target at random moments, while a writer changes, deletes and creates records. */
export async function killTarget(
  { to, modules = '', read }: KilledTarget,
  { kills, seed, records = 2_000 }: { kills: number; seed: number; records?: number },
): Promise<TargetVerdict> {
  const random = new SeededRandom(seed);
  await build({
    entryPoints: [fileURLToPath(new URL('./target-connector.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  await using sandbox = createSandbox({ records, seed, pageSize: 20, ids: { gap: 2 }, logLimit: 10 });
  await sandbox.listen();
  const { baseUrl, apiKey } = sandbox.clientOptions;
  const start = (mode: string) =>
    spawn(process.execPath, [program, baseUrl, String(apiKey), to, mode, modules], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const toItsEnd = (mode: string) =>
    killAtRandom(start(mode), { sandbox, random, mostRequests: Number.MAX_SAFE_INTEGER });

  const stopWriting = sandbox.onRequest(() => write(sandbox, random));
  let killed = 0;
  let begun = 0;
  for (let run = 0; killed < kills; run++) {
    const mode = run % 2 === 0 ? 'full' : 'incremental';
    // A few get as far as the deletions at the end.
    const mostRequests = random.pick([60, 60, 60, 400]);
    if (!(await killAtRandom(start(mode), { sandbox, random, mostRequests }))) continue;
    killed += 1;
    if ((await read().catch(() => [])).length > 0) begun += 1;
  }
  stopWriting();
  // The first one finishes what was interrupted, the second one reads what has changed since that began.
  await toItsEnd('incremental');
  await toItsEnd('incremental');
  const lost = compare(sandbox, await read()).filter((line) => !line.startsWith('deleted'));
  await toItsEnd('full');
  // A full run that resumes an interrupted one looks for no deletions: the next one does.
  await toItsEnd('full');
  return { kills: killed, begun, lost, differences: compare(sandbox, await read()) };
}

function write(sandbox: Sandbox, random: SeededRandom): void {
  const { accounts, products, budgetLines } = sandbox.store;
  const store = random.pick([accounts, products, budgetLines]);
  const ids = store.ids();
  const what = random.int(0, 5);
  if (what === 0) store.insert({ name: `New ${random.int(0, 1e6)}` });
  else if (what === 1 && ids.length > 20) store.delete(random.pick(ids));
  else if (what < 4) store.update(random.pick(ids), { name: `Changed ${random.int(0, 1e6)}` });
}

function compare({ store }: Sandbox, copied: readonly CopiedRecord[]): readonly string[] {
  const copy = new Map(copied.map(({ collection, id, body }) => [`${collection} ${id}`, textOf(body)]));
  const differences: string[] = [];
  for (const collection of collectionNames) {
    for (const record of store[collection].all()) {
      const key = `${collection} ${record.id}`;
      if (!copy.has(key)) differences.push(`missing: ${key}`);
      else if (copy.get(key) !== textOf(record)) differences.push(`stale: ${key}`);
      copy.delete(key);
    }
  }
  return [...differences, ...[...copy.keys()].map((key) => `deleted upstream: ${key}`)];
}

/** jsonb sorts the names of an object. */
function textOf(record: object): string {
  return JSON.stringify(Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))));
}
