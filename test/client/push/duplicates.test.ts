import { createHash } from 'node:crypto';
import { memoryStore, type ProductDraft } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { ONCE, setUpPush } from '../../support/push.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const FAST = { retry: { maxAttempts: 2, baseDelayMs: 1 }, maxOutageMs: 0 };
const A: ProductDraft = { productNumber: 'A', name: 'Desk', salePrice: '129' };
// Another version must not have another key: a create that was lost before the upgrade would be sent a second time.
const TEXT_OF_A = '["shop","A",0,{"name":"Desk","productNumber":"A","salePrice":"129.0000"}]';
const KEY_OF_A = `push-${createHash('sha256').update(TEXT_OF_A).digest('hex')}`;

const posts = ({ requests }: Sandbox) => requests.filter(({ method }) => method === 'POST');

test('a push repeats a create with the same idempotency key and body after its response was lost', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  const { done, results } = await run([A], FAST);
  expect(done).toEqual(['A created']);
  expect(results).toMatchObject([{ reason: undefined }]);
  const sent = posts(sandbox);
  expect(sent).toHaveLength(2);
  expect(sent[0]?.idempotencyKey).toMatch(/^push-[0-9a-f]{64}$/);
  expect(sent[1]).toMatchObject({ idempotencyKey: sent[0]?.idempotencyKey, body: sent[0]?.body });
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push sends equal creates with the same idempotency key in every run, and different ones with different keys', async () => {
  const keyOf = async (draft: ProductDraft, tenant = 'shop') => {
    const { sandbox, run } = setUpPush();
    await run([draft], { tenant });
    return posts(sandbox)[0]?.idempotencyKey;
  };
  const key = await keyOf(A);
  expect(key).toBe(KEY_OF_A);
  expect(
    await keyOf({ salePrice: '129.000', name: 'Desk', productNumber: 'A', brand: null, model: undefined }),
  ).toBe(key);
  expect(await keyOf({ ...A, salePrice: '129.0001' })).not.toBe(key);
  expect(await keyOf({ ...A, name: 'desk' })).not.toBe(key);
  expect(await keyOf(A, 'other')).not.toBe(key);
});

test('a push repeats a create of an earlier run if the list does not show its product', async () => {
  // A list that hides the product looks like one whose product is not visible yet.
  const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
  await run([A]);
  sandbox.clock.advance(60_000);
  // The first product of a run shows nothing about its age: the next ones do.
  expect(await run([A])).toMatchObject({ done: ['A created'], commits: [] });
  const { done } = await run([{ productNumber: 'B' }, A], { concurrency: 1 });
  expect(done).toEqual(['A unchanged', 'B created']);
});

test('a push creates a product again that was deleted since, however soon and however often', async () => {
  const { sandbox, run } = setUpPush();
  for (let time = 0; time < 3; time++) {
    const { done } = await run([A]);
    expect(done).toEqual(['A created']);
    const [product, ...others] = sandbox.store.products.all();
    expect([product?.productNumber, others]).toEqual(['A', []]);
    sandbox.store.products.delete(product?.id ?? '');
    if (time === 1) sandbox.clock.advance(5_000);
  }
});

test.each(['GET', 'PATCH'])(
  'a push does not treat a product as deleted if its %s returns the 404 page of a proxy',
  async (method) => {
    const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
    await run([A]);
    sandbox.clock.advance(60_000);
    const path = '/api/public/v1/products/1';
    const page = { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<h1>404</h1>' };
    sandbox.faults.add({ kind: 'rewrite', committed: false, ...page }, { path, method });
    sandbox.faults.add({ kind: 'status', status: 404 }, { path, method: 'GET' });
    const { done, results, commits } = await run([A], FAST);
    expect(done).toEqual(['A failed']);
    expect(results).toMatchObject([{ error: { code: 'not_found', missing: false } }]);
    expect(commits).toEqual([]);
  },
);

test('a push does not treat a product as deleted that reads do not show yet', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { commitDelayMs: 60_000 } });
  expect((await run([A])).done).toEqual(['A created']);
  expect((await run([A])).commits).not.toContain('create');
  sandbox.clock.advance(10_000);
  expect((await run([A])).commits).not.toContain('create');
  sandbox.clock.advance(60_000);
  expect((await run([A])).done).toEqual(['A unchanged']);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push does not create a second product for a changed row while reads do not show the first', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { commitDelayMs: 60_000 } });
  const store = memoryStore();
  expect((await run([A], { store })).done).toEqual(['A created']);
  const changed = await run([{ ...A, name: 'Table', brand: null }], { store });
  expect(changed).toMatchObject({ done: ['A updated'], commits: ['update'] });
  sandbox.clock.advance(60_000);
  expect(sandbox.store.products.all()).toMatchObject([{ id: '1', name: 'Table' }]);
  sandbox.store.products.delete('1');
  sandbox.clock.advance(60_000);
  expect((await run([A], { store })).done).toEqual(['A created']);
});

