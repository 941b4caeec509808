import { expect, test } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import { BY_PAGE, positionOf, type ReadState, stateOf } from '../../../src/pagination/keyset/position.ts';

const state: ReadState = {
  after: 17n,
  descending: false,
  directionKnown: true,
  inOrder: true,
  proven: false,
  shortPages: false,
  unconfirmed: true,
  largest: 2_147_483_647n,
  longest: 30,
  width: 24n,
  rows: 17,
};

test.each([
  ['in the middle of a collection', state],
  ['of a read from the highest id down', { ...state, after: -17n, descending: true }],
  ['at the start', { ...state, after: undefined, largest: undefined, width: undefined, longest: 0, rows: 0 }],
])('a position %s is read back as it was', (_, written) => {
  expect(stateOf(positionOf(written))).toEqual(written);
});

test('a read that continued by page has no state', () => {
  expect(stateOf(BY_PAGE)).toBeUndefined();
});

const INVALID = {
  pagination: ['pages', undefined],
  order: ['up', undefined],
  directionKnown: ['true', undefined],
  inOrder: [1, undefined],
  proven: ['', undefined],
  shortPages: [0, undefined],
  unconfirmed: [null, undefined],
  id: [17, '-1', '1.5', '1'.repeat(61)],
  largest: [2_147_483_647, 'a'],
  longest: ['30', -1, 1.5, undefined],
  width: [24, '0x18'],
  rows: ['17', -1, Number.MAX_SAFE_INTEGER + 1, undefined],
};

test.each(Object.entries(INVALID).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  'a position with %s %j is rejected',
  (name, value) => {
    expect(() => stateOf({ ...positionOf(state), [name]: value })).toThrow(CheckpointError);
  },
);
