import { createClient, sync } from 'accounting-data-sdk';
import { Copy } from './copy.ts';
import type { Env } from './env.ts';

const COLLECTIONS = ['accounts', 'products', 'budgets', 'budgetLines'] as const;

export default {
  /** Brings the copy up to date, or as far as the requests of one run reach. */
  async scheduled(_controller: unknown, env: Env): Promise<void> {
    const copy = new Copy(env.DB);
    await copy.prepare();
    if (!(await copy.take(Date.now()))) {
      console.log('Another run is under way.');
      return;
    }
    try {
      console.log(await bringUpToDate(copy, env));
    } finally {
      await copy.release();
    }
  },

  /** How many records the copy has. */
  async fetch(_request: Request, env: Env): Promise<Response> {
    const copy = new Copy(env.DB);
    await copy.prepare();
    return Response.json(await copy.counts());
  },
};

async function bringUpToDate(copy: Copy, env: Env): Promise<string> {
  const client = createClient({ baseUrl: env.ACCOUNTING_BASE_URL, apiKey: env.ACCOUNTING_API_KEY });
  const { records, paused } = await sync(client, {
    store: { get: copy.get },
    tenant: 'company',
    collections: COLLECTIONS,
    onBatch: (batch) => copy.write(batch),
    stopAfter: { requests: Number(env.MAX_REQUESTS ?? 400) },
  });
  return paused ? `${records} records: the rest in the next run.` : `Up to date: ${records} records.`;
}
