import { createClient, sync } from 'accounting-data-sdk';
import { createTables, d1Target, pausedUntil, setPause } from './d1-target.ts';
import type { Env } from './env.ts';

const TENANT = 'company';

export default {
  /** Brings the copy up to date, or as far as the requests of one run reach. */
  async scheduled(_controller: unknown, env: Env): Promise<void> {
    await createTables(env.DB);
    const until = await pausedUntil(env.DB, TENANT);
    if (Date.now() < until) {
      console.log(`The service asked for a pause until ${new Date(until).toISOString()}.`);
      return;
    }
    const client = createClient({
      baseUrl: env.ACCOUNTING_BASE_URL,
      apiKey: env.ACCOUNTING_API_KEY,
      // The copy is JSON: it can hold a record whose fields are of another type than documented.
      validation: 'off',
    });
    const { records, paused, resumeAfterMs } = await sync(client, {
      tenant: TENANT,
      target: d1Target(env.DB),
      collections: ['accounts', 'products', 'budgets', 'budgetLines'],
      stopAfter: { requests: Number(env.MAX_REQUESTS ?? 400), ms: Number(env.MAX_MS ?? 600_000) },
    });
    if (resumeAfterMs > 0) await setPause(env.DB, TENANT, Date.now() + resumeAfterMs);
    console.log(`${records} records: ${paused ? 'the rest in the next run' : 'up to date'}.`);
  },

  /** How many records of each collection the copy has. */
  async fetch(_request: Request, { DB }: Env): Promise<Response> {
    await createTables(DB);
    const { results } = await DB.prepare(
      'select collection, count(*) as count from record group by collection order by collection',
    ).all<{ collection: string; count: number }>();
    return Response.json(Object.fromEntries(results.map(({ collection, count }) => [collection, count])));
  },
};