test('a push finds the product of a create whose 201 was cut in half, and sends no second create', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { idempotency: { replay: 'ignored' } } });
  sandbox.faults.add({ kind: 'close-in-body' }, { method: 'POST', times: 1 });
  const { done } = await run([A], { retry: { ...FAST.retry, creates: false } });
  expect(done).toEqual(['A created']);
  expect(posts(sandbox)).toHaveLength(1);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test.each([409, 422] as const)(
  'a push does not fail a row whose repeated create violates a unique constraint with a %d',
  async (uniqueStatus) => {
    const { sandbox, run } = setUpPush([], {
      sandbox: { idempotency: { replay: 'ignored' }, uniqueFields: ['productNumber'], uniqueStatus },
    });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
    expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: ['create'] });
  },
);

/** A service whose crash left the idempotency key of the row marked as in progress, without a product. */
async function setUpMarker(options: object = FAST, sandboxOptions: SandboxOptions = {}) {
  const setUp = setUpPush([], { sandbox: sandboxOptions });
  setUp.sandbox.faults.add(
    { kind: 'lost-response', committed: false, marker: true },
    { method: 'POST', times: 1 },
  );
  return { ...setUp, first: await setUp.run([A], options) };
}

test.each([true, false])(
  'a push fails a row whose create was lost and is then reported as in progress, and says what to do (store: %s)',
  async (hasStore) => {
    const options = hasStore ? { ...FAST, store: memoryStore() } : FAST;
    const { sandbox, first, run } = await setUpMarker(options);
    expect([first.done, first.commits]).toEqual([['A failed'], []]);
    const reason = expect.stringMatching(/^The service says .* Run the push again/);
    expect(first.results).toMatchObject([{ error: { status: 409, outcome: 'unknown' }, reason }]);
    sandbox.store.products.insert({ ...A });
    expect((await run([{ ...A, name: 'Table' }], options)).done).toEqual(['A updated']);
    expect(sandbox.store.products.all()).toHaveLength(1);
  },
);

test.each([true, false])(
  'a push creates a product with another idempotency key if an earlier run left the first one in progress (store: %s)',
  async (hasStore) => {
    const options = hasStore ? { ...FAST, store: memoryStore() } : FAST;
    const { sandbox, run } = await setUpMarker(options);
    const { done, results, commits } = await run([A], options);
    expect([done, commits]).toEqual([['A created'], ['create']]);
    const reason = expect.stringMatching(/still running.*another idempotency key/);
    expect(results).toMatchObject([{ id: '1', reason }]);
    expect(new Set(posts(sandbox).map(({ idempotencyKey }) => idempotencyKey)).size).toBe(2);
    // The key in progress was tried before and after the wait, and the whole list was read after both.
    const sent = sandbox.requests.map(({ method, query }) => query.updatedSince ?? method).join(' ');
    expect(sent.replace(/GET GET/g, 'read')).toBe('read POST POST read POST POST read POST GET');
    expect(await run([A], options)).toMatchObject({ done: ['A unchanged'], commits: [] });
    sandbox.store.products.delete('1');
    expect(await run([A], options)).toMatchObject({ done: ['A created'], commits: ['create'] });
    expect(sandbox.store.products.all()).toHaveLength(1);
  },
);

test('a push creates a changed row with its own idempotency key if the key of its earlier draft stays in progress', async () => {
  const options = { ...FAST, store: memoryStore() };
  const { sandbox, run } = await setUpMarker(options);
  const changed = await run([{ ...A, name: 'Table' }], options);
  expect(changed).toMatchObject({ done: ['A created'], commits: ['create'] });
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Table' }]);
});

