import { expect, test } from 'vitest';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import { boundsOf, DIRECTIONS, idLimitOf } from '../../../src/pagination/keyset/direction.ts';
import type { Interval } from '../../../src/pagination/keyset/interval.ts';
import type { IdBounds } from '../../../src/pagination/page.ts';

const LARGEST = 2_147_483_647n;

test.each<[Interval, 'asc' | 'desc', { caller?: IdBounds; idLimit?: bigint }, IdBounds | undefined]>([
  [{ after: undefined, through: undefined }, 'asc', {}, undefined],
  [{ after: 5n, through: undefined }, 'asc', {}, { gt: '5' }],
  [{ after: undefined, through: 9n }, 'asc', {}, { lte: '9' }],
  [{ after: 5n, through: 9n }, 'asc', {}, { gt: '5', lte: '9' }],
  // In descending order the keys are the negative ids.
  [{ after: undefined, through: undefined }, 'desc', {}, undefined],
  [{ after: -5n, through: undefined }, 'desc', {}, { lt: '5' }],
  [{ after: undefined, through: -9n }, 'desc', {}, { gte: '9' }],
  [{ after: -5n, through: -1n }, 'desc', {}, { lt: '5', gte: '1' }],
  // What excludes no id is not sent.
  [{ after: BELOW_ALL, through: undefined }, 'asc', {}, undefined],
  [{ after: undefined, through: 0n }, 'desc', {}, undefined],
  // The operators of the caller are left to the caller.
  [{ after: 5n, through: 9n }, 'asc', { caller: { gt: '1' } }, { gte: '6', lte: '9' }],
  [{ after: 5n, through: 9n }, 'asc', { caller: { lte: '20' } }, { gt: '5', lt: '10' }],
  [{ after: 5n, through: 9n }, 'asc', { caller: { gte: '1', lt: '20' } }, { gt: '5', lte: '9' }],
  [{ after: -9n, through: -5n }, 'desc', { caller: { lt: '20' } }, { lte: '8', gte: '5' }],
  [{ after: -9n, through: -5n }, 'desc', { caller: { gte: '1' } }, { lt: '9', gt: '4' }],
  // No bound exceeds the largest id, even if it replaces one of the caller.
  [
    { after: LARGEST, through: undefined },
    'asc',
    { idLimit: LARGEST, caller: { gt: '1' } },
    { gt: `${LARGEST}` },
  ],
  [
    { after: undefined, through: LARGEST },
    'asc',
    { idLimit: LARGEST, caller: { lte: '3000000000' } },
    { lte: `${LARGEST}` },
  ],
])('the bounds of %o, listed %s, with %o are %o', (interval, order, options, expected) => {
  expect(boundsOf(interval, DIRECTIONS[order], { idLimit: undefined, ...options })).toEqual(expected);
});

test.each([
  [-1n, 2_147_483_647n],
  [2_147_483_647n, 2_147_483_647n],
  [2_147_483_648n, 9_007_199_254_740_991n],
  [9_007_199_254_740_992n, 9_223_372_036_854_775_807n],
  [9_223_372_036_854_775_808n, undefined],
])('after the id %s the largest bound is %s', (highest, idLimit) => {
  expect(idLimitOf(highest)).toBe(idLimit);
});

test('only upwards is a bound limited by the largest id of its type: downwards the highest ids come first', () => {
  expect(DIRECTIONS.asc.keyLimit(2_147_483_647n)).toBe(2_147_483_647n);
  expect(DIRECTIONS.desc.keyLimit(2_147_483_647n)).toBeUndefined();
});
