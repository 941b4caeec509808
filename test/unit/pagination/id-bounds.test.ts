import { expect, test } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { BELOW_ALL, boundsGuard, integerId, rangeOf } from '../../../src/pagination/id-bounds.ts';
import type { PageResponse } from '../../../src/pagination/page.ts';

test.each(['0', '7', '9007199254740993', '9'.repeat(39)])('takes %s for an integer id, exactly', (id) => {
  expect(String(integerId(id))).toBe(id);
});

test.each(['', ' ', '00', '007', '+5', '-3', '1.0', '1e3', '0x1F', '５', '5\n', 'a', '9'.repeat(40)])(
  'takes %j for no integer id',
  (id) => expect(integerId(id)).toBeUndefined(),
);

test.each([
  [undefined, BELOW_ALL, undefined],
  [{}, BELOW_ALL, undefined],
  [{ gt: '5' }, 5n, undefined],
  [{ gte: '5' }, 4n, undefined],
  [{ gte: '0' }, BELOW_ALL, undefined],
  [{ lt: '5' }, BELOW_ALL, 4n],
  [{ lte: '5' }, BELOW_ALL, 5n],
  [{ between: '5..9' }, 4n, 9n],
  [{ between: '5,9' }, 4n, 9n],
  [{ between: '[5,9]' }, 4n, 9n],
  [{ between: ' ("5", "9") ' }, 4n, 9n],
  [{ between: ['5', '9'] as const }, 4n, 9n],
  [{ gt: '2', gte: '5', lt: '20', lte: '12', between: ['1', '15'] as const }, 4n, 12n],
  [{ gt: '9007199254740993' }, 9007199254740993n, undefined],
])('reads the bounds %j', (bounds, after, through) => {
  expect(rangeOf(bounds)).toEqual({ after, through });
});

test.each([
  { gt: 'a' },
  { lte: '007' },
  { between: '5' },
  { between: '5..x' },
  { between: '1..2..3' },
  { gte: '-1' },
])('reads no range from %j', (bounds) => expect(rangeOf(bounds)).toBeUndefined());

const facts = { method: 'GET', path: '/accounts' };
const idsOf = (...ids: string[]) => ({ ids }) as unknown as PageResponse<unknown>;

test('throws at a row outside the bounds, and does not show its id', () => {
  const check = boundsGuard({ gt: '5', lte: '9' }, facts);
  expect(() => check(idsOf('6', '9', 'x', '007'))).not.toThrow();
  expect(() => check(idsOf('6', '5'))).toThrow(FilterIgnoredError);
  expect(() => check(idsOf('10'))).toThrow(expect.not.objectContaining({ message: /10/ }));
});

test.each([
  [{ gt: '5' }, '5'],
  [{ gte: '5' }, '4'],
  [{ lt: '5' }, '5'],
  [{ lte: '5' }, '6'],
])('throws at a row outside a single bound: %j', (bounds, outside) => {
  expect(() => boundsGuard(bounds, facts)(idsOf(outside))).toThrow(FilterIgnoredError);
});

test('checks nothing without bounds, or if they are of another form', () => {
  expect(() => boundsGuard(undefined, facts)(idsOf('1'))).not.toThrow();
  expect(() => boundsGuard({ gt: 'b' }, facts)(idsOf('a'))).not.toThrow();
});
