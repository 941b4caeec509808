const { createClient } = require('accounting-data-sdk');
const { connectorTests } = require('accounting-data-sdk/testing');
const { pullAccounts } = require('./pull-accounts.cjs');

let copy = new Map();
const cases = connectorTests({
  collections: ['accounts'],
  run: async ({ baseUrl, apiKey, signal }) => {
    const client = createClient({ baseUrl, apiKey, afterLastPage: 'not_found' });
    ({ accounts: copy } = await pullAccounts(client, { signal }));
  },
  records: () => [...copy.values()],
  reset: () => {
    copy = new Map();
  },
  // It believes a list that lacks records, and replaces the copy: a sync would not.
  expected: { 'records that are not listed': 'the next pull brings the accounts back' },
});
for (const { name, run } of cases) test(name, run, 300_000);
