// With REDIS_URL: one machine of many, which works until it is told to stop. Without: a show in this process.

import { readFile } from 'node:fs/promises';
import { createClient } from 'accounting-data-sdk';
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
  const queue = new SyncQueue({
    url,
    tenants: () => [...companies.keys()],
    clientOf: (tenant) => {
      const company = companies.get(tenant);
      if (company === undefined) throw new Error(`There is no company ${tenant} in ${file}.`);
      return createClient({ baseUrl: company.baseUrl, apiKey: company.apiKey });
    },
    lockMs: Number(process.env.LOCK_MS ?? 30_000),
    onJob: (event, tenant, result) =>
      console.log([event, tenant, result?.records, ...(result?.problems ?? [])].join(' ').trim()),
  });
  await queue.planEvery(process.env.PLAN ?? '*/15 * * * *');
  queue.work(Number(process.env.AT_ONCE ?? 4));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => queue.stop());
}

const { REDIS_URL } = process.env;
const [, , file = 'companies.json'] = process.argv;
if (REDIS_URL === undefined) await demo();
else await serve(REDIS_URL, file);
