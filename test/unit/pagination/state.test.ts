import { expect, test } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import {
  BY_PAGE,
  positionOf,
  type ReadState,
  resumedState,
  stateAtStart,
  stateOf,
} from '../../../src/pagination/keyset/state.ts';

const start = stateAtStart({ hint: undefined, onlyChanges: false });
const state: ReadState = {
  ...start,
  directionKnown: true,
  hasRest: true,
  unconfirmed: true,
  rows: 17,
  longest: 30,
  after: 17n,
  through: 41n,
  restThrough: 29n,
  highest: 17n,
  width: 24n,
};

test.each([
  ['in the middle of a collection', state],
  ['of a read from the highest id down', { ...state, order: 'desc', after: -17n, through: 0n } as const],
  ['at the start', start],
  ['beyond every type of ids', { ...state, largest: undefined }],
  ['that looks behind an end', { ...state, phase: 'behind', step: 3, found: 99n } as const],
])('a position %s is read back as it was', (_, written) => {
  expect(stateOf(JSON.parse(JSON.stringify(positionOf(written))))).toEqual(written);
});

test('a read is resumed with its interval if the page size can be trusted, and with an open one if not', () => {
  const proven = resumedState({ ...state, proven: true });
  expect(proven).toMatchObject({ after: 17n, through: 41n, longest: 0, sizeHint: 30, reliedOnHint: true });
  for (const unsure of [state, { ...state, proven: true, inOrder: false }]) {
    expect(resumedState(unsure)).toMatchObject({ after: 17n, through: undefined, longest: 0, sizeHint: 0 });
  }
  // The rest of a short response may have been written meanwhile, and pages behind an end as well.
  expect(proven).toMatchObject({ hasRest: false, looked: false, phase: 'interval' });
});

test('a read that continued by page has no state', () => {
  expect(stateOf(BY_PAGE)).toBeUndefined();
});

const INVALID = {
  pagination: ['pages', undefined],
  phase: ['ended', undefined],
  order: ['up', undefined],
  directionKnown: ['true', false],
  hidesRows: [1],
  after: [17.5, '1.5', '', '1'.repeat(61), null],
  largest: ['a'],
  longest: ['30', -1, 1.5],
  width: ['0x18'],
  rows: ['17', -1, Number.MAX_SAFE_INTEGER + 1],
};

test.each(Object.entries(INVALID).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  'a position with %s %j is rejected',
  (name, value) => {
    expect(() => stateOf({ ...positionOf(state), [name]: value })).toThrow(CheckpointError);
  },
);
