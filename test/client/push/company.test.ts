import {
  type ClientOptions,
  createClient,
  memoryStore,
  type ProductDraft,
  type PushOptions,
  push,
} from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered } from '../../support/push.ts';
import { quirky } from '../../support/quirks.ts';

const rows = numbered(6, { name: 'x' });

/**
 * A service with two companies that were made from one template, an hour apart: their products have the same ids, numbers
 * and names. Pushes into both with one store.
 */
function setUp(existing = rows) {
  const sandbox = createSandbox({ clock: '2026-01-31T12:00:00Z' });
  for (const row of existing) sandbox.store.products.insert({ ...row });
  sandbox.clock.advance(3_600_000);
  for (const product of sandbox.store.products.all())
    sandbox.otherStore.products.insert({ ...product, createdAt: undefined });
  const store = memoryStore();
  const run = (
    apiKey: string | (() => string),
    options: Partial<PushOptions<ProductDraft>> = {},
    clientOptions: ClientOptions = {},
  ) =>
    push(createClient({ ...sandbox.clientOptions, ...clientOptions, apiKey }).products, {
      tenant: 'acme',
      rows,
      key: 'productNumber',
      store,
      visibleAfterMs: 0,
      ...options,
    });
  return { sandbox, store, run };
}

/** How many products were requested by their ids. */
const lookUps = ({ count }: Sandbox) => count(({ path }) => /\/products\/\d+$/.test(path));

test('a push with the API key of another company writes and remembers nothing', async () => {
  const { sandbox, store, run } = setUp();
  await run(sandbox.keys.full);
  const stored = store.get('accounting-data-sdk:acme:products-push');
  sandbox.clearLogs();
  for (const options of [{}, { dryRun: true }, { key: 'name' as const }, { rows: [] }]) {
    const error = await caught(run(sandbox.keys.otherCompany, options));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    expect((error as Error).message).toContain('acme was written with another API key');
    expect((error as Error).message).toContain('products 1 was created at another time');
  }
  expect(sandbox.journal).toEqual([]);
  expect(store.get('accounting-data-sdk:acme:products-push')).toBe(stored);
  // Once is enough.
  for (const options of [{ sameCompany: true }, {}])
    expect((await run(sandbox.keys.otherCompany, options)).counts).toMatchObject({ created: 0, failed: 0 });
});

test('a push updates nothing with the API key of another company that its function returns after the products were read', async () => {
  const { sandbox, run } = setUp();
  let apiKey = sandbox.keys.full;
  await run(apiKey);
  const confirm = () => {
    apiKey = sandbox.keys.otherCompany;
    return true;
  };
  const changed = numbered(6, { name: 'y' });
  const error = await caught(run(() => apiKey, { rows: changed, confirm }));
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
  expect(sandbox.count(({ method }) => method === 'PATCH')).toBe(0);
});

test('a push accepts a rotated API key of a company whose service stores the keys in another form', async () => {
  const { sandbox, run } = setUp([]);
  const fetch = quirky(sandbox.fetch, { storedKey: (key) => key.trim().toLowerCase() });
  for (const apiKey of [sandbox.keys.full, sandbox.issueKey()])
    expect((await run(apiKey, { rows: rows.slice(0, 2) }, { fetch })).counts.failed).toBe(0);
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push knows the products that it created, if there were none before', async () => {
  const { sandbox, run } = setUp([]);
  await run(sandbox.keys.full, { rows: rows.slice(0, 2) });
  sandbox.otherStore.products.insert({ productNumber: 'P-0' });
  expect(await caught(run(sandbox.keys.otherCompany))).toMatchObject({ argument: 'tenant' });
});

test('a push accepts a rotated API key of the same company, whatever became of its products', async () => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  sandbox.store.products.delete('1');
  sandbox.store.products.update('2', { productNumber: 'renumbered', name: 'y', salePrice: '9' });
  sandbox.clearLogs();
  const report = await run(sandbox.keys.productsOnly);
  expect(report.counts).toMatchObject({ created: 1, updated: 1, unchanged: 4 });
  // The requests that prove the key are counted too.
  expect(report.attempts).toBe(sandbox.count());
  sandbox.clearLogs();
  expect((await run(sandbox.keys.productsOnly)).counts).toMatchObject({ unchanged: 6 });
  // Neither key is compared again.
  expect((await run(sandbox.keys.full)).counts).toMatchObject({ unchanged: 6 });
  expect(lookUps(sandbox)).toBe(0);
});

test('a push that sees no product forgets nothing of the company', async () => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  for (const id of sandbox.store.products.ids()) sandbox.store.products.delete(id);
  sandbox.faults.add({ kind: 'status', status: 422 }, { method: 'POST' });
  expect((await run(sandbox.keys.full)).counts).toMatchObject({ failed: 6 });
  sandbox.faults.clear();
  expect(await caught(run(sandbox.keys.otherCompany))).toMatchObject({ argument: 'tenant' });
});

test('a push asks for sameCompany if all known products were deleted', async () => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  for (const id of sandbox.store.products.ids()) sandbox.store.products.delete(id);
  const error = await caught(run(sandbox.keys.productsOnly));
  expect(error).toMatchObject({ argument: 'tenant', message: expect.stringMatching(/were not found/) });
  expect((await run(sandbox.keys.productsOnly, { sameCompany: true })).counts.failed).toBe(0);
});

test('a push with a state that knows no product accepts any key and remembers it', async () => {
  const { sandbox, run } = setUp([]);
  await run(sandbox.keys.full, { rows: [] });
  expect((await run(sandbox.keys.otherCompany)).counts.created).toBe(6);
  expect(await caught(run(sandbox.keys.productsOnly))).toMatchObject({ argument: 'tenant' });
});
