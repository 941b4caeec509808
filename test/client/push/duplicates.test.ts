import type { ProductDraft } from 'accounting-data-sdk';
import type { Sandbox, SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, pushAndDie, setUpPush, storeOver } from '../../support/push.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const FAST = { retry: { maxAttempts: 2, baseDelayMs: 1 }, maxOutageMs: 0 };
const A: ProductDraft = { productNumber: 'A', name: 'Desk', salePrice: '129' };
const CREATE = '/api/public/v1/products';

const posts = ({ requests }: Sandbox) => requests.filter(({ method }) => method === 'POST');
const numbersOf = ({ store }: Sandbox) => store.products.all().map(({ productNumber }) => productNumber);
const keysOf = (sandbox: Sandbox) => new Set(posts(sandbox).map(({ idempotencyKey }) => idempotencyKey));

test('a push repeats a create with the same idempotency key and body after its response was lost', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
  const { done, results } = await run([A], FAST);
  expect(done).toEqual(['A created']);
  expect(results).toMatchObject([{ reason: undefined }]);
  const sent = posts(sandbox);
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({ idempotencyKey: sent[0]?.idempotencyKey, body: sent[0]?.body });
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push sends each create with a random idempotency key of at most 64 characters', async () => {
  const keys = new Set<string | undefined>();
  for (const tenant of ['shop', 'shop', 'other']) {
    const { sandbox, run } = setUpPush();
    await run([A, { productNumber: 'B' }], { tenant });
    for (const key of keysOf(sandbox)) keys.add(key);
  }
  expect(keys.size).toBe(6);
  for (const key of keys) expect(key).toMatch(/^[\w-]{20,64}$/);
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

test('a push creates nine deleted products again, and renumbers the tenth', async () => {
  const { sandbox, run } = setUpPush();
  const rows = numbered(10);
  await run(rows);
  const [first = '', ...others] = sandbox.store.products.ids();
  sandbox.store.products.update(first, { productNumber: 'renumbered' });
  for (const id of others) sandbox.store.products.delete(id);
  const { results, report } = await run(rows);
  expect(report.counts).toMatchObject({ created: 9, updated: 1 });
  for (const { key, id } of results)
    expect(sandbox.store.products.get(id ?? '')).toMatchObject({ productNumber: key });
  expect(sandbox.store.products.all()).toHaveLength(10);
});

test.each([
  ['GET', 'A failed', {}],
  ['PATCH', 'A failed', { name: 'Table' }],
])(
  'a push does not treat a product as deleted if its %s returns the 404 page of a proxy',
  async (method, expected, change) => {
    const { sandbox, run } = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
    await run([A]);
    const page = { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<h1>404</h1>' };
    const where = { path: `${CREATE}/1`, method, times: 99 };
    sandbox.faults.add({ kind: 'rewrite', committed: false, ...page }, where);
    const { done, results, commits } = await run([{ ...A, ...change }], FAST);
    expect(done).toEqual([expected]);
    expect(results).toMatchObject([{ error: { code: 'not_found', missing: false } }]);
    expect(commits).toEqual([]);
  },
);

test.each([1_000, 25_000])(
  'a push creates each product once on a service that shows a new one %i ms after its 201',
  async (commitDelayMs) => {
    const { sandbox, run } = setUpPush([], { sandbox: { commitDelayMs } });
    expect((await run(numbered(9))).report.counts).toMatchObject({ created: 9 });
    expect(posts(sandbox)).toHaveLength(9);
    expect((await run(numbered(9))).report.counts).toMatchObject({ unchanged: 9 });
    const changed = numbered(9, { name: 'y', brand: null });
    expect(await run(changed)).toMatchObject({
      report: { counts: { updated: 9 } },
      commits: Array(9).fill('update'),
    });
    sandbox.clock.advance(commitDelayMs);
    expect(numbersOf(sandbox).toSorted()).toEqual(numbered(9).map(({ productNumber }) => productNumber));
  },
);

test('a push creates each product once if the requests for single products show them a second late', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { newRecords: { foundAfterMs: 1_000 } } });
  expect((await run(numbered(9))).report.counts).toMatchObject({ created: 9 });
  expect((await run(numbered(9, { name: 'y' }))).report.counts).toMatchObject({ updated: 9 });
  expect(sandbox.store.products.all()).toHaveLength(9);
});

