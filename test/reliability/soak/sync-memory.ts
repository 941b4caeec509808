import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type ClientOptions, createClient, memoryStore, reconcile, sync } from 'accounting-data-sdk';
import { heapAfterCollection } from '../../support/heap.ts';

/** The heap at moments of a long run, in MB over that at its beginning. */
interface MemoryVerdict {
  readonly records: number;
  readonly sync: readonly number[];
  readonly reconcile: readonly number[];
}

const path = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Starts the service. Returns how to reach it, and ends it when it is disposed of. */
async function startService(records: number) {
  const args = ['--import', path('../../support/from-source.mjs'), path('./service.ts'), String(records)];
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const end = async () => {
    child.stdin.end();
    await once(child, 'exit');
  };
  return { options: JSON.parse(line) as ClientOptions, [Symbol.asyncDispose]: end };
}

/**
 * Syncs and reconciles a collection of `records` records, and measures the heap several times in each. With `holdsIds`
 * the consumer keeps every id, as a leak would.
 */
async function measureSync(records: number, { holdsIds = false, times = 10 } = {}): Promise<MemoryVerdict> {
  await using service = await startService(records);
  const client = createClient(service.options);
  const held = new Set<string>();
  const looks = () => {
    const start = heapAfterCollection();
    const seen: number[] = [];
    return {
      seen,
      at(done: number) {
        if (done >= ((seen.length + 1) * records) / times) seen.push(heapAfterCollection() - start);
      },
    };
  };
  // What is made once, such as schemas, is not growth.
  await client.products.list().toArray({ limit: 1 });

  const syncing = looks();
  let synced = 0;
  await sync(client, {
    store: memoryStore(),
    tenant: 'acme',
    collections: ['products'],
    onBatch: (batch) => {
      synced += batch.records.length;
      if (holdsIds) for (const { id } of batch.records) held.add(id);
      syncing.at(synced);
    },
  });
  if (synced !== records) throw new Error(`${synced} of ${records} records`);

  const reconciling = looks();
  const report = await reconcile(client.products, {
    *localIds() {
      for (let id = 1; id <= records; id++) yield String(id);
    },
    onDelete: () => undefined,
    onProgress: ({ phase, done }) => {
      if (phase === 'read') reconciling.at(done);
    },
  });
  if (report.candidates !== 0 || report.missing !== 0)
    throw new Error('the local ids are not those of the service');
  return { records, sync: syncing.seen, reconcile: reconciling.seen };
}

/** The most that a sync and a reconcile may hold, in MB. A reconcile holds eight bytes and a bit for each local id. */
const MOST_MB = 20;

function show({ records, sync: syncing, reconcile: reconciling }: MemoryVerdict): number {
  const text = (heap: readonly number[]) => heap.map((mb) => mb.toFixed(1)).join(' ');
  console.log(
    `memory: ${records} records, heap over the start in MB: sync ${text(syncing)}; reconcile ${text(reconciling)}`,
  );
  return Math.max(...syncing, ...reconciling);
}

/** Whether the heap stays within the limit, and whether a consumer that keeps every id is seen to exceed it. */
export async function soakMemory(records: number): Promise<boolean> {
  const most = show(await measureSync(records));
  const mostWithIds = show(await measureSync(records, { holdsIds: true }));
  // A few records hold less than the limit in any case.
  return most <= MOST_MB && (mostWithIds > MOST_MB || records < 1_000_000);
}

if (process.argv[1] === import.meta.filename) {
  if (!(await soakMemory(Number(process.env.RECORDS ?? 1_000_000)))) process.exitCode = 1;
}
