import type { ProductDraft } from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, pushAndDie, setUpPush } from '../../support/push.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const FAST = { retry: { maxAttempts: 2, baseDelayMs: 1 }, maxOutageMs: 0 };
const A: ProductDraft = { productNumber: 'A', name: 'Desk', salePrice: '129' };

const posts = ({ requests }: Sandbox) => requests.filter(({ method }) => method === 'POST');
const numbersOf = ({ store }: Sandbox) => store.products.all().map(({ productNumber }) => productNumber);
const keysOf = (sandbox: Sandbox) => new Set(posts(sandbox).map(({ idempotencyKey }) => idempotencyKey));

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

test('a push updates a product to its row if the product got a key that no row has', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'A-old' });
  expect((await run([A])).results).toMatchObject([{ action: 'updated', id: '1', fields: ['productNumber'] }]);
});

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

const row = (productNumber: string, salePrice = '5'): ProductDraft => ({ productNumber, salePrice });

/** A service that stores each product number in a form of its own. */
const setUpStoring = (storedKey: (productNumber: string) => string) =>
  setUpPush([], { quirks: { storedKey } });

const trimmed = (key: string) => key.trim();
const lowerCased = (key: string) => key.toLowerCase();

test.each([
  ['trims', trimmed, 'A '],
  ['lower-cases', lowerCased, 'Desk'],
  ['strips invisible characters from', (key: string) => key.replaceAll(/\p{Cf}/gu, ''), 'A\u200b1\u00ad'],
])(
  'a push creates one product for a key that the service %s, even if its store is lost',
  async (_, stored, key) => {
    const { run, sandbox } = setUpStoring(stored);
    for (const price of ['1', '2', '3']) {
      const store = price === '3' ? { store: new Map() } : {};
      const { results } = await run([row(key, price)], store);
      expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'] }]);
      expect(results[0]?.reason).toMatch(
        /^(product 1 may be the one|the service stored another key): ".+" (and|became) ".+"/,
      );
    }
    expect(sandbox.store.products.all()).toHaveLength(1);
  },
);

test.each([
  ['white space', trimmed, ['A', 'A ', ' A']],
  ['case on a service that upper-cases', (key: string) => key.toUpperCase(), ['A', 'a']],
])('a push creates one product for rows whose keys differ only in %s', async (_, stored, spelt) => {
  const { run, sandbox } = setUpStoring(stored);
  for (const __ of [1, 2]) await run(spelt.map((key) => row(key)));
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push fails a row whose key has no visible character', async () => {
  const { results, commits } = await setUpPush().run(['', ' ', '\u200b', '\u2800'].map((key) => row(key)));
  const failed = { action: 'failed', error: { code: 'invalid_input' } };
  expect([results, commits]).toMatchObject([[failed, failed, failed, failed], []]);
});

test('a push tells keys apart that differ only in case if a product has each of them, and no others', async () => {
  const twoCases = setUpPush([{ productNumber: 'ab' }, { productNumber: 'AB' }]);
  expect((await twoCases.run([row('ab'), row('AB'), row('Ab')])).done).toEqual([
    'AB updated',
    'Ab conflict',
    'ab updated',
  ]);
  const mixed = setUpPush([{ productNumber: 'Desk' }, { productNumber: 'ab' }]);
  expect((await mixed.run([row('ab'), row('AB')])).done).toEqual(['AB conflict', 'ab updated']);
});

test('a push stops creating products after three in a row whose key came back changed', async () => {
  const { run, sandbox } = setUpStoring((key) => `SKU-${key}`);
  const rows = Array.from({ length: 9 }, (_, n) => row(`a ${n} `));
  const { report, results } = await run(rows, { concurrency: 1 });
  expect(report.counts).toMatchObject({ conflict: 3, failed: 6 });
  const message = expect.stringContaining('"a 2 " became "SKU-a 2 "');
  expect(results.at(-1)).toMatchObject({ error: { code: 'invalid_input', argument: 'key', message } });
  expect(sandbox.store.products.all()).toHaveLength(3);
});

test('a push keeps creating products if a key in between comes back as it was sent', async () => {
  const { run } = setUpStoring((key) => (key.startsWith('SKU-') ? key : `SKU-${key}`));
  const rows = ['1', '2', 'SKU-3', '4', '5', 'SKU-6', '7'].map((key) => row(key));
  const { report } = await run(rows, { concurrency: 1 });
  expect(report.counts).toMatchObject({ conflict: 5, created: 2, failed: 0 });
});

test('a push does not create the row whose key another row got from the service', async () => {
  const { run, sandbox } = setUpStoring((key) => (key.startsWith('X') ? key : `X${key}`));
  const { results } = await run([row('1'), row('X1')], { concurrency: 1 });
  const reason = 'an earlier row may mean the same product: the service stored its key as "X1"';
  expect(results).toContainEqual(expect.objectContaining({ key: 'X1', action: 'conflict', reason }));
  expect(sandbox.store.products.all()).toHaveLength(1);
});
