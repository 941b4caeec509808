import { expect, it } from 'vitest';
import { FilterIgnoredError } from '../../../src/errors/filter-ignored-error.ts';
import { BELOW_ALL, boundsGuard, integerId, rangeOf } from '../../../src/pagination/id-bounds.ts';
import { boundsOf, contains, holdsOneId, intervalOf } from '../../../src/pagination/id-interval.ts';
import { answerOf } from './services.ts';

it.each(['0', '7', '9007199254740993', '9'.repeat(39)])('takes %s for an integer id, exactly', (id) => {
  expect(String(integerId(id))).toBe(id);
});

it.each(['', ' ', '00', '007', '+5', '-3', '1.0', '1e3', '0x1F', '５', '5\n', 'a', '9'.repeat(40)])(
  'takes %j for no integer id',
  (id) => expect(integerId(id)).toBeUndefined(),
);

it.each([
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

it.each([
  { gt: 'a' },
  { lte: '007' },
  { between: '5' },
  { between: '5..x' },
  { between: '1..2..3' },
  { gte: '-1' },
])('reads no range from %j', (bounds) => expect(rangeOf(bounds)).toBeUndefined());

it('throws at a row outside the bounds, and names it', () => {
  const check = boundsGuard({ gt: '5', lte: '9' }, { method: 'GET', path: '/accounts' });
  expect(() => check(answerOf(['6', '9', 'x', '007']))).not.toThrow();
  expect(() => check(answerOf(['6', '5']))).toThrow(FilterIgnoredError);
  expect(() => check(answerOf(['10']))).toThrow(
    'GET /accounts answered with id "10", outside the bounds on id that were asked for: the service ignored the filter, or orders ids in another way.',
  );
});

it('throws at a row outside the bounds also where it does not know the call', () => {
  const check = boundsGuard({ lt: '0' }, undefined);
  expect(() => check(answerOf(['0']))).toThrow(/^GET a list answered with id "0", outside/);
});

it.each([
  [{ gt: '5' }, '5'],
  [{ gte: '5' }, '4'],
  [{ lt: '5' }, '5'],
  [{ lte: '5' }, '6'],
])('throws at a row outside a single bound: %j', (bounds, stranger) => {
  expect(() => boundsGuard(bounds, undefined)(answerOf([stranger]))).toThrow(FilterIgnoredError);
});

it('looks at no id where the bounds leave none out', () => {
  const answer = answerOf(['1']);
  Object.defineProperty(answer, 'ids', { get: () => expect.unreachable() });
  expect(() => boundsGuard({ gte: '0' }, undefined)(answer)).not.toThrow();
});

it('checks nothing without bounds, or with ones that are no integers', () => {
  expect(() => boundsGuard(undefined, undefined)(answerOf(['1']))).not.toThrow();
  expect(() => boundsGuard({ gt: 'b' }, undefined)(answerOf(['a']))).not.toThrow();
});

it.each([
  [{ after: BELOW_ALL, through: undefined }, undefined, undefined],
  [{ after: 5n, through: undefined }, { gt: '5' }, { gte: '6' }],
  [{ after: BELOW_ALL, through: 9n }, { lte: '9' }, { lt: '10' }],
  [
    { after: 5n, through: 9n },
    { gt: '5', lte: '9' },
    { lt: '10', gte: '6' },
  ],
])('asks for the range %o going up and going down', (range, up, down) => {
  expect(boundsOf(intervalOf(range, false), false)).toEqual(up);
  expect(boundsOf(intervalOf(range, true), true)).toEqual(down);
});

it.each([true, false])('asks for no bound where an interval has no end, going down: %s', (descending) => {
  expect(boundsOf({ after: undefined, through: undefined }, descending)).toBeUndefined();
  expect(boundsOf({ after: undefined, through: -5n }, true)).toEqual({ gte: '5' });
  expect(boundsOf({ after: -5n, through: undefined }, true)).toEqual({ lt: '5' });
  expect(boundsOf({ after: undefined, through: 5n }, false)).toEqual({ lte: '5' });
});

it('holds the same ids going up and going down', () => {
  const range = { after: 5n, through: 9n };
  for (let id = 0n; id < 12n; id++) {
    expect(contains(intervalOf(range, true), -id)).toBe(contains(intervalOf(range, false), id));
  }
});

it('knows an interval that has room for one id alone', () => {
  expect(holdsOneId({ after: 4n, through: 5n })).toBe(true);
  expect(holdsOneId({ after: 4n, through: 6n })).toBe(false);
  expect(holdsOneId({ after: undefined, through: 5n })).toBe(false);
});
