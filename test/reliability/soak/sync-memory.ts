import { createClient, memoryStore, reconcile, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { heapAfterCollection } from '../../support/heap.ts';

/** The heap at moments of a long run, in MB over that at its beginning. */
export interface MemoryVerdict {
  readonly records: number;
  readonly sync: readonly number[];
  readonly reconcile: readonly number[];
}

/** Syncs and reconciles a collection of `records` records, and measures the heap several times in each. */
export async function measureSync(records: number, times = 10): Promise<MemoryVerdict> {
  const sandbox = createSandbox({
    records: { products: records },
    pageSize: 200,
    logLimit: 0,
    rateLimit: false,
  });
  const client = createClient({
    ...sandbox.clientOptions,
    fetch: async (...request) => {
      // HTTP yields to the event loop, which lets finalizers run.
      await new Promise((resolve) => setImmediate(resolve));
      return sandbox.fetch(...request);
    },
  });
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

/** Says what was measured; whether it stays within 20 MB. A reconcile holds eight bytes and a bit for each local id. */
export function judgeMemory({ records, sync: syncing, reconcile: reconciling }: MemoryVerdict): boolean {
  const show = (heap: readonly number[]) => heap.map((mb) => mb.toFixed(1)).join(' ');
  console.log(
    `memory: ${records} records, heap over the start in MB: sync ${show(syncing)}; reconcile ${show(reconciling)}`,
  );
  return Math.max(...syncing, ...reconciling) <= 20;
}

if (process.argv[1] === import.meta.filename) {
  if (!judgeMemory(await measureSync(Number(process.env.RECORDS ?? 1_000_000)))) process.exitCode = 1;
}
