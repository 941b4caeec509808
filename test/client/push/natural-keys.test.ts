import type { ProductDraft } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { setUpPush } from '../../support/push.ts';

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
