/**
 * The main features in one run: read every collection, sync what changed, create, update and delete a product.
 *
 * Without ACCOUNTING_BASE_URL it starts a sandbox on this machine. Pointed at anything else, it only reads.
 */
import {
  collectionNames,
  createClient,
  idempotencyKeyFor,
  isApiError,
  memoryStore,
  sync,
  toDecimal,
  toMoney,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';

const isReal = Boolean(process.env.ACCOUNTING_BASE_URL);
const sandbox = isReal ? undefined : createSandbox({ records: 420, seed: 7, requiredFields: ['name'] });
await sandbox?.listen();
const client = createClient(sandbox?.clientOptions);
console.log(
  sandbox ? `A sandbox listens at ${sandbox.baseUrl}` : `Reading from ${process.env.ACCOUNTING_BASE_URL}`,
);

await readEverything();
await addUpPrices();
await syncTwice();
if (sandbox) await writeProducts(sandbox);

console.log('\nPoint it at a service of your own (it will only read):');
console.log('  ACCOUNTING_BASE_URL=https://books.example.com ACCOUNTING_API_KEY=… npm run quickstart');
await sandbox?.close();

async function readEverything(): Promise<void> {
  console.log('\nReading all fourteen collections');
  for (const name of collectionNames) {
    let records = 0;
    for await (const _ of client[name].list()) records += 1;
    console.log(`  ${name.padEnd(30)} ${String(records).padStart(5)} records`);
  }
  console.log(`  ${client.rateLimit?.remaining} of ${client.rateLimit?.limit} calls left`);
}

/** Money is a decimal string. `toDecimal` and `toMoney` lose no digit. */
async function addUpPrices(): Promise<void> {
  let sum = toDecimal('0');
  for await (const { salePrice } of client.products.list()) sum = sum.plus(toDecimal(salePrice) ?? 0);
  console.log(`\nThe sale prices of all products add up to ${toMoney(sum)}`);
}

/** Keeps a copy: everything the first time, then what changed. */
async function syncTwice(): Promise<void> {
  console.log('\nSyncing a copy');
  const copy = new Map<string, unknown>();
  const store = memoryStore();
  for (const run of ['first', 'second']) {
    const { records } = await sync(client, {
      store,
      tenant: 'quickstart',
      lookbackMs: 0, // leave out the default with a real service: it reads changes that became visible late
      onBatch: (batch) => {
        for (const record of batch.records) copy.set(`${batch.collection} ${record.id}`, record);
      },
    });
    console.log(`  ${run} sync: ${records} records read, ${copy.size} in the copy`);
    const [id] = sandbox?.store.accounts.ids() ?? [];
    if (id !== undefined) sandbox?.store.accounts.update(id, { name: 'Renamed meanwhile' });
  }
}

async function writeProducts({ faults, store, count }: Sandbox): Promise<void> {
  console.log('\nA product, from create to delete');
  // The service creates the product, but its response is lost. The retry has the same key, and creates no second one.
  faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
  const before = store.products.count;
  const idempotencyKey = idempotencyKeyFor('quickstart', 'desk', 1);
  const desk = await client.products.create({ name: 'Desk', salePrice: '129.0000' }, { idempotencyKey });
  const attempts = count(({ method }) => method === 'POST');
  console.log(`  created ${desk.id}: ${attempts} attempts, ${store.products.count - before} product`);

  const salePrice = toMoney(toDecimal('129.0000').times('0.9'));
  const updated = await client.products.update(desk.id, { salePrice });
  console.log(`  updated: ${desk.salePrice} less 10 % is ${updated.salePrice}`);

  await client.products.delete(desk.id);
  console.log(`  deleted: find() returns ${await client.products.find(desk.id)}`);

  const error = await client.products.create({ name: '' }).catch((reason: unknown) => reason);
  if (!isApiError(error, 'validation_failed')) throw error;
  for (const { propertyPath, message } of error.violations) {
    console.log(`  a product without a name is rejected: ${propertyPath}: ${message}`);
  }
}