test('a push finds the product of a create whose 201 was cut in half, and sends no second create', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { idempotency: { replay: 'ignored' } } });
  sandbox.faults.add({ kind: 'disconnect', in: 'body' }, { method: 'POST', times: 1 });
  const { done } = await run([A], { retry: { ...FAST.retry, creates: false } });
  expect(done).toEqual(['A created']);
  expect(posts(sandbox)).toHaveLength(1);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push reports a create as created, and sends no second one, if the product is deleted at once', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') setTimeout(() => sandbox.store.products.delete('1'));
  });
  expect((await run([A])).done).toEqual(['A created']);
  expect(posts(sandbox)).toHaveLength(1);
});

test.each([409, 422] as const)(
  'a push does not fail a row whose repeated create violates a unique constraint with a %d',
  async (uniqueStatus) => {
    const { sandbox, run } = setUpPush([], {
      sandbox: { idempotency: { replay: 'ignored' }, uniqueFields: ['productNumber'] },
      quirks: { conflictsWith409: uniqueStatus === 409 },
    });
    sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
    expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: ['create'] });
  },
);

test('a push creates a product with another idempotency key if a crash of the service left the first in progress', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: false, marker: true }, { method: 'POST', times: 1 });
  expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: ['create'] });
  expect(keysOf(sandbox).size).toBe(2);
  // The list was read before each of the three rounds.
  const lists = sandbox.requests
    .map(({ method, query }) => (query['id[gt]'] === undefined ? method : ''))
    .join(' ');
  expect(lists.match(/GET(?=.*POST)/g)?.length).toBeGreaterThanOrEqual(3);
  expect(await run([A])).toMatchObject({ done: ['A unchanged'], commits: [] });
});

test('a push fails a row all of whose idempotency keys stay in progress, after three rounds', async () => {
  const { sandbox, run } = setUpPush();
  const inProgress = { status: 409, headers: { 'Content-Type': 'application/problem+json' } } as const;
  const body = JSON.stringify({ type: 'request_in_progress', title: 'Running', status: 409 });
  sandbox.faults.add(
    { kind: 'rewrite', committed: false, ...inProgress, body },
    { method: 'POST', times: 99 },
  );
  const { results } = await run([A], FAST);
  expect(results).toMatchObject([
    {
      action: 'failed',
      error: { status: 409, outcome: 'unknown' },
      reason: expect.stringMatching(/run the push again/),
    },
  ]);
  expect([posts(sandbox).length, keysOf(sandbox).size]).toEqual([6, 2]);
  sandbox.store.products.insert({ ...A });
  expect((await run([{ ...A, name: 'Table' }])).done).toEqual(['A updated']);
});

test('a push finds the product of a create that another round is about to repeat', async () => {
  const { sandbox, run } = setUpPush();
  sandbox.faults.add({ kind: 'lost-response', committed: false, marker: true }, { method: 'POST', times: 1 });
  sandbox.onRequest(({ method }) => {
    if (method === 'POST' && sandbox.store.products.all().length === 0)
      sandbox.store.products.insert({ ...A });
  });
  expect(await run([A], FAST)).toMatchObject({ done: ['A created'], commits: [] });
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push sends a rejected create once, and again in the next run, although the service stores rejections', async () => {
  const { sandbox, run } = setUpPush([], {
    sandbox: { requiredFields: ['name'] },
    quirks: { storesRejections: true },
  });
  expect((await run([{ productNumber: 'A' }])).done).toEqual(['A failed']);
  expect(posts(sandbox)).toHaveLength(1);
  expect((await run([A])).done).toEqual(['A created']);
});

