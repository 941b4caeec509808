import { expect, test } from 'vitest';
import { BELOW_ALL } from '../../../src/pagination/id-bounds.ts';
import { boundsOf, DIRECTIONS, idLimitOf } from '../../../src/pagination/keyset/direction.ts';

const UNBOUNDED = { idLimit: undefined };
const { asc, desc } = DIRECTIONS;

test.each([
  [undefined, undefined, undefined, undefined],
  [5n, undefined, { gt: '5' }, { lt: '5' }],
  [undefined, 9n, { lte: '9' }, { gte: '9' }],
  [5n, 9n, { gt: '5', lte: '9' }, { lt: '5', gte: '1' }],
])(
  'the bounds of an interval from %s to %s are sent with the usual operators',
  (after, through, up, down) => {
    expect(boundsOf({ after, through }, asc, UNBOUNDED)).toEqual(up);
    // Downwards the keys are negative; 9 ids up from 5 are 4 down from it.
    const below = after === undefined ? undefined : -after;
    const least = through === undefined ? undefined : after === undefined ? -through : -1n;
    expect(boundsOf({ after: below, through: least }, desc, UNBOUNDED)).toEqual(down);
  },
);

test('the bounds of an interval leave the operators of the caller to the caller', () => {
  const up = { after: 5n, through: 9n };
  expect(boundsOf(up, asc, { ...UNBOUNDED, caller: { gt: '1' } })).toEqual({ gte: '6', lte: '9' });
  expect(boundsOf(up, asc, { ...UNBOUNDED, caller: { lte: '20' } })).toEqual({ gt: '5', lt: '10' });
  expect(boundsOf(up, asc, { ...UNBOUNDED, caller: { gte: '1', lt: '20' } })).toEqual({
    gt: '5',
    lte: '9',
  });
  const down = { after: -9n, through: -5n };
  expect(boundsOf(down, desc, { ...UNBOUNDED, caller: { lt: '20' } })).toEqual({ lte: '8', gte: '5' });
  expect(boundsOf(down, desc, { ...UNBOUNDED, caller: { gte: '1' } })).toEqual({ lt: '9', gt: '4' });
});

test('the bounds of an interval never exceed the largest bound, even if that replaces one of the caller', () => {
  const idLimit = 2_147_483_647n;
  const interval = { after: idLimit, through: undefined };
  expect(boundsOf(interval, asc, { idLimit, caller: { gt: '1' } })).toEqual({ gt: '2147483647' });
  const upTo = { after: undefined, through: idLimit };
  expect(boundsOf(upTo, asc, { idLimit, caller: { lte: '3000000000' } })).toEqual({ lte: '2147483647' });
});

test('the bounds of an interval send nothing that excludes no id', () => {
  expect(boundsOf({ after: BELOW_ALL, through: undefined }, asc, UNBOUNDED)).toBeUndefined();
  expect(boundsOf({ after: undefined, through: 0n }, desc, UNBOUNDED)).toBeUndefined();
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
