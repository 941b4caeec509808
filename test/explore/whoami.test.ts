import { collectionNames, createClient } from 'accounting-data-sdk';
import { whoami } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

test('whoami requests each collection once and reports which the key may read', async () => {
  const sandbox = createSandbox({ records: 200, rateLimit: { limit: 100 } });
  const apiKey = sandbox.keys.productsOnly;
  const client = createClient({ ...sandbox.clientOptions, apiKey });
  const progress: unknown[] = [];
  const report = await whoami(client, { onProgress: (one) => void progress.push(one) });
  expect(report).toMatchObject({
    baseUrl: client.accounts.baseUrl,
    collections: collectionNames.map((collection) => ({
      collection,
      access: collection === 'products' ? 'readable' : 'scope_required',
    })),
    quota: { limit: 100, remaining: 100 - collectionNames.length },
  });
  expect(sandbox.count()).toBe(collectionNames.length);
  expect(progress.slice(0, 2)).toEqual([
    { requests: 0, collection: 'accounts', done: 0, of: collectionNames.length },
    { requests: 1, collection: 'accountAddresses', done: 1, of: collectionNames.length },
  ]);
});
