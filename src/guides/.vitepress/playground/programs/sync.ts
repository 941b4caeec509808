import { createClient, type Product, sync } from 'accounting-data-sdk';

const client = createClient();
const copy = new Map<string, Product>();
const store = new Map<string, string>();

function run() {
  return sync(client, {
    tenant: 'acme',
    collections: ['products'],
    store,
    onBatch({ records }) {
      for (const product of records) copy.set(product.id, product);
    },
  });
}

const first = await run();
console.log('first sync:', first.records, 'records');

await client.products.update('3', { name: 'Renamed' });

await run();
console.log('after the second:', copy.get('3')?.name, copy.size);
