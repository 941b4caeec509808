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
  assumedEmpty: true,
  mayMissRows: true,
  rows: 17,
  mostRows: 30,
  after: 17n,
  through: 41n,
  assumedEmptyThrough: 29n,
  highest: 17n,
  width: 24n,
};

test.each([
  ['in the middle of a collection', state],
  ['of a read from the highest id down', { ...state, order: 'desc', after: -17n, through: 0n } as const],
  ['at the start', start],
  ['beyond every type of ids', { ...state, idLimit: undefined }],
  ['that looks behind an end', { ...state, phase: 'later_pages', page: 3, foundKey: 99n } as const],
])('a position %s is read back as it was', (_, written) => {
  expect(stateOf(JSON.parse(JSON.stringify(positionOf(written))))).toEqual(written);
});

test('a read is resumed with its interval if the page size can be trusted, and with an open one if not', () => {
  const sortedById = resumedState({ ...state, sortedById: true });
  expect(sortedById).toMatchObject({
    after: 17n,
    through: 41n,
    mostRows: 0,
    pageSizeHint: 30,
    reliedOnHint: true,
  });
  for (const unsure of [state, { ...state, sortedById: true, inOrder: false }]) {
    expect(resumedState(unsure)).toMatchObject({
      after: 17n,
      through: undefined,
      mostRows: 0,
      pageSizeHint: 0,
    });
  }
  // The rest of a short response may have been written meanwhile, and pages behind an end as well.
  expect(sortedById).toMatchObject({ assumedEmpty: false, laterPagesRead: false, phase: 'interval' });
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
  idLimit: ['a'],
  mostRows: ['30', -1, 1.5],
  width: ['0x18'],
  rows: ['17', -1, Number.MAX_SAFE_INTEGER + 1],
};

test.each(Object.entries(INVALID).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  'a position with %s %j is rejected',
  (name, value) => {
    expect(() => stateOf({ ...positionOf(state), [name]: value })).toThrow(CheckpointError);
  },
);