test.each([true, false])(
  'a push continues with the create of a run that was killed, and brings its product to the row (carried out: %s)',
  async (isCarriedOut) => {
    const setUp = setUpPush();
    const { sandbox, run } = setUp;
    await pushAndDie(setUp, [{ ...A, name: 'Old' }], { committed: isCarriedOut });
    // The list is read after a wait; another create comes first.
    const { done } = await run([{ productNumber: 'NEW' }, A], { concurrency: 1 });
    expect(done).toEqual([isCarriedOut ? 'A updated' : 'A created', 'NEW created']);
    expect(sandbox.store.products.all().filter(({ productNumber }) => productNumber === 'A')).toMatchObject([
      { name: 'Desk' },
    ]);
  },
);

test('a push repeats the create of a run that was killed under its key, with its draft, before it uses another', async () => {
  const setUp = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
  const { sandbox, run } = setUp;
  await pushAndDie(setUp, [{ ...A, name: 'Old' }]);
  const [first] = posts(sandbox);
  expect((await run([A])).results).toMatchObject([{ action: 'updated', id: '1', fields: ['name'] }]);
  expect(posts(sandbox)).toMatchObject([{ idempotencyKey: first?.idempotencyKey, body: first?.body }]);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push creates a product again if the service returns the deleted one for the create of a killed run', async () => {
  const setUp = setUpPush();
  const { sandbox, run } = setUp;
  await pushAndDie(setUp, [A]);
  sandbox.store.products.delete('1');
  expect(await run([A])).toMatchObject({ done: ['A created'], commits: ['create'] });
  expect(keysOf(sandbox).size).toBe(2);
  expect(sandbox.store.products.all()).toMatchObject([{ id: '2' }]);
});

test.each([
  [422, 'validation_failed'],
  [400, 'malformed_request'],
  [409, 'conflict'],
])(
  'a push sends the draft of a row under another key after a %d of the create of a killed run',
  async (status, type) => {
    const setUp = setUpPush();
    const { sandbox, run } = setUp;
    await pushAndDie(setUp, [{ ...A, name: 'Old' }], { committed: false });
    const [first] = posts(sandbox);
    sandbox.faults.add({ kind: 'status', status, type }, { method: 'POST', times: 1 });
    expect((await run([A])).done).toEqual(['A created']);
    expect(sandbox.store.products.all()).toMatchObject([{ name: 'Desk' }]);
    const sent = posts(sandbox);
    expect(sent[0]?.idempotencyKey).toBe(first?.idempotencyKey);
    expect(sent.at(-1)?.idempotencyKey).not.toBe(first?.idempotencyKey);
  },
);

test.each([
  ['a 429', { kind: 'status', status: 429, retryAfter: 1 }],
  ['a 401', { kind: 'status', status: 401, type: 'unauthenticated' }],
  ['a refused connection', { kind: 'connection-refused' }],
] as const)('a push does not treat %s as the outcome of the create of a killed run', async (_, fault) => {
  const setUp = setUpPush([], { sandbox: { hiddenRecords: ['1'] }, client: { rateLimiter: false } });
  const { sandbox, run } = setUp;
  await pushAndDie(setUp, [A]);
  sandbox.faults.add(fault, { method: 'POST', times: 1 });
  const changed = [{ ...A, name: 'Table' }];
  await run(changed, { ...FAST, maxWaitMs: 0 }).catch(() => undefined);
  await run(changed);
  expect(sandbox.store.products.all()).toMatchObject([{ productNumber: 'A', name: 'Table' }]);
});

