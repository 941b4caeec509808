// With DATABASE_URL: one machine of many, which works until it is stopped. Without: a demonstration in this process.

import { readFile } from 'node:fs/promises';
import { createClient } from 'accounting-data-sdk';
import { openDatabase } from './database.ts';
import { demo } from './demo.ts';
import { SyncQueue } from './queue.ts';

/** A company, as the file of companies names it. */
interface Company {
  /** A label: never the key. */
  readonly tenant: string;
  readonly baseUrl: string;
  readonly apiKey: string;
}

async function serve(url: string, file: string): Promise<void> {
  const companies = new Map(
    (JSON.parse(await readFile(file, 'utf8')) as Company[]).map((company) => [company.tenant, company]),
  );
  const database = await openDatabase(url);
  const queue = await SyncQueue.start({
    database,
    tenants: () => [...companies.keys()],
    clientOf: (tenant) => {
      const company = companies.get(tenant);
      if (company === undefined) throw new Error(`There is no company ${tenant} in ${file}.`);
      return createClient({ baseUrl: company.baseUrl, apiKey: company.apiKey });
    },
    heartbeatSeconds: Number(process.env.HEARTBEAT_SECONDS ?? 30),
    onJob: (event, { tenant, collection }, result) =>
      console.log([event, tenant, collection, result?.problem ?? result?.records].join(' ').trim()),
  });
  await queue.planEvery(process.env.PLAN ?? '*/15 * * * *');
  await queue.work(Number(process.env.AT_ONCE ?? 4));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, async () => {
      await queue.stop();
      await database.close();
    });
  }
}

const { DATABASE_URL } = process.env;
const [, , file = 'companies.json'] = process.argv;
if (DATABASE_URL === undefined) await demo();
else await serve(DATABASE_URL, file);
