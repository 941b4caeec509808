import { randomUUID } from 'node:crypto';
import { type Batch, type Client, sync } from 'accounting-data-sdk';
import type { Redis } from 'ioredis';

/** The collections that are copied. */
export const COLLECTIONS = ['accounts', 'products', 'budgets', 'budgetLines'] as const;

/**
 * Rows and checkpoint, written at once, and only while the tenant is held by this run: a worker that was taken for
 * dead and was not finds another's name there.
 */
const WRITE = `
  if redis.call('get', KEYS[1]) ~= ARGV[1] then return 0 end
  for i = 3, #ARGV, 2 do redis.call('hset', KEYS[2], ARGV[i], ARGV[i + 1]) end
  redis.call('set', KEYS[3], ARGV[2])
  return 1`;

/** The hash that holds a collection: records as JSON, by id. */
export function rowsKey(tenant: string, collection: string): string {
  return `copy:${tenant}:${collection}`;
}

/** Brings the copy of a company up to date. Resolves to the number of records that came. */
export async function copyCompany(
  redis: Redis,
  client: Client,
  { tenant, signal }: { readonly tenant: string; readonly signal?: AbortSignal },
): Promise<number> {
  const run = randomUUID();
  const holder = `holder:${tenant}`;
  await redis.set(holder, run);

  const write = async ({ collection, records, key, checkpoint }: Batch<{ id: string }>) => {
    const rows = records.flatMap((record) => [record.id, JSON.stringify(record)]);
    const keys = [holder, rowsKey(tenant, collection), key];
    const written = await redis.eval(WRITE, keys.length, ...keys, run, checkpoint, ...rows);
    if (written !== 1) throw new Error(`Another run of ${tenant} has begun.`);
  };
  const { records } = await sync(client, {
    // It only reads: the checkpoint is written together with the rows.
    store: { get: (key) => redis.get(key) },
    tenant,
    collections: COLLECTIONS,
    onBatch: write,
    // The result of the job names what the key may not read.
    onForbidden: 'fail',
    signal,
  });
  return records;
}
