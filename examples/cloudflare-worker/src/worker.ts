import { createClient, sync } from 'accounting-data-sdk';
import { Copy } from './copy.ts';
import type { Env } from './env.ts';

const COLLECTIONS = ['accounts', 'products', 'budgets', 'budgetLines'] as const;

/** Why a run ends before everything is read. The next run continues after the last committed page. */
const ENOUGH = new Error('as many requests as a run may send');

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
  const limit = Number(env.MAX_REQUESTS ?? 400);
  const stop = new AbortController();
  let sent = 0;
  const client = createClient({
    baseUrl: env.ACCOUNTING_BASE_URL,
    apiKey: env.ACCOUNTING_API_KEY,
    // A page that was read is still committed: the signal ends the run before the next request.
    on: {
      request: () => {
        sent += 1;
        if (sent > limit) stop.abort(ENOUGH);
      },
    },
  });
  try {
    const { records } = await sync(client, {
      store: { get: copy.get },
      tenant: 'company',
      collections: COLLECTIONS,
      onBatch: (batch) => copy.write(batch),
      signal: stop.signal,
      concurrency: 1,
    });
    return `Up to date: ${records} records.`;
  } catch (error) {
    if (error === ENOUGH) return `${sent - 1} requests: the rest in the next run.`;
    throw error;
  }
}