test.each([
  ['seconds', 'the signal stopped'],
  ['milliseconds', 'the signal stopped'],
  ['offset', 'the signal stopped'],
  ['seconds', 'an outage stopped'],
  ['seconds', 'a kill ended'],
] as const)(
  'a push counts a product as created (%s) that it creates after %s the one before',
  async (timestamps, how) => {
    const { entries, sandbox, run } = setUpPush([], { sandbox: { timestamps } });
    const controller = new AbortController();
    // None of these creates arrives.
    sandbox.faults.add({ kind: 'disconnect', committed: false }, { method: 'POST' });
    sandbox.onRequest(({ method }) => {
      if (method === 'POST' && how === 'the signal stopped') setTimeout(() => controller.abort(), 1);
    });
    const killed = how === 'a kill ended' ? new Map(entries) : entries;
    const store =
      how === 'a kill ended' ? storeOver(new Map(entries), (key, value) => killed.set(key, value)) : entries;
    await caught(run(numbered(3), { ...ONCE, store, signal: controller.signal })).catch(() => undefined);
    expect([...killed.values()].join('')).toContain('"idempotencyKey"');
    sandbox.faults.clear();
    const { done, report } = await run(numbered(3, { name: 'New' }), { store: killed });
    expect(done).toEqual(['P-0 created', 'P-1 created', 'P-2 created']);
    expect(report.counts.created).toBe(3);
    expect(sandbox.store.products.all()).toMatchObject([{ name: 'New' }, { name: 'New' }, { name: 'New' }]);
  },
);

test('a push repeats the first sending of a create that a killed push stored, but did not send', async () => {
  // Later than the push waits.
  const options = { sandbox: { newRecords: { listedAfterMs: 45_000 } } };
  const { entries, sandbox, run } = setUpPush([], options);
  const killed = new AbortController();
  const store = storeOver(entries, (_, value) => {
    if (value.includes('"sent":{"A"')) killed.abort(new Error('killed'));
  });
  await caught(run([A], { store, signal: killed.signal }));
  expect(posts(sandbox)).toEqual([]);
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST', times: 1 });
  expect((await run([A], { visibleAfterMs: 30_000, ...ONCE })).done).toEqual(['A created']);
  expect([posts(sandbox).length, keysOf(sandbox).size]).toEqual([2, 1]);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push creates a product again that was deleted since a killed push created it under another key', async () => {
  const setUp = setUpPush([], { quirks: { storedKey: (key) => key.trim() } });
  const { sandbox, run } = setUp;
  const row = { productNumber: 'A ' };
  await pushAndDie(setUp, [row]);
  sandbox.store.products.delete('1');
  // The service replays the response of the deleted product.
  const { results, commits } = await run([row]);
  expect(commits).toEqual(['create']);
  const reason = expect.stringContaining('the service stored another key');
  expect(results).toMatchObject([{ action: 'conflict', id: '2', reason }]);
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

test.each([
  ['first', []],
  ['last', [{ productNumber: 'other' }]],
])(
  'a push prefers the product that has the key to the one in its store, which is listed %s',
  async (_, existing) => {
    const { sandbox, run } = setUpPush(existing);
    await run([A]);
    if (existing.length === 0) sandbox.store.products.insert({});
    const [known, other] = existing.length === 0 ? (['1', '2'] as const) : (['2', '1'] as const);
    sandbox.store.products.update(known, { productNumber: 'A-old' });
    sandbox.store.products.update(other, { productNumber: 'A' });
    expect((await run([A])).results).toMatchObject([{ action: 'updated', id: other }]);
  },
);

test('a push reports a conflict if the product that its store has for one row has the key of another row', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  const rows = [A, { productNumber: 'B', name: 'Chair' }];
  for (const _ of [1, 2]) {
    const { done, commits } = await run(rows);
    expect(done).toEqual(['A conflict', 'B conflict']);
    expect(commits).toEqual([]);
  }
  // Once the rows agree with the service, the old key means nothing any more.
  expect((await run([{ productNumber: 'B', name: 'Desk' }])).done).toEqual(['B unchanged']);
  expect((await run(rows)).done).toEqual(['A created', 'B updated']);
});

test('a push reports a conflict if the product that its store has for one row is one of two with the key of another row', async () => {
  const { sandbox, run } = setUpPush([{ productNumber: 'B' }]);
  await run([A]);
  sandbox.store.products.update('2', { productNumber: 'B' });
  const { results, commits } = await run([A, { productNumber: 'B' }]);
  expect(results).toMatchObject([
    { key: 'A', action: 'conflict', ids: ['2'] },
    { key: 'B', action: 'conflict', ids: ['1', '2'] },
  ]);
  expect(commits).toEqual([]);
});

test('a push writes at most seventeen entries to its store, and rejects those of another tenant or service', async () => {
  const { entries, run } = setUpPush();
  await run(numbered(100));
  expect(entries.size).toBe(17);
  for (const key of entries.keys()) expect(key).toMatch(/^accounting-data-sdk:shop:products-push/);
  for (const [key, value] of [...entries]) entries.set(key.replace(':shop:', ':other:'), value);
  const others = [run([A], { tenant: 'other' }), setUpPush().run([A], { store: entries })];
  for (const other of others)
    expect(await caught(other)).toMatchObject({
      code: 'push_failed',
      cause: { code: 'checkpoint', message: expect.stringContaining('another base URL or tenant') },
    });
});

test('a push does not renumber a product that was pushed under another key since', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  await run([{ productNumber: 'B', name: 'Desk' }]);
  expect((await run([A])).done).toEqual(['A created']);
  expect(numbersOf(sandbox)).toEqual(['B', 'A']);
  sandbox.store.products.update('1', { productNumber: 'C' });
  // The product was that of A and of B, and has neither key now.
  sandbox.store.products.delete('2');
  expect((await run([{ productNumber: 'B', name: 'Desk' }])).done).toEqual(['B updated']);
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
    sandbox.faults.add({ kind: 'lost-response', committed }, { method: 'POST', skip: 1, times: 1 });
    const { done } = await run([{ productNumber: 'B' }, A, { productNumber: 'C' }]);
    expect(done).toEqual(['A created', 'B created', 'C created']);
    expect(posts(sandbox)).toHaveLength(committed ? 3 : 4);
    expect(sandbox.store.products.all()).toHaveLength(3);
  },
);

