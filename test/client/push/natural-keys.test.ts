import type { ProductDraft } from 'accounting-data-sdk';
import { expect, onTestFinished, test } from 'vitest';
import { setUpPush } from '../../support/push.ts';
import { runToEnd, startVirtualClock, stopVirtualClock } from '../../support/virtual-clock.ts';

const row = (productNumber: string, salePrice = '5'): ProductDraft => ({ productNumber, salePrice });
const keys = (text: object) => ({ sandbox: { text: { fields: ['productNumber'], ...text } } });

test.each([
  ['trims', { trim: true }, 'A '],
  ['normalises', { nfc: true }, 'Cafe\u0301'],
  ['lower-cases', { letters: 'lower' }, 'Desk'],
  ['upper-cases', { letters: 'upper' }, 'Desk'],
  ['upper-cases with another letter', { letters: 'upper' }, 'Straße'],
])(
  'a push creates one product for a key that the service %s, however often it runs',
  async (_, text, key) => {
    const { run, sandbox } = setUpPush([], keys(text));
    for (const price of ['1', '2', '3']) {
      const { results } = await run([row(key, price)]);
      expect(results).toMatchObject([{ action: 'conflict', id: '1', ids: ['1'] }]);
      expect(results[0]?.reason).toMatch(
        /^(product 1 may be the one|the service stored another key): ".+" (and|became) ".+"/,
      );
    }
    expect(sandbox.store.products.all()).toHaveLength(1);
  },
);

test.each([
  ['white space', { trim: true }, ['A', 'A ', ' A']],
  ['white space, the bare one last', { trim: true }, ['A ', ' A', 'A']],
  ['case', { letters: 'lower' }, ['A', 'a']],
  ['case on a service that upper-cases', { letters: 'upper' }, ['A', 'a']],
])('a push creates one product for rows whose keys differ only in %s', async (_, text, spelt) => {
  const { run, sandbox } = setUpPush([], keys(text));
  for (const __ of [1, 2]) await run(spelt.map((key) => row(key)));
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push reports a conflict with a product whose key another program wrote in another case', async () => {
  const { run } = setUpPush([{ productNumber: 'DESK' }]);
  const { results, commits } = await run([row('desk')]);
  expect(results).toMatchObject([{ action: 'conflict', id: '1' }]);
  expect(commits).toEqual([]);
});

test.each([
  ['STRASSE', 'Straße'],
  ['STRAẞE', 'Straße'],
  ['STRAẞE', 'STRASSE'],
  ['ΟΔΟΣ', 'οδος'],
])('a push treats %s and %s as keys that differ in case', async (stored, key) => {
  const { results, commits } = await setUpPush([{ productNumber: stored }]).run([row(key)]);
  expect([results, commits]).toMatchObject([[{ action: 'conflict', id: '1' }], []]);
});

test.each([
  ['white space', 'A '],
  ['Unicode form', 'A\u030a'],
  ['case', 'a'],
])('a push says that the key of a row differs only in %s from that of an earlier row', async (what, key) => {
  const { results } = await setUpPush().run([row(key.normalize('NFC').trim().toUpperCase()), row(key)]);
  const reason = new RegExp(
    `^an earlier row may mean the same product: ".+" and ".+" differ only in ${what}$`,
  );
  const conflict = { action: 'conflict', ids: [], reason: expect.stringMatching(reason) };
  expect(results).toContainEqual(expect.objectContaining({ key, ...conflict }));
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

test('a push updates both of two products whose keys differ only in white space', async () => {
  const { run } = setUpPush([{ productNumber: 'A' }, { productNumber: 'A ' }]);
  expect((await run([row('A'), row('A ')])).done).toEqual(['A  updated', 'A updated']);
});

test('a push stops creating products after three in a row whose key came back with a prefix', async () => {
  const { run, sandbox } = setUpPush([], keys({ prefix: 'SKU-' }));
  const { report, results } = await run(
    Array.from({ length: 9 }, (_, n) => row(String(n))),
    { concurrency: 1 },
  );
  expect(report.counts).toMatchObject({ conflict: 3, failed: 6 });
  expect(results.at(-1)).toMatchObject({
    error: {
      code: 'invalid_input',
      argument: 'key',
      message: expect.stringContaining('"2" became "SKU-2"'),
    },
  });
  expect(sandbox.store.products.all()).toHaveLength(3);
});

test('a push keeps creating products if a key in between comes back as it was sent', async () => {
  const { run } = setUpPush([], keys({ prefix: 'SKU-' }));
  const rows = ['1', '2', 'SKU-3', '4', '5', 'SKU-6', '7'].map((key) => row(key));
  const { report } = await run(rows, { concurrency: 1 });
  expect(report.counts).toMatchObject({ conflict: 5, created: 2, failed: 0 });
});

test('a push does not create the row whose key another row got from the service', async () => {
  const { run, sandbox } = setUpPush([], keys({ prefix: 'X' }));
  const { results } = await run([row('1'), row('X1')], { concurrency: 1 });
  const reason = 'an earlier row may mean the same product: the service stored its key as "X1"';
  expect(results).toContainEqual(expect.objectContaining({ key: 'X1', action: 'conflict', reason }));
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push finds the product of a lost create under another spelling of its key', async () => {
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  const { sandbox, run } = setUpPush([], {
    sandbox: { idempotency: { replay: 'ignored' }, text: { trim: true } },
    client: { retry: { creates: false, maxAttempts: 1 } },
  });
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { method: 'POST' });
  const { results } = await runToEnd(run([row('A ')]));
  expect(results).toMatchObject([{ action: 'conflict', id: '1' }]);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push creates a product again that was deleted since its key came back changed', async () => {
  const { run, sandbox } = setUpPush([], keys({ trim: true }));
  await run([row('A ')]);
  sandbox.clock.advance(60_000);
  sandbox.store.products.delete('1');
  expect((await run([row('A ')])).results).toMatchObject([{ action: 'conflict', id: '2' }]);
  expect(sandbox.store.products.all()).toHaveLength(1);
});

test('a push creates a deleted product again, and none for a row whose key differs only in case', async () => {
  const { run, sandbox } = setUpPush();
  const rows = [row('a'), row('A')];
  expect((await run(rows)).done).toEqual(['A conflict', 'a created']);
  sandbox.store.products.delete('1');
  expect((await run(rows)).done).toEqual(['A conflict', 'a created']);
  expect(sandbox.store.products.all()).toMatchObject([{ productNumber: 'a' }]);
});