test('a push skips several idempotency keys that are in progress, but not all of them', async () => {
  const { sandbox, run } = await setUpMarker();
  sandbox.faults.add(
    { kind: 'lost-response', committed: false, marker: true },
    { method: 'POST', skip: 4, times: 1 },
  );
  // The second run loses the create under the second key, so that the third run finds two in progress.
  expect((await run([A], FAST)).done).toEqual(['A failed']);
  expect((await run([A], FAST)).done).toEqual(['A created']);
  sandbox.store.products.delete('1');

  const inProgress = { status: 409, headers: { 'Content-Type': 'application/problem+json' } } as const;
  const body = JSON.stringify({ type: 'request_in_progress', title: 'Running', status: 409 });
  sandbox.faults.add(
    { kind: 'rewrite', committed: false, ...inProgress, body },
    { method: 'POST', times: Number.POSITIVE_INFINITY },
  );
  const { done, results } = await run([A], FAST);
  expect(done).toEqual(['A failed']);
  expect(results).toMatchObject([{ error: { status: 409, outcome: 'unknown' } }]);
  expect(posts(sandbox)).toHaveLength(14);
});

test('a push finds the product of an idempotency key in progress that the first read did not show', async () => {
  const { sandbox, run } = await setUpMarker();
  sandbox.onRequest(({ method }) => {
    if (method === 'POST' && sandbox.store.products.all().length === 0)
      sandbox.store.products.insert({ ...A });
  });
  expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: [] });
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push that wrote another product finds the product of an idempotency key in progress that is older than the run', async () => {
  const { sandbox, run } = await setUpMarker();
  const old = '2026-01-01T00:00:00Z';
  sandbox.onRequest(({ method }) => {
    if (method === 'POST' && sandbox.store.products.all().every(({ productNumber: key }) => key !== 'A'))
      sandbox.store.products.insert({ ...A, createdAt: old, updatedAt: old });
  });
  const { done } = await run([{ productNumber: 'B' }, A], { ...FAST, concurrency: 1 });
  expect(done).toEqual(['A created', 'B created']);
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push creates a product once the idempotency key that a crash left in progress has expired', async () => {
  const { sandbox, run } = await setUpMarker();
  sandbox.clock.advance(86_400_000);
  expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: ['create'] });
});

test('a push updates the product of a repeated create to its row if it was changed since', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
  await run([A]);
  sandbox.store.products.update('1', { name: 'Table' });
  sandbox.clock.advance(60_000);
  const { results } = await run([{ productNumber: 'B' }, A], { concurrency: 1 });
  expect(results[1]).toMatchObject({ action: 'updated', id: '1', fields: ['name'] });
});

test('a push repeats a create that got a 422 with a random idempotency key, because it can be a stored rejection', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { allowedStatuses: ['active'] } });
  expect((await run([{ productNumber: 'A', status: 'sold' }])).done).toEqual(['A failed']);
  const [first, second, ...more] = posts(sandbox);
  expect(more).toEqual([]);
  expect(second?.idempotencyKey).not.toBe(first?.idempotencyKey);
  expect(second?.body).toEqual(first?.body);
});

test('a push stops repeating creates that get a 422 after the repeats of three rows got the same response', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { allowedStatuses: ['active'] } });
  const rows = Array.from({ length: 8 }, (_, n) => ({ productNumber: `P-${n}`, status: 'sold' }));
  const { report } = await run(rows, { concurrency: 1 });
  expect(report.counts.failed).toBe(8);
  expect(posts(sandbox)).toHaveLength(3 * 2 + 5);
});

test.each([
  ['active', 'created'],
  ['sold', 'failed'],
] as const)(
  'a push repeats each create whose 422 may be a stored rejection that is outdated, however many there are: status %s, %s',
  async (status, action) => {
    const { sandbox, run } = setUpPush([], { sandbox: { allowedStatuses: ['active'] } });
    const rows = Array.from({ length: 8 }, (_, n) => ({ productNumber: `P-${n}`, status }));
    // The first create of each row gets a 422 that says something else than the service does now.
    const rejection = { kind: 'status', status: 422, type: 'validation_failed' } as const;
    // A rule does not count the creates that another one rejects.
    for (let skip = 0; skip < 8; skip++) sandbox.faults.add(rejection, { method: 'POST', skip, times: 1 });
    expect((await run(rows, { concurrency: 1 })).report.counts[action]).toBe(8);
    expect(posts(sandbox)).toHaveLength(16);
  },
);

