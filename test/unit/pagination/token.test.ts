import { expect, test } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import {
  type Learned,
  type ReadState,
  type ResumedAt,
  startOf,
} from '../../../src/pagination/keyset/read.ts';
import { positionOf, stateOf } from '../../../src/pagination/keyset/token.ts';

const context = {
  bounds: undefined,
  range: { after: -1n, through: undefined },
  onlyChanges: false,
  listOrder: 'any',
  facts: { method: 'GET', path: '/accounts', attempts: 1, outcome: 'applied' },
} as const;

const learned: Learned = {
  order: 'asc',
  inOrder: true,
  hidesPages: true,
  lostRows: true,
  cutsShort: true,
  hasFew: true,
  boundsApply: true,
  notByDate: false,
  gap: 1.5,
  highest: 41n,
  idLimit: 2_147_483_647n,
};

const again = (state: ReadState) => stateOf(JSON.parse(JSON.stringify(positionOf(state))), context);

test.each<[string, Partial<Learned>, ResumedAt]>([
  ['in the middle of a collection', {}, { after: 17n, row: 16n }],
  ['of a read from the highest id down', { order: 'desc', highest: -17n }, { after: -17n, row: -17n }],
  ['at the start', { boundsApply: false, gap: undefined, highest: undefined }, {}],
  ['beyond every type of ids', { idLimit: 10n ** 39n }, { after: 10n ** 38n, row: 10n ** 38n }],
  ['in another order', { inOrder: false }, { after: 17n }],
  [
    'of a service that shows everything',
    { hidesPages: false, lostRows: false, cutsShort: false },
    { after: 17n },
  ],
])('a position %s is read back as it was, without what may have changed', (_, changed, after) => {
  const start = startOf(context, { ...learned, ...changed }, after);
  expect(again({ ...start, pageSize: 30, depth: 4, stalled: 7, missing: [3n] })).toEqual(start);
});

test('a position has the last row that was delivered and the highest one, and no other one that is known', () => {
  const known = [3n, 16n, 18n, 20n];
  expect(again({ ...startOf(context, learned, { after: 17n }), known })?.known).toEqual([16n, 41n]);
});

test('a read that has ended is resumed behind its last row, because others may have been written', () => {
  const ended = { ...startOf(context, learned), after: 10n ** 39n, work: [], proven: [] };
  expect(again(ended)?.after).toBe(41n);
});

const INVALID = {
  pagination: ['pages', undefined],
  order: ['up', undefined],
  inOrder: ['true', false, 1],
  after: [17.5, '1.5', '', '1'.repeat(61), null],
  behind: ['x'],
  lostRows: [false],
  idLimit: ['a', undefined],
  gap: ['1', 0, Number.NaN],
};

test.each(Object.entries(INVALID).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  'a position with %s %j is rejected',
  (name, value) => {
    const position = positionOf(startOf(context, learned, { after: 17n, row: 17n }));
    expect(() => stateOf({ ...position, [name]: value }, context)).toThrow(CheckpointError);
  },
);
