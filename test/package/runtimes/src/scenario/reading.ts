import { createClient } from 'accounting-data-sdk';
import { Books } from './books.ts';
import { check, equal } from './expect.ts';

/** Reads a collection by pages and by intervals, and finds in both what is there. */
export async function walk(orders: string): Promise<string> {
  const books = await Books.open(orders, { records: { accounts: 100, products: 40 } });
  const { accounts, products } = createClient(books.clientOptions);
  const there = await books.look();

  const ids: string[] = [];
  for await (const { id } of accounts.list()) ids.push(id);
  equal(ids, there.accounts, 'the walk by pages');

  const certified = await products.list({}, { pagination: 'keyset' }).toArray({ limit: Infinity });
  equal(
    certified.map(({ id }) => id),
    there.products,
    'the certified walk',
  );
  equal((await accounts.get(ids[41] ?? '')).id, ids[41], 'the record that was asked for');
  await books.close();
  return `${ids.length + certified.length} records`;
}

/** The signal ends a request that would never end, with its own reason, and nothing more is sent. */
export async function abort(orders: string): Promise<string> {
  const books = await Books.open(orders, { records: { accounts: 10 } });
  await books.fault({ kind: 'stall' });
  const controller = new AbortController();
  const reason = new Error('changed my mind');
  const client = createClient({
    ...books.clientOptions,
    on: { request: () => setTimeout(() => controller.abort(reason), 20) },
  });
  const seen = await client.accounts
    .list({}, { signal: controller.signal })
    .toArray({ limit: 10 })
    .catch((error: unknown) => error);
  check(seen === reason, `the reason of the signal, not ${String(seen)}`);
  equal((await client.accounts.list().toArray({ limit: 10 })).length, 10, 'what is read afterwards');
  // The first page, the empty one after it, and at most the one that was aborted before it was sent.
  check((await books.look()).requests.length <= 3, 'no further request after the abort');
  await books.close();
  return 'with its own reason';
}
