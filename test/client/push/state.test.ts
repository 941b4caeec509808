import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, ONCE, pushAndDie, setUpPush, storeOver } from '../../support/push.ts';
import { advance, useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const DESK: ProductDraft = { productNumber: '1001', name: 'Desk' };
const SCREW: ProductDraft = { articleCode: '1001', name: 'Screw' };
const HEAD = 'accounting-data-sdk:shop:products-push';
/** What is known of p-3 of `numbered`. */
const PART = `${HEAD}:key:c`;

test('a push keeps the ids and the unknown creates of each natural key apart in one store', async () => {
  const { entries, run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'disconnect', reset: true, committed: false }, { method: 'POST' });
  expect((await run([DESK], { ...ONCE, key: 'productNumber' })).done).toEqual(['1001 failed']);
  expect((await run([SCREW], { ...ONCE, key: 'articleCode' })).done).toEqual(['1001 failed']);
  for (const key of ['productNumber', 'articleCode'])
    expect(entries.get(HEAD)).toContain(`"${key}":{"sent":{"1001"`);
  sandbox.faults.clear();
  expect((await run([SCREW], { ...ONCE, key: 'articleCode' })).done).toEqual(['1001 created']);
  expect(entries.get(HEAD)).toContain('"productNumber":{"sent":{"1001"');
  const { done } = await run([SCREW], { key: (row) => row.articleCode, keyName: 'article' });
  expect(done).toEqual(['1001 unchanged']);
  expect((await run([DESK], { key: 'productNumber' })).report.counts).toMatchObject({ created: 1 });
  expect((await run([DESK], { key: 'productNumber' })).done).toEqual(['1001 unchanged']);
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Screw' }, { name: 'Desk' }]);
});

test('a push reports a conflict if the product of a stored id has no key', async () => {
  const { run } = setUpPush();
  await run([DESK]);
  // The same name for another key: a mistake of the caller.
  const { results, commits } = await run([SCREW], { key: ({ articleCode }) => articleCode });
  const reason = expect.stringContaining('product 1, which was pushed under this key before, has no key');
  expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'], reason }]);
  expect(commits).toEqual([]);
});

test('a push does not create a product again if its process was killed after a chunk of creates, and reads lag behind', async () => {
  const { entries, run, sandbox } = setUpPush([], { sandbox: { newRecords: { listedAfterMs: 3_600_000 } } });
  const rows = numbered(104);
  const killed = new AbortController();
  const set = (key: string, value: string) => {
    killed.signal.throwIfAborted();
    entries.set(key, value);
  };
  const store = { get: (key: string) => entries.get(key), set };
  let posts = 0;
  const stop = sandbox.onRequest(({ method }) => {
    if (method === 'POST' && ++posts === 102) killed.abort(new Error('killed'));
  });
  await caught(run(rows, { signal: killed.signal, concurrency: 1, store }));
  stop();
  // A request shows products that the list lacks, so it may lack those of the creates that were lost.
  const { report, results } = await run([...rows, { productNumber: 'NEW' }]);
  expect(report).toMatchObject({ complete: 'likely', counts: { created: 0, unchanged: 100, failed: 5 } });
  const message = expect.stringContaining('The list is incomplete');
  expect(results.filter(({ action }) => action === 'failed')).toMatchObject(
    Array(5).fill({ error: { code: 'unexpected_response', message } }),
  );
  await advance(3_600_000);
  expect((await run(rows)).report.counts).toMatchObject({ failed: 0 });
  const numbers = sandbox.store.products.all().map(({ productNumber }) => productNumber);
  expect([numbers.length, new Set(numbers).size]).toEqual([104, 104]);
});

test('a push knows the products of a killed push by their ids, although another one has written since', async () => {
  const { entries, run, sandbox } = setUpPush();
  const killed = new AbortController();
  const set = (key: string, value: string) => {
    killed.signal.throwIfAborted();
    entries.set(key, value);
  };
  const store = { get: (key: string) => entries.get(key), set };
  const stop = sandbox.onRequest(({ method }) => {
    if (method === 'POST' && sandbox.store.products.all().length === 101) killed.abort(new Error('killed'));
  });
  await caught(run(numbered(104), { signal: killed.signal, concurrency: 1, store }));
  stop();
  // Those of the first chunk.
  const { products } = sandbox.store;
  const rows = products.all().slice(0, 100);
  const sent = rows.map(({ productNumber }) => ({ productNumber: `${productNumber}` }));
  await run([{ productNumber: 'other' }]);
  for (const { id } of rows) products.update(id, { productNumber: `R-${id}` });
  expect((await run(sent)).report.counts).toMatchObject({ created: 0, updated: 100 });
});

