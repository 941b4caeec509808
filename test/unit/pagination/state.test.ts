import { expect, test } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import {
  type IntervalState,
  positionOf,
  restarted,
  START,
  stateOf,
} from '../../../src/pagination/keyset/state.ts';

const state: IntervalState = {
  ...START,
  directionKnown: true,
  mayMissRows: true,
  sortedById: true,
  resumed: true,
  rows: 17,
  longest: 30,
  after: 17n,
  through: 41n,
  highest: 17n,
  width: 24n,
};

const again = (written: IntervalState) => stateOf(JSON.parse(JSON.stringify(positionOf(written))));

test.each([
  ['in the middle of a collection', state],
  ['of a read from the highest id down', { ...state, order: 'desc', after: -17n, through: 0n } as const],
  ['at the start', { ...START, resumed: true }],
  ['beyond every type of ids', { ...state, idLimit: undefined }],
  ['in another order', { ...state, inOrder: false, shortResponses: 7, through: undefined }],
])('a position %s is read back as it was', (_, written) => {
  expect(again(written)).toEqual(written);
});

test.each([
  { sortedById: false },
  { inOrder: false },
  { hidesRows: true },
  { longest: 0 },
  { after: undefined },
])('a read is resumed with an open interval if its page size cannot be trusted: %j', (unsure) => {
  expect(again(state)?.through).toBe(41n);
  expect(again({ ...state, ...unsure })?.through).toBeUndefined();
});

test('a read is resumed without what one response has shown: it may be no longer so', () => {
  const shown = { ...state, mostRows: 30, requestsWithoutRows: 7, timesNarrowed: 2, singleKey: 41n };
  const resumed = again({ ...shown, leftOutThrough: 29n, behindEnd: 'nothing' });
  expect(resumed).toEqual(state);
});

const INVALID = {
  pagination: ['pages', undefined],
  order: ['up', undefined],
  directionKnown: ['true', false],
  hidesRows: [1],
  after: [17.5, '1.5', '', '1'.repeat(61), null],
  idLimit: ['a'],
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

test('a read that starts again keeps what was learned of the service, and the direction only in the order of ids', () => {
  const read = { ...state, order: 'desc', mostRows: 20, longest: 30, hidesRows: true } as const;
  expect(restarted(read)).toMatchObject({
    order: 'desc',
    hidesRows: true,
    mostRows: 20,
    longest: 20,
    rows: 0,
  });
  expect(restarted({ ...read, inOrder: false }).order).toBe('asc');
});
