import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setImmediate } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Client, type ClientOptions, createClient, memoryStore, sync } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';

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

const LOOKS = 10;

/** The heap in use after a forced collection, in MB. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // The second one takes what the first has only let go of.
  collect();
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
}

/** How much a heap grows from one look to the next: the slope of a line that is fitted to all of them. */
function slopeOf(heapMb: readonly number[]): number {
  const mean = heapMb.reduce((sum, mb) => sum + mb, 0) / heapMb.length;
  const middle = (heapMb.length - 1) / 2;
  const rise = heapMb.reduce((sum, mb, n) => sum + (n - middle) * (mb - mean), 0);
  return rise / heapMb.reduce((sum, _, n) => sum + (n - middle) ** 2, 0);
}

/** Looks at the heap ten times while so many records are read, or so many calls are made. */
function watchHeap(what: string, count: number, unit: 'record' | 'call' = 'record') {
  const start = heapAfterCollection();
  const seen: number[] = [];
  return {
    at(done: number) {
      if (done >= ((seen.length + 1) * count) / LOOKS) seen.push(heapAfterCollection() - start);
    },
    /** By how many bytes the heap grows with each record or call. */
    growth(): number {
      const bytes = (slopeOf(seen) * 2 ** 20 * LOOKS) / count;
      const looks = seen.map((mb) => mb.toFixed(1)).join(' ');
      console.log(
        `memory: ${what}: ${bytes.toFixed(1)} bytes a ${unit} (heap over the start in MB: ${looks})`,
      );
      return bytes;
    },
  };
}

async function growthOfSync(client: Client, records: number, held?: Set<string>): Promise<number> {
  const heap = watchHeap(held === undefined ? 'sync' : 'sync whose consumer keeps every id', records);
  let synced = 0;
  await sync(client, {
    store: memoryStore(),
    tenant: 'acme',
    collections: ['products'],
    onBatch: (batch) => {
      synced += batch.records.length;
      if (held !== undefined) for (const { id } of batch.records) held.add(id);
      heap.at(synced);
    },
  });
  if (synced !== records) throw new Error(`${synced} of ${records} records`);
  return heap.growth();
}

async function growthOfCopy(client: Client, records: number): Promise<number> {
  const heap = watchHeap('sync into SQLite', records);
  const folder = mkdtempSync(join(tmpdir(), 'memory-'));
  try {
    await sync(client, {
      tenant: 'acme',
      collections: ['products'],
      target: sqliteTarget(join(folder, 'books.sqlite')),
      onProgress: (progress) => heap.at(progress.records),
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
  return heap.growth();
}

/** Creates, updates and deletes products, a hundred at a time, and requests each once more, which gets a 404. */
async function growthOfCalls({ products }: Client, records: number): Promise<number> {
  const { signal } = new AbortController();
  const hundred = () =>
    Promise.all(
      Array.from({ length: 100 }, async () => {
        const { id } = await products.create({ name: 'Desk' }, { signal });
        await products.update(id, { name: 'Table' }, { signal });
        await products.delete(id, { signal });
        await products.find(id, { signal });
      }),
    );
  // Code is compiled and connections are opened once.
  for (let warmUp = 0; warmUp < records / 10; warmUp += 100) await hundred();
  const heap = watchHeap('calls', 4 * records, 'call');
  for (let done = 100; done <= records; done += 100) {
    await hundred();
    // V8 keeps what a WeakRef was asked for until the event loop turns.
    await setImmediate();
    heap.at(4 * done);
  }
  return heap.growth();
}

/** Half of what a set of ids takes for each, and less than the smallest object in an array. */
const MOST_BYTES = 30;

/**
 * Whether the heap stays as it is, however many records are read and calls are made, and whether it is seen to grow if
 * a consumer keeps every id, as a leak would.
 */
export async function soakMemory(records: number): Promise<boolean> {
  // V8 would drop some 5 MB of unused code meanwhile, which hides a leak.
  setFlagsFromString('--no-flush-bytecode');
  await using service = await startService(records);
  const client = createClient(service.options);
  // What is made once, such as schemas, is not growth.
  for await (const { id } of client.products.list()) if (id === '10000') break;
  const growth = [
    await growthOfCalls(client, records / 50),
    await growthOfSync(client, records),
    await growthOfCopy(client, records),
  ];
  const leak = await growthOfSync(client, records, new Set());
  return Math.max(...growth) < MOST_BYTES && leak > MOST_BYTES;
}
