import { DatabaseSync } from 'node:sqlite';
import { connectorTests } from 'accounting-data-sdk/testing';
import { test } from 'vitest';
import { collections, nightly } from './nightly.ts';

let database = new DatabaseSync(':memory:');
const cases = connectorTests({
  collections,
  run: ({ baseUrl, apiKey, signal }) =>
    // In one case the service responds with 404 after the last page.
    nightly({ baseUrl, apiKey, afterLastPage: 'not_found' }, { database, signal }),
  records: (collection) =>
    database
      .prepare('SELECT body FROM accounting_record WHERE collection = ?')
      .all(collection)
      .map(({ body }) => JSON.parse(String(body))),
  reset: () => {
    database = new DatabaseSync(':memory:');
  },
});
for (const { name, run } of cases) test(name, run, 300_000);
