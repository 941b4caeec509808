import { expect, test } from 'vitest';
import { collectionNames } from '../../../src/collections/index.ts';
import { isNamedLikeMoney, isNamedUnlikeMoney, singular, wordsOf } from '../../../src/explore/names.ts';

test.each([
  ['salePrice', 'sale price'],
  ['VATAmount', 'vat amount'],
  ['line2Amount', 'line2 amount'],
  ['total_amount', 'total amount'],
  ['unit-price.net', 'unit price net'],
  ['grüneÄhre', 'grüne ähre'],
])('the words of %s are %s', (name, words) => {
  expect(wordsOf(name).join(' ')).toBe(words);
});

test('the last word of a name says whether it is that of an amount', () => {
  const names = [
    'totalAmount',
    'VATAmount',
    'PRICE',
    'credit_limit',
    'salePriceDecimals',
    'priceList',
    'weight',
  ];
  expect(names.filter(isNamedLikeMoney)).toEqual(names.slice(0, 4));
  expect([...names, 'netWeight', 'vat-percentage', 'weightUnit'].filter(isNamedUnlikeMoney)).toEqual([
    'weight',
    'netWeight',
    'vat-percentage',
  ]);
});

test('the singular of a collection has the same words as its segment but for the last', () => {
  const names = new Map(collectionNames.map((name) => [name as string, singular(name).join(' ')]));
  expect(names.get('accountAddresses')).toBe('account address');
  expect(names.get('bankPayerMemories')).toBe('bank payer memory');
  expect([...names].filter(([name, one]) => wordsOf(name).join(' ') === one)).toEqual([]);
});
