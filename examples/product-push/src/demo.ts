import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { push } from './push.ts';
import { describe } from './results.ts';
import { State } from './state.ts';

const CSV = new URL('../products.csv', import.meta.url);

/** Pushes the sample to a service in memory: what it would do, then does it, then once more. */
export async function demo(): Promise<number> {
  const sandbox = createSandbox({ requiredFields: ['name'], allowedStatuses: ['active', 'archived'] });
  fill(sandbox);
  const client = createClient(sandbox.clientOptions);
  const csv = await readFile(CSV, 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'product-push-'));
  const run = async (title: string, dryRun: boolean) => {
    const state = await State.load(join(folder, 'state.json'), client.products.baseUrl);
    const before = sandbox.count(({ method }) => method !== 'GET');
    console.log(`${title}\n${describe(await push({ client, csv, state, dryRun }))}`);
    console.log(`requests to write: ${sandbox.count(({ method }) => method !== 'GET') - before}\n`);
  };
  try {
    await run('A dry run', true);
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
    await run('The push; the answer to a create is lost on the way', false);
    await run('The push once more: only what a person has to put right is tried again', false);
  } finally {
    await rm(folder, { recursive: true });
  }
  console.log('With your own file and books: npm start -- products.csv --dry-run');
  return 0;
}

/** Books that have some of the products already, not all as the shop has them. */
function fill({ store }: Sandbox): void {
  store.products.insert({
    productNumber: 'DESK-160',
    name: 'Desk 160',
    description: 'Oak, 160 × 80 cm',
    salePrice: '129.0000',
    salePriceIncludesTax: false,
    ean: '4006381333931',
    status: 'active',
    isWebShop: true,
  });
  store.products.insert({ productNumber: 'CHAIR-7', name: 'Chair', salePrice: '49.0000', remark: 'Stays' });
  store.products.insert({ productNumber: 'LAMP-2', name: 'Lamp', salePrice: '39.9000' });
  store.products.insert({ productNumber: 'LAMP-2', name: 'Lamp, old', salePrice: '35.0000' });
}