/** A service that ignores Idempotency-Key and loses the response to the first create. */
function setUpLoss(committed: boolean) {
  const setUp = setUpPush([], {
    sandbox: { idempotency: { replay: 'ignored' } },
    client: { retry: { creates: false, maxAttempts: 1 }, timeoutMs: 5_000 },
  });
  setUp.sandbox.faults.add({ kind: 'lost-response', committed }, { method: 'POST', times: 1 });
  return setUp;
}

test('a push does not repeat a lost create if the list has a product whose key cannot be read', async () => {
  const { sandbox, run } = setUpLoss(true);
  const body = (text: string) => text.replace('"productNumber":"A"', '"productNumber":17');
  sandbox.faults.add({ kind: 'rewrite', body }, { method: 'GET', times: 9 });
  const { done, results } = await run([A]);
  expect(done).toEqual(['A failed']);
  expect(results[0]?.error?.message).toContain('product 1, which cannot be read');
  expect(sandbox.store.products.all()).toHaveLength(1);
});

/** A service whose gateway responds to every create with half a 201, and carries out none. */
function setUpHalves(options: SandboxOptions = {}) {
  const setUp = setUpPush([], {
    sandbox: { idempotency: { replay: 'ignored' }, ...options },
    client: { retry: { creates: false, maxAttempts: 2 }, timeoutMs: 5_000 },
  });
  const half = { committed: false, status: 201, body: '{"id":"7","na' };
  const headers = { 'Content-Type': 'application/json' };
  setUp.sandbox.faults.add({ kind: 'rewrite', ...half, headers }, { method: 'POST', times: 9 });
  return setUp;
}

test('a push sends a create whose product is never found once in each of three rounds', async () => {
  const { run, sandbox } = setUpHalves();
  expect(await run([A])).toMatchObject({ done: ['A failed'], results: [{ error: { outcome: 'applied' } }] });
  expect(posts(sandbox)).toHaveLength(3);
});

