import { expect, test } from 'vitest';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import { boundsOf, idLimitOf, intervalOf } from '../../../src/pagination/keyset/direction.ts';
import { ABOVE_ALL, type Interval } from '../../../src/pagination/keyset/interval.ts';
import type { IdBounds } from '../../../src/pagination/page.ts';

const LARGEST = 2_147_483_647n;
const ids = { after: BELOW_ALL, through: undefined };
const all = { asc: intervalOf(ids, 'asc'), desc: intervalOf(ids, 'desc') };

test.each<[Interval, 'asc' | 'desc', { caller?: IdBounds; idLimit?: bigint }, IdBounds | undefined]>([
  // The operators of the caller are left to the caller.
  [{ after: 5n, through: 9n }, 'asc', { caller: { gt: '1' } }, { gte: '6', lte: '9' }],
  [{ after: 5n, through: 9n }, 'asc', { caller: { lte: '20' } }, { gt: '5', lt: '10' }],
  [{ after: -9n, through: -5n }, 'desc', { caller: { lt: '20' } }, { lte: '8', gte: '5' }],
  // No bound exceeds the largest id, even if it replaces one of the caller.
  [{ ...all.asc, after: LARGEST }, 'asc', { idLimit: LARGEST, caller: { gt: '1' } }, { gt: `${LARGEST}` }],
  [
    { ...all.asc, through: LARGEST },
    'asc',
    { idLimit: LARGEST, caller: { lte: '3000000000' } },
    { lte: `${LARGEST}` },
  ],
])('the bounds of %o, listed %s, with %o are %o', (interval, order, options, expected) => {
  const limits = { caller: undefined, idLimit: ABOVE_ALL, ...options };
  expect(boundsOf(interval, { ...limits, order, all: all[order] })).toEqual(expected);
});

test.each([
  [-1n, 2_147_483_647n],
  [2_147_483_647n, 2_147_483_647n],
  [2_147_483_648n, 9_007_199_254_740_991n],
  [9_007_199_254_740_992n, 9_223_372_036_854_775_807n],
  [9_223_372_036_854_775_808n, ABOVE_ALL],
])('after the id %s the largest bound is %s', (highest, idLimit) => {
  expect(idLimitOf(highest)).toBe(idLimit);
});

test.each([
  [{ after: 10n, through: 90n }, 'asc', { after: 10n, through: 90n }],
  [{ after: 10n, through: 90n }, 'desc', { after: -91n, through: -11n }],
  [{ after: BELOW_ALL, through: 90n }, 'desc', { after: -91n, through: 0n }],
] as const)('the ids %o, listed %s, are the keys %o', (range, order, expected) => {
  expect(intervalOf(range, order)).toEqual(expected);
});

test('a bound that the caller set is not sent again', () => {
  const caller = { gt: '10', lte: '90' };
  const interval = intervalOf({ after: 10n, through: 90n }, 'asc');
  const options = { caller, all: interval, order: 'asc', idLimit: LARGEST } as const;
  expect(boundsOf(interval, options)).toBeUndefined();
  expect(boundsOf({ ...interval, through: 50n }, options)).toEqual({ lt: '51' });
});