test.each([
  [HEAD, '"v":9'],
  [HEAD, '"open":1'],
  [HEAD, '"open":{"key":1}'],
  [HEAD, '"open":{"another":{}}'],
  [HEAD, '"open":{"key":{"made":{}}}'],
  [HEAD, '"open":{"key":{"sent":{}}}'],
  [HEAD, '"open":{"key":{"sent":{},"made":{"a":["1"]}}}'],
  [HEAD, '"open":{"key":{"sent":{"A":1},"made":{}}}'],
  [HEAD, '"open":{"key":{"sent":{"A":{"draft":"{}","sendings":1}},"made":{}}}'],
  [HEAD, '"open":{"key":{"sent":{"A":{"idempotencyKey":"1","sendings":1}},"made":{}}}'],
  [HEAD, '"open":{"key":{"sent":{"A":{"idempotencyKey":"1","draft":"{}","sendings":0.5}},"made":{}}}'],
  [PART, '"products":1'],
  [PART, '"products":{"a":"1"}'],
  [PART, '"products":{"a":["1"]}'],
  [PART, '"products":{"a":[1,null]}'],
  [PART, '"products":{"a":["1",true]}'],
  [PART, '"products":{"a":["1",null,2]}'],
])('a push rejects the entry %s with the damage %s, and names it', async (key, damage) => {
  const { entries, run, sandbox } = setUpPush();
  const rows = numbered(4);
  await run(rows);
  const [name] = damage.split(':');
  entries.set(key, (entries.get(key) ?? '').replace(new RegExp(`${name}:.*$`), `${damage}}`));
  sandbox.clearLogs();
  const error = await caught(run(rows));
  expect(error).toMatchObject({ code: 'push_failed', cause: { code: 'checkpoint' } });
  expect((error as { cause: Error }).cause.message).toContain(key);
  expect(sandbox.requests).toEqual([]);
});

test('a push that stops keeps the creates of a killed push that it did not repeat', async () => {
  const setUp = setUpPush([], { sandbox: { hiddenRecords: ['1', '2'] } });
  const { entries, run, sandbox } = setUp;
  const rows = [DESK, { productNumber: '1002' }];
  await pushAndDie(setUp, rows, { creates: 2 });
  const denied = { kind: 'status', status: 401, type: 'unauthenticated' } as const;
  sandbox.faults.add(denied, { method: 'POST', times: 1 });
  await caught(run(rows, { concurrency: 1 }));
  for (const key of ['1001', '1002']) expect(entries.get(HEAD)).toContain(`"${key}":{"idempotencyKey"`);
  // Repeated under their keys, because the list does not show them.
  expect((await run(rows)).done).toEqual(['1001 created', '1002 created']);
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push reports why it stopped although its store fails after that, and keeps no create that was rejected', async () => {
  const { entries, run, sandbox } = setUpPush();
  const denied = { kind: 'status', status: 401, type: 'unauthenticated' } as const;
  sandbox.faults.add(denied, { method: 'POST', times: 2 });
  const rejected = { code: 'push_failed', cause: { code: 'unauthenticated' } };
  expect(await caught(run([DESK]))).toMatchObject(rejected);
  expect(entries.get(HEAD)).not.toContain('idempotencyKey');
  const set = (key: string, value: string) => {
    if (sandbox.count(({ status }) => status === 401) > 0) throw new Error('the disk is full');
    entries.set(key, value);
  };
  const store = { get: (key: string) => entries.get(key), set };
  expect(await caught(run([DESK], { store }))).toMatchObject(rejected);
});

test('a push keeps the entry that it writes with each chunk of creates small', async () => {
  const { run } = setUpPush([], { sandbox: { rateLimit: false } });
  const entries = new Map<string, string>();
  let largest = 0;
  const store = storeOver(entries, (key, value) => {
    if (key === HEAD) largest = Math.max(largest, Object.keys(JSON.parse(value).open.key?.made ?? {}).length);
  });
  const { report } = await run(numbered(2_300), { store, concurrency: 50 });
  expect(report.counts.created).toBe(2_300);
  // The products of 2,000 creates, and those of one chunk more.
  expect(largest).toBeGreaterThan(1_000);
  expect(largest).toBeLessThanOrEqual(2_100);
});

test('a push of two spellings of a key, each with a product, forgets what it had stored of one', async () => {
  const { entries, run, sandbox } = setUpPush();
  const rows = [
    { productNumber: 'AB', name: 'Desk' },
    { productNumber: 'ab', name: 'Chair' },
  ];
  await run(rows.slice(0, 1));
  const stored = () => [...entries.values()].join('');
  expect(stored()).toContain('"ab":[');
  sandbox.store.products.insert({ productNumber: 'ab', name: 'Chair' });
  expect((await run(rows)).done).toEqual(['AB unchanged', 'ab unchanged']);
  expect(stored()).not.toContain('"ab":[');
});
