import {
  createClient,
  memoryStore,
  type Product,
  type ProductDraft,
  type ProductPatch,
  type PushOptions,
  push,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered } from '../../support/push.ts';

const rows = numbered(6, { name: 'x' });

/** A service with two companies, and pushes into them with one store. */
function setUp() {
  const sandbox = createSandbox();
  const store = memoryStore();
  const run = (apiKey: string, options: Partial<PushOptions<Product, ProductDraft, ProductPatch>> = {}) =>
    push(createClient({ ...sandbox.clientOptions, apiKey }).products, {
      tenant: 'acme',
      rows,
      key: 'productNumber',
      store,
      visibleAfterMs: 0,
      ...options,
    });
  return { sandbox, run };
}

test('a push with the API key of another company writes nothing, and names the tenant', async () => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  // The other company has products with the same ids.
  for (const { productNumber } of rows)
    sandbox.otherStore.products.insert({ productNumber: `other ${productNumber}` });
  sandbox.clearLogs();
  for (const options of [{}, { dryRun: true }, { existing: { products: () => [], asOf: '2026-01-01' } }]) {
    const error = await caught(run(sandbox.keys.otherCompany, options));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    expect((error as Error).message).toContain('acme was written with another API key');
  }
  expect(sandbox.journal).toEqual([]);
  expect((await run(sandbox.keys.otherCompany, { sameCompany: true })).counts.created).toBe(6);
});

test('a push accepts a new API key of the same company, and remembers it', async () => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  sandbox.store.products.delete('1');
  sandbox.store.products.update('2', { productNumber: 'renumbered' });
  sandbox.clearLogs();
  expect((await run(sandbox.keys.productsOnly)).counts).toMatchObject({
    created: 1,
    updated: 1,
    unchanged: 4,
  });
  sandbox.clearLogs();
  expect((await run(sandbox.keys.productsOnly)).counts).toMatchObject({ unchanged: 6 });
  // Neither key is compared again.
  expect((await run(sandbox.keys.full)).counts).toMatchObject({ unchanged: 6 });
  expect(sandbox.count(({ path }) => /\/products\/\d+$/.test(path))).toBe(0);
});

test('a push remembers the last ten API keys', async () => {
  const { sandbox, run } = setUp();
  const keys = [sandbox.keys.full, ...Array.from({ length: 10 }, () => sandbox.issueKey())];
  for (const key of keys) await run(key, { rows: rows.slice(0, 1) });
  const compared = async (key: string) => {
    sandbox.clearLogs();
    await run(key);
    return sandbox.count(({ path }) => /\/products\/\d+$/.test(path)) > 0;
  };
  expect(await compared(keys.at(-1) ?? '')).toBe(false);
  expect(await compared(keys[1] ?? '')).toBe(false);
  expect(await compared(keys[0] ?? '')).toBe(true);
});

test('a push with a store that remembers no product accepts any API key', async () => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full, { rows: [] });
  expect((await run(sandbox.keys.otherCompany)).counts.created).toBe(6);
});
