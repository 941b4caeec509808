import { expect, test } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { BELOW_ALL, boundsGuard, integerId, rangeOf } from '../../../src/pagination/id-bounds.ts';
import { answerOf } from './services.ts';

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

test('throws at a row outside the bounds, and does not show its id', () => {
  const check = boundsGuard({ gt: '5', lte: '9' }, { method: 'GET', path: '/accounts' });
  expect(() => check(answerOf(['6', '9', 'x', '007']))).not.toThrow();
  expect(() => check(answerOf(['6', '5']))).toThrow(FilterIgnoredError);
  expect(() => check(answerOf(['10']))).toThrow(
    'GET /accounts returned a record outside the requested bounds on id: the service ignored the filter, or compares ids in another way.',
  );
});

test('throws at a row outside the bounds also where it does not know the call', () => {
  const check = boundsGuard({ lt: '0' }, undefined);
  expect(() => check(answerOf(['0']))).toThrow(/^GET a list returned a record outside/);
});

test.each([
  [{ gt: '5' }, '5'],
  [{ gte: '5' }, '4'],
  [{ lt: '5' }, '5'],
  [{ lte: '5' }, '6'],
])('throws at a row outside a single bound: %j', (bounds, stranger) => {
  expect(() => boundsGuard(bounds, undefined)(answerOf([stranger]))).toThrow(FilterIgnoredError);
});

test('looks at no id where the bounds leave none out', () => {
  const answer = answerOf(['1']);
  Object.defineProperty(answer, 'ids', { get: () => expect.unreachable() });
  expect(() => boundsGuard({ gte: '0' }, undefined)(answer)).not.toThrow();
});

test('checks nothing without bounds, or with ones that are no integers', () => {
  expect(() => boundsGuard(undefined, undefined)(answerOf(['1']))).not.toThrow();
  expect(() => boundsGuard({ gt: 'b' }, undefined)(answerOf(['a']))).not.toThrow();
});
