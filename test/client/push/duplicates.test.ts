import type { ProductDraft } from 'accounting-data-sdk';
import type { Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { numbered, productNumber, pushAndDie, setUpPush } from '../../support/push.ts';
import { useVirtualClock } from '../../support/virtual-clock.ts';

useVirtualClock();

const FAST = { retry: { maxAttempts: 2, baseDelayMs: 1 }, maxOutageMs: 0 };
const A: ProductDraft = { productNumber: 'A', name: 'Desk', salePrice: '129' };
const B: ProductDraft = { productNumber: 'B' };

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

test('a push reports a conflict if the product that its store has for one row has the key of another row, until that row has taken it', async () => {
  const { sandbox, run } = setUpPush();
  await run([A]);
  sandbox.store.products.update('1', { productNumber: 'B' });
  const rows = [A, { productNumber: 'B', name: 'Chair' }];
  const { done, results } = await run(rows);
  expect(done).toEqual(['A conflict', 'B updated']);
  const reason = expect.stringContaining('product 1, which was pushed under this key before');
  expect(results).toContainEqual(expect.objectContaining({ key: 'A', id: '1', ids: ['1'], reason }));
  // From now on the product is that of B, so A has none.
  expect((await run(rows)).done).toEqual(['A created', 'B unchanged']);
  expect(numbersOf(sandbox)).toEqual(['B', 'A']);
});

test('a push writes at most seventeen entries to its store and two that mark the run, and rejects those of another tenant or service', async () => {
  const { entries, run } = setUpPush();
  for (const _ of [1, 2, 3]) {
    await run(numbered(100));
    expect(entries.size).toBe(19);
  }
  for (const key of entries.keys()) expect(key).toMatch(/^accounting-data-sdk:shop:products-push/);
  const own = new Map<string, string>();
  await run(numbered(1), { prefix: 'own', store: own });
  for (const key of own.keys()) expect(key).toMatch(/^own:shop:products-push/);
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
  const waited = async (dryRun: boolean, options: object, pushed = A) => {
    const startedAt = Date.now();
    let firstAt: number | undefined;
    const stop = sandbox.onRequest(() => {
      firstAt ??= Date.now() - startedAt;
    });
    const { done } = await run([pushed], { dryRun, ...options });
    stop();
    return [done, firstAt];
  };
  expect(await waited(true, { visibleAfterMs: 70_000 })).toEqual([['A created'], 0]);
  expect(await waited(false, { visibleAfterMs: 70_000 })).toEqual([['A created'], 70_000]);
  // By default for timeoutMs.
  await pushAndDie(setUp, [B], { committed: false });
  expect(await waited(false, { timeoutMs: 7_000 }, B)).toEqual([['B created'], 7_000]);
});

test('a push does not create a deleted product again if the list has one with its key, but without an id', async () => {
  const { sandbox, run } = setUpPush();
  expect((await run([A])).done).toEqual(['A created']);
  const body = (text: string) => text.replaceAll('"id":"2"', '"id":{}');
  sandbox.faults.add({ kind: 'rewrite', body }, { times: 99 });
  sandbox.store.products.delete('1');
  sandbox.store.products.insert({ ...A });
  // It says nothing of other rows.
  expect((await run([A, B])).done).toEqual(['A failed', 'B created']);
  expect(sandbox.store.products.all()).toHaveLength(2);
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
  ['composes', (key: string) => key.normalize('NFC'), 'Cafe\u0301'],
])(
  'a push finds the product of a key that the service %s, even if its store is lost, and sees no difference in the key',
  async (_, stored, key) => {
    const { run, sandbox } = setUpStoring(stored);
    for (const [price, store, action, fields] of [
      ['1', {}, 'created', []],
      ['1', {}, 'unchanged', []],
      ['2', {}, 'updated', ['salePrice']],
      ['2', { store: new Map() }, 'unchanged', []],
      ['3', { store: new Map(), key: 'productNumber' }, 'updated', ['salePrice']],
    ] as const) {
      const { results } = await run([row(key, price)], store);
      expect(results).toMatchObject([{ key, action, id: '1', fields, notStored: [] }]);
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

test.each([
  ['A1 ', 'A1'],
  ['A1', '\u00a0A1'],
  ['A 1', 'A\u00a0\u20091'],
  ['A1', 'A\u200b1\ufeff'],
  ['Caf\u00e9', 'Cafe\u0301'],
  ['\u1100\u1161', '\uac00'],
  ['desk-1', 'DESK-1'],
  ['Straße', 'STRASSE'],
])('a push finds for the row %j the product %j, without a difference in the key', async (key, existing) => {
  const { run, sandbox } = setUpPush([{ productNumber: existing, salePrice: '5' }]);
  for (const by of ['productNumber', productNumber] as const) {
    const { results, commits } = await run([row(key)], { key: by, store: new Map() });
    expect([results, commits]).toMatchObject([[{ key, action: 'unchanged', id: '1' }], []]);
  }
  await run([row(key, '7')]);
  expect(sandbox.store.products.all()).toMatchObject([{ productNumber: existing, salePrice: '7.0000' }]);
});

test('a push tells keys apart that differ only in case if a product has each of them', async () => {
  const twoCases = setUpPush([{ productNumber: 'ab' }, { productNumber: 'AB' }]);
  for (const price of ['5', '6']) {
    const { done, results } = await twoCases.run([row('Ab', price), row('ab', price), row('AB', price)]);
    expect(done).toEqual(['AB updated', 'Ab duplicate', 'ab updated']);
    const duplicate = {
      action: 'duplicate',
      firstIndex: 1,
      reason: expect.stringContaining('another spelling'),
    };
    expect(results).toContainEqual(expect.objectContaining(duplicate));
  }
  // A push of one of them alone finds its own product, and the other one has no row.
  expect((await twoCases.run([row('AB', '7')])).results).toMatchObject([{ action: 'updated', id: '2' }]);
  const mixed = setUpPush([{ productNumber: 'Desk' }, { productNumber: 'ab' }]);
  expect((await mixed.run([row('AB'), row('ab'), row('desk')])).done).toEqual([
    'AB duplicate',
    'ab updated',
    'desk updated',
  ]);
});

test('a push reports a conflict if several products have the key of a row but for its spelling, or one only looks alike', async () => {
  const numbers = ['A1', 'a1', 'X2', 'Y²', 'X₂', 'Z2'];
  const { run, ids } = setUpPush(numbers.map((productNumber) => ({ productNumber })));
  const { results, commits } = await run(['A1 ', 'x²', 'y2', 'A1', 'z²', 'z₂'].map((key) => row(key)));
  expect(commits).toEqual(['update']);
  expect(results.filter(({ action }) => action === 'conflict')).toMatchObject([
    { key: 'x²', id: ids[2], ids: [ids[2], ids[4]], reason: expect.stringContaining('looks like') },
    { key: 'y2', ids: [ids[3]] },
    { key: 'z²', ids: [ids[5]] },
    { key: 'z₂', ids: [ids[5]] },
  ]);
  // Without the row that has exactly the key of one, and without its state.
  expect((await run([row('A1 ')], { store: new Map() })).results).toMatchObject([
    { action: 'conflict', ids: ids.slice(0, 2), reason: expect.stringContaining('have this key') },
  ]);
});

test('a push keeps the state of a row whose key is spelt in another way in the next file', async () => {
  const { run, sandbox } = setUpPush();
  sandbox.faults.add({ kind: 'disconnect', reset: true, committed: true }, { method: 'POST', times: 9 });
  await run([row('abc')], FAST);
  expect((await run([row(' ABC')])).done).toEqual([' ABC unchanged']);
  sandbox.store.products.update('1', { productNumber: 'renumbered' });
  expect((await run([row('Abc')])).done).toEqual(['Abc updated']);
  expect(numbersOf(sandbox)).toEqual(['Abc']);
});

test('a push writes the second of two rows with one key if the first is invalid', async () => {
  const { run, sandbox } = setUpPush([{ productNumber: 'B' }]);
  const rows = [
    { productNumber: 'A', salePrice: 'free' },
    row('A'),
    row('A', '6'),
    { productNumber: 'B', salePrice: 'free' },
    row('b'),
  ];
  const { results } = await run(rows);
  const actions = results.map(({ index, action }) => `${index} ${action}`).sort();
  expect(actions).toEqual(['0 failed', '1 created', '2 duplicate', '3 failed', '4 updated']);
  expect(results.find(({ index }) => index === 2)).toMatchObject({ firstIndex: 1 });
  expect(sandbox.store.products.all()).toHaveLength(2);
});

test('a push stops creating products after three whose key came back changed, whatever came back in between', async () => {
  const { entries, run, sandbox } = setUpStoring((key) => (key.startsWith('SKU') ? key : `SKU-${key}`));
  sandbox.store.products.insert({ productNumber: 'SKU-0', salePrice: '1' });
  const rows = ['a 0 ', 'SKU-1', 'a 1 ', 'SKU-2 ', 'a 2 ', 'SKU-0', ...numbered(5)].map((given) =>
    typeof given === 'string' ? row(given) : given,
  );
  const { report, results } = await run(rows, { concurrency: 1 });
  expect(report.counts).toMatchObject({ created: 2, conflict: 3, updated: 1, failed: 5 });
  const message = expect.stringContaining('"a 2 " became "SKU-a 2 "');
  const failed = results.filter(({ action }) => action === 'failed');
  expect(failed.at(-1)).toMatchObject({ error: { code: 'invalid_input', argument: 'key', message } });
  expect(sandbox.store.products.all()).toHaveLength(6);
  // The others were not sent, so nothing has to be looked for.
  expect([...entries.values()].join('')).not.toContain('idempotencyKey');
});
