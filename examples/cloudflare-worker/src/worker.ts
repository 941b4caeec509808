import { createClient, sync } from 'accounting-data-sdk';
import { createTables, d1Target } from './d1-target.ts';
import type { Env } from './env.ts';

export default {
  /** Brings the copy up to date, or as far as the requests of one run reach. */
  async scheduled(_controller: unknown, env: Env): Promise<void> {
    const client = createClient({ baseUrl: env.ACCOUNTING_BASE_URL, apiKey: env.ACCOUNTING_API_KEY });
    const { records, paused } = await sync(client, {
      tenant: 'company',
      target: d1Target(env.DB),
      collections: ['accounts', 'products', 'budgets', 'budgetLines'],
      stopAfter: { requests: Number(env.MAX_REQUESTS ?? 400) },
    });
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