test('a push does not repeat a lost create if the list that it looks in repeats products', async () => {
  const ids = { form: 'uuid' } as const;
  const { sandbox, run } = setUpHalves({ ids, order: 'updated-asc', ties: 'each-page', pageSize: 10 });
  sandbox.onRequest(({ method }) => {
    if (method === 'POST') for (const row of numbered(60)) sandbox.store.products.insert({ ...row });
  });
  expect((await run([A])).done).toEqual(['A failed']);
  expect(posts(sandbox)).toHaveLength(1);
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

test('a push waits for the create of a killed run before it reads, for visibleAfterMs, but not in a dry run', async () => {
  const setUp = setUpPush();
  const { sandbox, run } = setUp;
  await pushAndDie(setUp, [A], { committed: false });
  const waited = async (dryRun: boolean) => {
    const startedAt = Date.now();
    let firstAt: number | undefined;
    const stop = sandbox.onRequest(() => {
      firstAt ??= Date.now() - startedAt;
    });
    const { done } = await run([A], { dryRun, visibleAfterMs: 70_000 });
    stop();
    return [done, firstAt];
  };
  expect(await waited(true)).toEqual([['A created'], 0]);
  expect(await waited(false)).toEqual([['A created'], 70_000]);
});

test('a push waits once before it updates the product of a killed run that the list does not show', async () => {
  const setUp = setUpPush([], { sandbox: { hiddenRecords: ['1'] } });
  await pushAndDie(setUp, [A]);
  const startedAt = Date.now();
  const { done } = await setUp.run([{ ...A, name: 'Table' }], { visibleAfterMs: 30_000 });
  expect([done, Date.now() - startedAt]).toEqual([['A updated'], 30_000]);
});

test('a push does not renumber a product that got the key of another row since a killed run created it', async () => {
  const setUp = setUpPush();
  const { sandbox, run } = setUp;
  await pushAndDie(setUp, [A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  const { results } = await run([A, { productNumber: 'B', name: 'Chair' }]);
  expect(results).toMatchObject([
    { key: 'B', action: 'updated', id: '1' },
    { key: 'A', action: 'created', id: '2' },
  ]);
  expect(numbersOf(sandbox)).toEqual(['B', 'A']);
});

test('a push counts the looks before and after a long confirm as one', async () => {
  const { sandbox, run } = setUpPush([], { sandbox: { commitDelayMs: 20_000 } });
  expect((await run([A])).done).toEqual(['A created']);
  const confirm = async () => {
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    return true;
  };
  expect((await run([A], { confirm })).done).toEqual(['A unchanged']);
  sandbox.clock.advance(20_000);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push does not create a deleted product again if the list has one with its key, but without an id', async () => {
  const { sandbox, run } = setUpPush();
  expect((await run([A])).done).toEqual(['A created']);
  const body = (text: string) => text.replaceAll('"id":"2"', '"id":{}');
  sandbox.faults.add({ kind: 'rewrite', body }, { times: 99 });
  sandbox.store.products.delete('1');
  sandbox.store.products.insert({ ...A });
  expect((await run([A])).done).toEqual(['A failed']);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push finds out that a product was pushed under another key, even if the first look does not show it', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  await run([{ productNumber: 'B', name: 'Desk' }]);
  const isGet = { method: 'GET', path: `${CREATE}/1`, times: 1 };
  sandbox.faults.add({ kind: 'rewrite', body: '[]' }, { method: 'GET', path: CREATE, times: 1 });
  sandbox.faults.add({ kind: 'status', status: 404, type: 'not_found' }, isGet);
  expect((await run([A])).done).toEqual(['A created']);
  expect(numbersOf(sandbox)).toEqual(['B', 'A']);
});

test('a push reads each part of its store once to find out where many renumbered products belong', async () => {
  const { entries, sandbox, run } = setUpPush();
  const reads = vi.spyOn(entries, 'get');
  const rows = numbered(40);
  await run(rows);
  for (const id of sandbox.store.products.ids())
    sandbox.store.products.update(id, { productNumber: `Q-${id}` });
  reads.mockClear();
  expect((await run(rows)).report.counts).toMatchObject({ updated: 40 });
  expect(reads.mock.calls.length).toBeLessThan(40);
});
