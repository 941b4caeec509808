import { DatabaseSync } from 'node:sqlite';
import { type Client, push, sync, verify } from 'accounting-data-sdk';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { expect, test } from 'vitest';
import { settle } from '../../support/scripted-server.ts';
import { clientOf, HOUR_MS, syncAll, withAccounts } from './set-up.ts';

/** 200 accounts in pages of 10, a quota that has so many requests left, and how many a run has in flight at most. */
function accounts(remaining = 1_000, pagination?: 'page') {
  const books = withAccounts(200);
  let [inFlight, most] = [0, 0];
  const client = clientOf(books.sandbox, {
    rateLimiter: false,
    pagination,
    fetch: async (url, init) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await settle(3);
      inFlight -= 1;
      const response = await books.sandbox.fetch(url, init);
      response.headers.set('x-ratelimit-limit', '1000');
      response.headers.set('x-ratelimit-remaining', String(remaining));
      return response;
    },
  });
  /** How many requests are in flight at most while `read` runs. */
  const mostOf = async (read: (client: Client) => Promise<unknown>) => {
    most = 0;
    await read(client);
    return most;
  };
  /** The same for a sync, and how many records it delivers. */
  const run = async (options: Parameters<typeof syncAll>[1] = {}) => {
    let records = 0;
    const work = async (client: Client) => {
      ({ records } = await syncAll({ ...books, client }, { collections: ['accounts'], ...options }));
    };
    return { most: await mostOf(work), records };
  };
  return { ...books, run, mostOf };
}

test('a run that reads everything requests four pages ahead: not by page, with a small quota left, or of changes', async () => {
  const { sandbox, run } = accounts();
  expect(await run()).toEqual({ most: 4, records: 200 });
  sandbox.clock.advance(HOUR_MS);
  for (const id of sandbox.store.accounts.ids()) sandbox.store.accounts.update(id, { name: 'changed' });
  expect(await run()).toEqual({ most: 1, records: 200 });
  expect(await run({ mode: 'full' })).toEqual({ most: 4, records: 200 });
  expect(await accounts(1_000, 'page').run()).toEqual({ most: 1, records: 200 });
  expect(await accounts(7).run()).toEqual({ most: 1, records: 200 });
});

test('a verification and the list of a push request four pages ahead, too', async () => {
  const { mostOf, sandbox } = accounts();
  const database = new DatabaseSync(':memory:');
  const copy = { tenant: 'acme', target: sqliteTarget(database), collections: ['accounts'] } as const;
  await mostOf((client) => sync(client, copy));
  expect(await mostOf((client) => verify(client, copy))).toBe(4);
  database.close();
  for (let n = 0; n < 200; n++) sandbox.store.products.insert({ productNumber: `P-${n}`, name: 'Desk' });
  const options = { tenant: 'acme', store: new Map(), rows: [], key: 'productNumber' } as const;
  expect(await mostOf((client) => push(client.products, options))).toBe(4);
});
