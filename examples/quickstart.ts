/**
 * The main features in one run: read every collection, sync what changed, create, update and delete a product.
 *
 * Without ACCOUNTING_BASE_URL it starts a sandbox on this machine. Pointed at anything else, it only reads.
 */
import {
  type Client,
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

const say = (line: string) => process.stdout.write(`${line}\n`);
const heading = (text: string) => say(`\n${text}`);

/** Reads all fourteen collections, each record once, and shows how far it is. */
async function pullEverything(client: Client): Promise<void> {
  heading('Pulling all fourteen collections');
  let total = 0;
  for (const name of collectionNames) {
    let records = 0;
    let pages = 0;
    for await (const page of client[name].list().pages()) {
      records += page.records.length;
      pages += 1;
      if (process.stdout.isTTY) process.stdout.write(`\r  ${name} … ${records}`);
    }
    total += records;
    say(
      `${process.stdout.isTTY ? '\r' : ''}  ${name.padEnd(30)} ${String(records).padStart(5)} records, ${pages} page${pages === 1 ? '' : 's'}`,
    );
  }
  const budget = client.rateLimit;
  say(
    `  ${total} records; ${budget === undefined ? 'no quota reported' : `${budget.remaining} of ${budget.limit} calls left`}`,
  );
}

/** Keeps a copy: everything the first time, then what changed. */
async function keepInSync(client: Client, sandbox: Sandbox | undefined): Promise<void> {
  heading('Syncing a copy');
  const copy = new Map<string, unknown>();
  const store = memoryStore();
  const run = async (label: string) => {
    const { records } = await sync(client, {
      store,
      tenant: 'quickstart',
      // Two minutes would be wise with a real service; this one shows a change at once.
      lookbackMs: 0,
      onBatch: (batch) => {
        for (const record of batch.records) copy.set(`${batch.collection}:${record.id}`, record);
      },
    });
    say(`  ${label}: ${records} records read, ${copy.size} in the copy`);
  };
  await run('first sync');
  if (sandbox === undefined) return;

  const [someone] = sandbox.store.accounts.ids();
  if (someone !== undefined) sandbox.store.accounts.update(someone, { name: 'Renamed meanwhile' });
  await run('second sync, after one change');
  say(`  the copy has it: ${JSON.stringify(copy.get(`accounts:${someone}`)).includes('Renamed meanwhile')}`);
}

/** Creates, updates and deletes a product; one response is lost. */
async function productLife(client: Client, sandbox: Sandbox): Promise<void> {
  heading('A product, from create to delete');
  // The service creates the record, but the response to the first attempt is lost.
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  const before = sandbox.store.products.count;
  const desk = await client.products.create(
    { name: 'Desk', salePrice: '129.0000', description: 'Oak, 160 cm' },
    { idempotencyKey: idempotencyKeyFor('quickstart', 'desk', 1) },
  );
  const attempts = sandbox.count(({ method }) => method === 'POST');
  say(`  created ${desk.id}: ${attempts} attempts, one key, ${sandbox.store.products.count - before} record`);

  const cheaper = toMoney(toDecimal(desk.salePrice ?? '0').times('0.9'));
  const updated = await client.products.update(desk.id, { salePrice: cheaper, description: null });
  say(
    `  updated: ${desk.salePrice} less 10 % is ${updated.salePrice}; description is now ${updated.description}`,
  );

  await client.products.delete(desk.id);
  try {
    await client.products.get(desk.id);
  } catch (error) {
    if (!isApiError(error, 'not_found')) throw error;
    say(`  deleted; reading it now throws ${error.name} (code ${error.code}, status ${error.status})`);
  }
}

/** Shows what a rejected draft looks like. */
async function rejectedDraft(client: Client): Promise<void> {
  heading('A draft that the service rejects');
  try {
    await client.products.create({ name: '' });
  } catch (error) {
    if (!isApiError(error, 'validation_failed')) throw error;
    for (const { propertyPath, message } of error.violations) say(`  ${propertyPath}: ${message}`);
  }
}

/** Adds up the sale prices of all products, without losing a digit. */
async function addUpPrices(client: Client): Promise<void> {
  heading('Money');
  let sum = toDecimal('0');
  let priced = 0;
  for await (const { salePrice } of client.products.list()) {
    if (salePrice === undefined || salePrice === null) continue;
    sum = sum.plus(toDecimal(salePrice));
    priced += 1;
  }
  say(`  ${priced} products with a price add up to ${toMoney(sum)}`);
}

const ownService = process.env.ACCOUNTING_BASE_URL || undefined;
const sandbox =
  ownService === undefined ? createSandbox({ records: 420, seed: 7, requiredFields: ['name'] }) : undefined;
await sandbox?.listen();
try {
  const client = createClient(sandbox?.clientOptions ?? {});
  say(sandbox === undefined ? `Reading from ${ownService}` : `A sandbox listens at ${sandbox.baseUrl}`);
  await pullEverything(client);
  await addUpPrices(client);
  await keepInSync(client, sandbox);
  if (sandbox !== undefined) {
    await productLife(client, sandbox);
    await rejectedDraft(client);
  }
  heading('Point it at a service of your own (it will only read):');
  say('  ACCOUNTING_BASE_URL=https://books.example.com ACCOUNTING_API_KEY=… npm run quickstart');
} finally {
  await sandbox?.close();
}
