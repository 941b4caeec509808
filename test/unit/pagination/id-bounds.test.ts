import { expect, test } from 'vitest';
import { BELOW_ALL, integerId, rangeOf } from '../../../src/pagination/id-bounds.ts';

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
