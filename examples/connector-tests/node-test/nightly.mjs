// A nightly job: ACCOUNTING_API_KEY=… node nightly.mjs <base URL> <file of SQLite>.
import { createClient, sync } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';

const [baseUrl, file] = process.argv.slice(2);
await sync(createClient({ baseUrl, afterLastPage: 'not_found' }), {
  tenant: 'acme',
  collections: ['accounts', 'products'],
  mode: 'full',
  target: sqliteTarget(file),
});
