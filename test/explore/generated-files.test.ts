import { readFileSync } from 'node:fs';
import { createClient } from 'accounting-data-sdk';
import { discover } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { folder, listening, run } from './command/support/run.ts';
import { compilerErrors, formatted } from './support/schema-file.ts';

// The compiler takes long to start: these tests share one.

test('the schemas of discover are as the formatter writes them, and type the client under a strict compiler', async () => {
  const sandbox = createSandbox({ records: 3000, seed: 11 });
  sandbox.store.accounts.insert({
    address: { city: 'Gent', geo: { lat: 1.5 } },
    lines: [{ amount: '1.00' }, { amount: '2.00', note: 'x' }],
    matrix: [[1], [2]],
  });
  const { source } = await discover(createClient(sandbox.clientOptions));
  expect(await formatted(source)).toBe(source);
  const use = `
import { createClient, type Product as ClientProduct } from 'accounting-data-sdk';
export async function use() {
  const client = createClient({ schemas });
  const account = await client.accounts.get('1');
  account.creditLimit satisfies string | null | undefined;
  account.paymentTermDays satisfies number | null | undefined;
  account.somethingNew satisfies unknown;
  account.address?.geo?.lat satisfies number | null | undefined;
  account.lines?.[0]?.amount satisfies string | null | undefined;
  account.matrix?.[0]?.[0] satisfies number | null | undefined;
  const product = await client.products.get('1');
  product satisfies ClientProduct;
  product.tags satisfies (string | null)[] | null | undefined;
  // @ts-expect-error: an amount is not a number
  account.creditLimit satisfies number | undefined;
  // @ts-expect-error: not every record has a name
  account.name satisfies string;
  for await (const line of client.bomLines.list()) line.bomId satisfies string | null | undefined;
}`;
  expect(compilerErrors(source + use)).toEqual([]);
});

test('the file of probe --out compiles with createClient, sync and createSandbox', async () => {
  const { env } = await listening({
    records: { accounts: 40, accountAddresses: 40, products: 40 },
    formats: 'jsonld',
    relations: 'iri',
    contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] },
    idempotency: { replay: 'ignored' },
    dateFilter: 'local',
    timeZone: '-02:30',
  });
  const file = folder()('service.ts');
  const collections = ['accountAddresses', 'products'];
  const { code } = await run(env, ['probe', ...collections, '--write', '--yes', '--quiet', '--out', file]);
  const source = readFileSync(file, 'utf8');
  expect([code, source]).toEqual([0, expect.stringContaining('    // ')]);
  const use = `
import { createClient, memoryStore, sync } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
const sandbox = createSandbox({ ...service.sandbox });
const client = createClient({ ...service.client, ...sandbox.clientOptions });
export const run = () => sync(client, { ...service.sync, store: memoryStore(), tenant: 'acme', onBatch() {} });`;
  expect(compilerErrors(source + use)).toEqual([]);
});
