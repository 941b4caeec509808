import { expect, test } from 'vitest';
import { BELOW_ALL, integerId, rangeOf } from '../../../src/pagination/id-bounds.ts';
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

test.each(['0', '7', '9007199254740993', '9'.repeat(39)])('the id %s is an integer, exactly', (id) => {
  expect(String(integerId(id))).toBe(id);
});

test.each(['', ' ', '00', '007', '+5', '-3', '1.0', '1e3', '0x1F', '５', '5\n', 'a', '9'.repeat(40)])(
  'the id %j is no integer',
  (id) => expect(integerId(id)).toBeUndefined(),
);

test.each([
  [undefined, BELOW_ALL, undefined],
  [{}, BELOW_ALL, undefined],
  [{ gt: '5' }, 5n, undefined],
  [{ gte: '5' }, 4n, undefined],
  [{ lt: '5' }, BELOW_ALL, 4n],
  [{ lte: '5' }, BELOW_ALL, 5n],
  [{ between: '5..9' }, 4n, 9n],
  [{ between: '5,9' }, 4n, 9n],
  [{ between: ['5', '9'] as const }, 4n, 9n],
  [{ gt: '2', gte: '5', lt: '20', lte: '12', between: ['1', '15'] as const }, 4n, 12n],
  [{ gt: '9007199254740993' }, 9007199254740993n, undefined],
])('the bounds %j leave a range', (bounds, after, through) => {
  expect(rangeOf(bounds)).toEqual({ after, through });
});

test.each([
  { gt: 'a' },
  { lte: '007' },
  { between: '5' },
  { between: '5..x' },
  { between: '1..2..3' },
  { gte: '-1' },
])('the bounds %j leave no range', (bounds) => expect(rangeOf(bounds)).toBeUndefined());