test('a push finishes an unknown create that it had repeated with a random idempotency key after a 422', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
  sandbox.faults.add(
    { kind: 'status', status: 422, type: 'validation_failed' },
    { method: 'POST', times: 1 },
  );
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
  await caught(run([A], { store, ...ONCE }));
  sandbox.clock.advance(60_000);
  expect((await run([A], { store })).results).toMatchObject([{ action: 'created', id: '1' }]);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push finishes an unknown create before it sends a changed draft', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  await caught(run([A], { store, ...ONCE }));
  sandbox.clock.advance(1_000);
  const { results } = await run([{ ...A, name: 'Table' }], { store });
  expect(results).toMatchObject([{ action: 'created', id: '1', fields: ['name'] }]);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Table' }]);
});

test.each([
  [422, 'validation_failed'],
  [400, 'malformed_request'],
])(
  'a push sends the draft of a row if a %d shows that no create of its earlier draft was carried out',
  async (status, type) => {
    const entries = new Map<string, string>();
    const { sandbox, run } = setUpPush();
    sandbox.faults.add({ kind: 'lost-response', committed: false }, { method: 'POST' });
    await caught(run([{ ...A, name: 'Old' }], { store: entries, ...ONCE }));
    // A 422 can be a stored rejection, so it is sent once more.
    sandbox.faults.add({ kind: 'status', status, type }, { method: 'POST', times: status === 422 ? 2 : 1 });
    expect((await run([A], { store: entries })).done).toEqual(['A created']);
    expect(sandbox.store.products.all()).toMatchObject([{ name: 'Desk' }]);
    const sent = posts(sandbox);
    expect(sent.at(-1)?.idempotencyKey).toBe(KEY_OF_A);
  },
);

test.each([
  ['a 429', { kind: 'rate-limited', retryAfter: 1 }],
  ['a 401', { kind: 'status', status: 401, type: 'unauthenticated' }],
  ['a 409', { kind: 'status', status: 409, type: 'conflict' }],
  ['a refused connection', { kind: 'connection-refused' }],
] as const)(
  'a push does not treat %s as the outcome of an unknown create of an earlier run',
  async (_, fault) => {
    const store = memoryStore();
    const { sandbox, run } = setUpPush([], {
      sandbox: { hiddenRecords: ['1'] },
      client: { rateLimiter: false },
    });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
    const options = { store, ...ONCE, maxWaitMs: 0 };
    await caught(run([A], options));
    sandbox.faults.add(fault, { method: 'POST' });
    const changed = [{ ...A, name: 'Table' }];
    await run(changed, options).catch(() => undefined);
    await run(changed, { store });
    expect(sandbox.store.products.all()).toMatchObject([{ productNumber: 'A', name: 'Table' }]);
  },
);

test('a push finishes an unknown create of a product that was deleted before', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1', '2'] } });
  await run([A]);
  sandbox.store.products.delete('1');
  // The first create returns the deleted product, the second one is lost.
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', skip: 1 });
  await caught(run([A], { store, ...ONCE }));
  sandbox.clock.advance(60_000);
  const { results } = await run([{ ...A, name: 'Table' }], { store });
  expect(results).toMatchObject([{ action: 'created', id: '2', fields: ['name'] }]);
  expect(sandbox.store.products.all()).toMatchObject([{ id: '2', name: 'Table' }]);
});

test('a push fails a row after it created a hundred products that were deleted at once', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') for (const id of sandbox.store.products.ids()) sandbox.store.products.delete(id);
  });
  const { results } = await run([A]);
  expect(results).toMatchObject([
    { action: 'failed', error: { code: 'unexpected_response', outcome: 'unknown', reason: 'wrong_shape' } },
  ]);
  expect(posts(sandbox)).toHaveLength(100);
});

