/** Syncs many companies, four at a time. A company that fails does not stop the others. */
import { readFileSync } from 'node:fs';
import { createClient, isAccountingError, memoryStore, sync } from 'accounting-data-sdk';

interface Company {
  readonly tenant: string; // a label that you choose, never the API key
  readonly apiKey: string;
  readonly baseUrl?: string;
}

const file = process.argv[2];
const companies: Company[] = file
  ? JSON.parse(readFileSync(file, 'utf8'))
  : [
      { tenant: 'acme', apiKey: process.env.ACCOUNTING_API_KEY ?? '' },
      { tenant: 'bolt', apiKey: 'a-revoked-key' },
    ];
const store = memoryStore(); // use fileStore(folder) of accounting-data-sdk/node, Redis or a table

async function syncCompany({ tenant, apiKey, ...address }: Company): Promise<string> {
  try {
    // Named, so that a company without a key is an error: without the property, ACCOUNTING_API_KEY would be read.
    const client = createClient({ apiKey, ...address });
    const report = await sync(client, { store, tenant, onBatch: () => undefined }); // upsert here
    return `${tenant}: ${report.records} records`;
  } catch (error) {
    if (!isAccountingError(error)) throw error;
    return `${tenant}: ${error.code}${error.retryable ? ', try again later' : ''}: ${error.message}`;
  }
}

const queue = companies.values();
async function worker(): Promise<void> {
  for (const company of queue) console.log(await syncCompany(company));
}
await Promise.all([worker(), worker(), worker(), worker()]);
