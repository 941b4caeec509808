import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { Books } from './books.ts';
import { equal } from './expect.ts';

/** A copy in memory: everything the first time, nothing the second, then what is new. */
export async function syncing(orders: string): Promise<string> {
  const books = await Books.open(orders, { records: { accounts: 65, products: 35 } });
  const client = createClient(books.clientOptions);
  const store = memoryStore();
  const copy = { accounts: new Set<string>(), products: new Set<string>() };
  const run = () =>
    sync(client, {
      store,
      tenant: 'acme',
      collections: ['accounts', 'products'],
      onBatch: ({ collection, records }) => {
        for (const { id } of records) copy[collection].add(id);
      },
    });
  const inCopy = () => [copy.accounts, copy.products].map((ids) => [...ids].sort(byNumber));
  const inBooks = async () => {
    const { accounts, products } = await books.look();
    return [accounts, products];
  };

  equal((await run()).records, 100, 'the records of the first run');
  equal(inCopy(), await inBooks(), 'the copy');
  equal((await run()).records, 0, 'the records of the second run');
  await books.insert(2);
  equal((await run()).records, 2, 'the records of the third run');
  equal(inCopy(), await inBooks(), 'the copy');
  await books.close();
  return '100, 0 and 2 records';
}

function byNumber(a: string, b: string): number {
  return Number(a) - Number(b);
}