test('a push updates a product to its row if the product got a key that no row has', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.clock.advance(60_000);
  sandbox.store.products.update('1', { productNumber: 'A-old' });
  const { results } = await run([{ productNumber: 'B' }, A], { concurrency: 1 });
  expect(results[1]).toMatchObject({ key: 'A', action: 'updated', id: '1', fields: ['productNumber'] });
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push finds a product by the id in its store if its key was changed', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush();
  await run([A, { productNumber: 'B' }], { store });
  sandbox.store.products.update('1', { productNumber: 'A-old' });
  const { results } = await run([A, { productNumber: 'B' }], { store });
  expect(results).toContainEqual(
    expect.objectContaining({ key: 'A', action: 'updated', id: '1', fields: ['productNumber'] }),
  );
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push prefers the product that has the key to the one in its store', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush();
  await run([A], { store });
  sandbox.store.products.update('1', { productNumber: 'A-old' });
  sandbox.store.products.insert({ ...A, name: 'Table' });
  const { results } = await run([A], { store });
  expect(results).toMatchObject([{ action: 'updated', id: '2', fields: ['name'] }]);
});

test('a push creates another product if the one that it created now has the key of another row', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.clock.advance(60_000);
  sandbox.store.products.update('1', { productNumber: 'B' });
  const { results } = await run([A, { productNumber: 'B', name: 'Desk' }]);
  expect(results).toMatchObject([
    { key: 'B', action: 'unchanged', id: '1' },
    { key: 'A', action: 'created', id: '2' },
  ]);
});

test('a push reports a conflict if the product that its store has for one row has the key of another row', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush();
  await run([A], { store });
  sandbox.store.products.update('1', { productNumber: 'B' });
  const rows = [A, { productNumber: 'B', name: 'Chair' }];
  for (const _ of [1, 2]) {
    const { done, commits } = await run(rows, { store });
    expect(done).toEqual(['A conflict', 'B conflict']);
    expect(commits).toEqual([]);
  }
  // Once the rows agree with the service, the old key means nothing any more.
  expect((await run([{ productNumber: 'B', name: 'Desk' }], { store })).done).toEqual(['B unchanged']);
  expect((await run(rows, { store })).done).toEqual(['A created', 'B updated']);
});

test('a push reports a conflict if the product that its store has for one row is one of two with the key of another row', async () => {
  const store = memoryStore();
  const { sandbox, run } = setUpPush([{ productNumber: 'B' }]);
  await run([A], { store });
  sandbox.store.products.update('2', { productNumber: 'B' });
  const { results, commits } = await run([A, { productNumber: 'B' }], { store });
  expect(results).toMatchObject([
    { key: 'A', action: 'conflict', ids: ['2'] },
    { key: 'B', action: 'conflict', ids: ['1', '2'] },
  ]);
  expect(commits).toEqual([]);
});

test('a push writes at most seventeen entries to its store, and rejects those of another tenant or service', async () => {
  const entries = new Map<string, string>();
  const { run } = setUpPush();
  const many = Array.from({ length: 300 }, (_, n) => ({ productNumber: `P-${n}` }));
  await run(many, { store: entries });
  expect(entries.size).toBe(17);
  for (const key of entries.keys()) expect(key).toMatch(/^accounting-data-sdk:shop:products-push/);
  const other = setUpPush();
  const error = await caught(other.run([A], { store: entries }));
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'checkpoint' } });
});

