import {
  type ClientOptions,
  createClient,
  type FetchFunction,
  memoryStore,
  type Product,
  type ProductDraft,
  type ProductPatch,
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
    apiKey: string,
    options: Partial<PushOptions<Product, ProductDraft, ProductPatch>> = {},
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

test.each([
  ['the rows of the state', rows],
  ['no rows', []],
])('a push of %s with the API key of another company writes and remembers nothing', async (_, pushed) => {
  const { sandbox, store, run } = setUp();
  await run(sandbox.keys.full);
  const stored = store.get('accounting-data-sdk:acme:products-push');
  sandbox.clearLogs();
  for (const options of [{}, { dryRun: true }, { key: 'name' as const }]) {
    const error = await caught(run(sandbox.keys.otherCompany, { rows: pushed, ...options }));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'tenant' });
    expect((error as Error).message).toContain('acme was written with another API key');
    expect((error as Error).message).toContain('products 1 was created at another time');
  }
  expect(sandbox.journal).toEqual([]);
  expect(store.get('accounting-data-sdk:acme:products-push')).toBe(stored);
  const accepted = run(sandbox.keys.otherCompany, { rows: pushed, sameCompany: true });
  expect((await accepted).counts.failed).toBe(0);
  // Once is enough.
  expect((await run(sandbox.keys.otherCompany, { rows: pushed })).counts).toMatchObject({
    created: 0,
    updated: 0,
  });
});

const twin = (productNumber: string | null) => ({ productNumber, name: 'x' });

test.each<[string, readonly ProductDraft[]]>([
  ['has other keys', numbered(6).map((_, n) => twin(`B-${n}`))],
  ['has no keys', numbered(6).map(() => twin(null))],
  ['has the same keys at other ids', numbered(6, { name: 'x' }).reverse()],
])('a push tells a company apart that was created in the same second and %s', async (_, products) => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  for (const { id } of sandbox.otherStore.products.all()) sandbox.otherStore.products.delete(id);
  const [first] = sandbox.store.products.all();
  for (const [n, product] of products.entries())
    sandbox.otherStore.products.insert({ ...product, id: `${n + 1}`, createdAt: first?.createdAt });
  sandbox.clearLogs();
  for (const options of [{}, { dryRun: true }, { rows: [{ productNumber: 'NEW' }] }]) {
    const error = await caught(run(sandbox.keys.otherCompany, options));
    expect(error).toMatchObject({
      argument: 'tenant',
      message: expect.stringContaining('other names and numbers'),
    });
  }
  expect(sandbox.journal).toEqual([]);
});

test('a push accepts a rotated API key of a company whose service stores the keys in another form', async () => {
  const { sandbox, run } = setUp([]);
  const fetch = quirky(sandbox.fetch, { storedKey: (key) => key.trim().toLowerCase() });
  for (const apiKey of [sandbox.keys.full, sandbox.issueKey()])
    expect((await run(apiKey, { rows: rows.slice(0, 2) }, { fetch })).counts.conflict).toBe(2);
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
  expect((await run(sandbox.keys.productsOnly)).counts).toMatchObject({
    created: 1,
    updated: 1,
    unchanged: 4,
  });
  sandbox.clearLogs();
  expect((await run(sandbox.keys.productsOnly)).counts).toMatchObject({ unchanged: 6 });
  // Neither key is compared again.
  expect((await run(sandbox.keys.full)).counts).toMatchObject({ unchanged: 6 });
  expect(lookUps(sandbox)).toBe(0);
});

test.each([
  ['is a 403', { status: 403, body: '{"title":"archived"}' }],
  ['is a 204', { status: 204, body: null }],
  ['is a list', { status: 200, body: '[]' }],
  ['is another record', { status: 200, body: '{"id":"77","createdAt":"2026-01-31T12:00:00Z"}' }],
  ['has no id', { status: 200, body: '{"createdAt":"2020-01-01T00:00:00Z"}' }],
])('a push accepts a rotated API key although the response for one known product %s', async (_, odd) => {
  const { sandbox, run } = setUp();
  await run(sandbox.keys.full);
  const fetch: FetchFunction = async (url, init) => {
    const response = await sandbox.fetch(url, init);
    if (!/products\/1$/.test(`${url}`)) return response;
    const headers = { 'content-type': 'application/problem+json' };
    return new Response(odd.body, { status: odd.status, headers });
  };
  expect((await run(sandbox.issueKey(), {}, { fetch })).counts).toMatchObject({ unchanged: 6 });
});

test.each([
  [
    'all known products were deleted',
    ({ store }: Sandbox) => store.products.all().map(({ id }) => store.products.delete(id)),
    /were not found/,
  ],
  ['the service has never sent createdAt', () => undefined, /no record with createdAt/],
])('a push asks for sameCompany if %s', async (_, change, why) => {
  const { sandbox, run } = setUp();
  const isSent = why.source.includes('found');
  const fetch: FetchFunction = async (url, init) => {
    const response = await sandbox.fetch(url, init);
    if (isSent) return response;
    return new Response((await response.text()).replaceAll('"createdAt":', '"made":'), response);
  };
  const pushed = { rows: rows.slice(0, 3) };
  await run(sandbox.keys.full, pushed, { fetch });
  change(sandbox);
  const error = await caught(run(sandbox.keys.productsOnly, pushed, { fetch }));
  expect(error).toMatchObject({ argument: 'tenant', message: expect.stringMatching(why) });
  const { counts } = await run(sandbox.keys.productsOnly, { ...pushed, sameCompany: true }, { fetch });
  expect(counts.failed).toBe(0);
});

test('a push requests at most five known products, and replaces those that are gone', async () => {
  const { sandbox, run } = setUp(numbered(12, { name: 'x' }));
  await run(sandbox.keys.full);
  for (const id of ['1', '2', '3', '4']) sandbox.store.products.delete(id);
  await run(sandbox.keys.full, { rows: [] });
  for (const id of ['5', '6', '7', '8']) sandbox.store.products.delete(id);
  sandbox.clearLogs();
  expect((await run(sandbox.keys.productsOnly, { rows: [] })).counts.failed).toBe(0);
  expect(lookUps(sandbox)).toBe(5);
});

test('a push with a state that knows no product, or no API key, accepts any key and remembers it', async () => {
  const empty = setUp([]);
  await empty.run(empty.sandbox.keys.full, { rows: [] });
  expect((await empty.run(empty.sandbox.keys.otherCompany)).counts.created).toBe(6);

  const { sandbox, store, run } = setUp();
  await run(sandbox.keys.full);
  const head = JSON.parse(store.get('accounting-data-sdk:acme:products-push') as string);
  store.set('accounting-data-sdk:acme:products-push', JSON.stringify({ ...head, company: undefined }));
  expect((await run(sandbox.keys.otherCompany)).counts.failed).toBe(0);
  expect(await caught(run(sandbox.keys.full))).toMatchObject({ argument: 'tenant' });
});
