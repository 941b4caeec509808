// A nightly job: node nightly.mjs <base URL> <API key> <file of SQLite>.
import { createClient, sync } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';

const [baseUrl, apiKey, file] = process.argv.slice(2);
await sync(createClient({ baseUrl, apiKey, afterLastPage: 'not_found' }), {
  tenant: 'acme',
  collections: ['accounts', 'products'],
  mode: 'full',
  target: sqliteTarget(file),
});
