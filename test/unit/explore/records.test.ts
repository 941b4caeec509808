import { describe, expect, test } from 'vitest';
import {
  iriFieldsOf,
  moneyAsNumbersOf,
  nullFieldsOf,
  offsetsOf,
  ordersOf,
  timestampFormOf,
} from '../../../src/explore/probe/records.ts';
import type { Row } from '../../../src/explore/rows.ts';

const day = (n: number) => `2026-01-0${n}T10:00:00Z`;
/** Rows with ids, and the days on which they were made and changed. */
const rowsOf = (ids: readonly number[], created?: readonly number[], updated?: readonly number[]): Row[] =>
  ids.map((id, at) => ({
    id: String(id),
    ...(created && { createdAt: day(created[at] ?? 1) }),
    ...(updated && { updatedAt: day(updated[at] ?? 1) }),
  }));

const MIXED = [3, 1, 5, 2, 4];
const UP = [1, 2, 3, 4, 5];

test.each<[what: string, rows: readonly Row[], orders: readonly string[] | undefined]>([
  ['too few rows', rowsOf([1, 2, 3, 4]), undefined],
  ['ids that rise, as numbers', rowsOf([8, 9, 10, 11, 100]), ['id-asc']],
  ['ids that fall', rowsOf(UP.toReversed(), MIXED), ['id-desc']],
  ['ids and times that rise', rowsOf(UP, UP, [1, 1, 1, 2, 2]), ['id-asc', 'created-asc', 'updated-asc']],
  ['times of change that fall', rowsOf(MIXED, MIXED, UP.toReversed()), ['updated-desc']],
  ['nothing that rises or falls', rowsOf(MIXED, MIXED, MIXED), ['none']],
  ['times that are all equal', rowsOf(MIXED, [1, 1, 1, 1, 1], MIXED), ['none']],
  // By a time that is not shown, perhaps.
  ['no times', rowsOf(MIXED), undefined],
  ['one time of two', rowsOf(MIXED, MIXED), undefined],
  ['dates without a time', rowsOf(MIXED).map((row) => ({ ...row, createdAt: '2026-01-01' })), undefined],
])('the orders that rows can have: %s', (_, rows, orders) => {
  expect(ordersOf(rows, 'numeric').value).toEqual(orders);
});

test('ids without an order leave the order to the times', () => {
  expect(ordersOf(rowsOf(UP, UP, MIXED), 'text').value).toEqual(['created-asc']);
  expect(ordersOf(rowsOf(UP, MIXED, MIXED), 'text').value).toBeUndefined();
});

describe('timestamps', () => {
  test.each<[texts: readonly unknown[], form: string | undefined, offsets: readonly string[] | undefined]>([
    [['2026-01-31T10:00:00Z', null], 'seconds', []],
    [['2026-01-31T10:00:00.123Z'], 'milliseconds', []],
    [['2026-01-31T10:00:00+00:00'], 'offset', []],
    [['2026-01-31T10:00:00+02:00', '2026-01-31T10:00:00+01:00'], 'offset', ['+01:00', '+02:00']],
    [['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.123Z'], 'other', []],
    [['2026-01-31', 'soon', 5], undefined, undefined],
  ])('%j have the form %s and the offsets %j', (texts, form, offsets) => {
    const rows = texts.map((updatedAt) => ({ updatedAt }));
    expect([timestampFormOf(rows).value, offsetsOf(rows).value]).toEqual([form, offsets]);
  });
});

test.each<[rows: readonly Row[], how: 'sent' | 'omitted' | undefined]>([
  [[{ id: '1', name: null }], 'sent'],
  // A field that only some records have proves nothing beside one that is null.
  [
    [
      { id: '1', name: null },
      { id: '2', name: 'x', more: 1 },
    ],
    'sent',
  ],
  [[{ id: '1' }, { id: '2', name: 'x' }], 'omitted'],
  [[{ id: '1' }, { id: '2' }], undefined],
  [[], undefined],
])('fields without a value in %j are %s', (rows, how) => {
  expect(nullFieldsOf(rows).value).toBe(how);
});

test('fields with IRIs, and amounts as numbers, are named once, in order', () => {
  const iri = '/api/public/v1/accounts/2';
  const rows = [
    { '@id': iri, ownerId: iri, accounts: [iri, 7], salePrice: 1.5, weight: 2, amount: '1.00' },
    { '@id': iri, ownerId: null, accountId: iri, salePrice: 2, totalAmount: 7, price: 8 },
  ];
  expect(iriFieldsOf(rows).value).toEqual(['accountId', 'accounts', 'ownerId']);
  // What is documented counts before a name.
  const documented = { salePrice: 'money', weight: 'money', price: 'integer' } as const;
  expect(moneyAsNumbersOf(rows, documented).value).toEqual(['salePrice', 'totalAmount', 'weight']);
  expect([iriFieldsOf([]).known, moneyAsNumbersOf([], {}).known]).toEqual([false, false]);
});