test('a push fails with concurrent_run when another process writes to its store', async () => {
  const entries = new Map<string, string>();
  const { run } = setUpPush();
  await run([A], { store: entries });
  const key = 'accounting-data-sdk:shop:products-push';
  const state = entries.get(key) ?? '';
  const store = {
    get: (name: string) => entries.get(name),
    set: (name: string, value: string) => {
      entries.set(name, value);
      // The other process writes right after.
      if (name === key) entries.set(key, state.replace(/"by":"[^"]+"/, '"by":"another"'));
    },
  };
  const error = await caught(run([{ ...A, name: 'B' }, { productNumber: 'C' }], { store }));
  expect(error).toMatchObject({ code: 'concurrent_run' });
});

test.each([
  ['that the service carried out', true],
  ['that never arrived', false],
])(
  'a push to a service without idempotency looks for the product before it repeats a create %s',
  async (_, committed) => {
    const { sandbox, run } = setUpPush([], {
      sandbox: { idempotency: { replay: 'ignored' } },
      client: { retry: { creates: false }, timeoutMs: 5_000 },
    });
    sandbox.faults.add({ kind: 'lost-response', committed }, { method: 'POST', skip: 1 });
    const { done } = await run([{ productNumber: 'B' }, A, { productNumber: 'C' }]);
    expect(done).toEqual(['A created', 'B created', 'C created']);
    expect(posts(sandbox)).toHaveLength(committed ? 3 : 4);
    expect(sandbox.store.products.all()).toHaveLength(3);
    expect(sandbox.count(({ query }) => query.updatedSince !== undefined)).toBeGreaterThan(0);
  },
);

/** A service that ignores Idempotency-Key and loses the response to the first create. */
function setUpLoss(committed: boolean, validation: 'throw' | 'report' = 'throw') {
  const setUp = setUpPush([], {
    sandbox: { idempotency: { replay: 'ignored' } },
    client: { retry: { creates: false, maxAttempts: 1 }, timeoutMs: 5_000, validation },
  });
  setUp.sandbox.faults.add({ kind: 'lost-response', committed }, { method: 'POST' });
  return setUp;
}

test('a push does not repeat a lost create if the list has an unreadable product, which may be the one created', async () => {
  const { sandbox, run } = setUpLoss(true, 'report');
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') sandbox.faults.add({ kind: 'money-as-number' }, { method: 'GET', times: 99 });
  });
  const { done, results } = await run([A]);
  expect(done).toEqual(['A failed']);
  expect(results).toMatchObject([{ error: { outcome: 'unknown' }, reason: undefined }]);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

/** A service whose gateway responds to every create with half a 201, and carries out none. */
function setUpHalves(sandboxOptions: SandboxOptions = {}, onPost: () => void = () => undefined) {
  const { sandbox } = setUpPush([], { sandbox: { idempotency: { replay: 'ignored' }, ...sandboxOptions } });
  let posts = 0;
  const fetch: typeof sandbox.fetch = async (input, init) => {
    if (init?.method !== 'POST') return sandbox.fetch(input, init);
    posts += 1;
    onPost();
    return new Response('{"id":"7","na', { status: 201, headers: { 'Content-Type': 'application/json' } });
  };
  const retry = { creates: false, maxAttempts: 2 };
  const { run } = setUpPush([], { client: { ...sandbox.clientOptions, fetch, retry, timeoutMs: 5_000 } });
  return { sandbox, run, posts: () => posts };
}

test('a push sends a create whose product is not found as often as a call has attempts', async () => {
  const { run, posts } = setUpHalves();
  expect(await run([A])).toMatchObject({ done: ['A failed'], results: [{ error: { outcome: 'applied' } }] });
  expect(posts()).toBe(2);
});

test('a push does not repeat a lost create if the list that it looks in repeats products', async () => {
  const { sandbox, run, posts } = setUpHalves(
    { ids: { form: 'uuid' }, order: 'updated-asc', ties: 'each-page', pageSize: 10 },
    () => {
      for (let n = 0; n < 60; n++) sandbox.store.products.insert({ productNumber: `X-${n}` });
    },
  );
  expect((await run([A])).done).toEqual(['A failed']);
  expect(posts()).toBe(1);
});

test('a push reports a conflict if two products have the key of a lost create', async () => {
  const { sandbox, run } = setUpLoss(true);
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') sandbox.store.products.insert({ ...A });
  });
  const { results, commits } = await run([A]);
  expect(results).toMatchObject([{ action: 'conflict', ids: ['1', '2'] }]);
  expect(results[0]?.reason).toBe('products 1, 2 have this key');
  expect(commits).toEqual(['create']);
});

test('a push waits for a create that an earlier run lost, but not in a dry run', async () => {
  const store = memoryStore();
  const { run } = setUpLoss(false);
  const waits = async (dryRun: boolean) => {
    let count = 0;
    const { done } = await run([A], {
      store,
      dryRun,
      onProgress: ({ waiting }) => (count += Number(waiting)),
    });
    return [done, count > 0];
  };
  await caught(run([A], { store, maxOutageMs: 0 }));
  expect(await waits(true)).toEqual([['A created'], false]);
  expect(await waits(false)).toEqual([['A created'], true]);
});
