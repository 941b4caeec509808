import { expect, test } from 'vitest';
import { collections } from '../../../src/collections/index.ts';
import {
  collectionName,
  decodeState,
  encodeState,
  keyPrefix,
  label,
  type SyncState,
} from '../../../src/reading/state.ts';

const state: SyncState = {
  scope: 'a1b2',
  by: 'run1',
  watermark: '2026-01-05T08:00:00Z',
  full: '2026-01-04T08:00:00Z',
  run: { watermark: '2026-01-05T09:00:00Z', since: '2026-01-05T07:58:00Z', token: 'abc' },
};

test('a state of an earlier version of the package is read, and written in the same form', () => {
  const stored =
    '{"v":1,"scope":"a1b2","by":"run1","watermark":"2026-01-05T08:00:00Z","full":"2026-01-04T08:00:00Z","run":{"watermark":"2026-01-05T09:00:00Z","since":"2026-01-05T07:58:00Z","token":"abc"}}';
  expect(decodeState(stored, 'k')).toEqual({ v: 1, ...state });
  expect(encodeState(state)).toBe(stored);
  // Some stores return it parsed.
  expect(decodeState(JSON.parse(stored), 'k')).toEqual({ v: 1, ...state });
});

test.each([undefined, null])('a state is undefined if the store has %s', (nothing) => {
  expect(decodeState(nothing, 'k')).toBeUndefined();
});

test.each([
  { v: 0 },
  { scope: 7 },
  { watermark: 'yesterday' },
  { watermark: '2026-13-05T08:00:00Z' },
  { run: null },
  { run: { ...state.run, watermark: undefined } },
  { run: { ...state.run, since: 'yesterday' } },
  { by: undefined },
  { parameters: 7 },
  { full: '2026-01-04T09:00:00+01:00' },
  { evidence: { facts: ['another'], longest: 0 } },
  { checked: 'yesterday' },
  { deep: 7 },
  { offset: 841 },
  { offset: 0.5 },
  { offset: '+01:00' },
  { round: 1.5 },
  { company: { salt: 's' } },
  { company: { salt: 's', keys: [7] } },
  { company: { keys: [] } },
  { company: { salt: 's', keys: [], known: {} } },
  { company: { salt: 's', keys: [], known: [['1', 1e15]] } },
  { company: { salt: 's', keys: [], known: [['1', null]] } },
  { company: { salt: 's', keys: [], known: [[1, 1]] } },
  { company: { salt: 's', keys: [], known: ['1'] } },
  { run: { ...state.run, token: 7 } },
  { run: { ...state.run, evidence: null } },
  { run: { ...state.run, read: 1.5 } },
  { run: { ...state.run, local: '3' } },
  { run: { ...state.run, listed: false } },
])('a state of which one member is wrong is rejected: %j', (wrong) => {
  const stored = { ...JSON.parse(encodeState(state)), ...wrong };
  expect(() => decodeState(stored, 'k')).toThrow(expect.objectContaining({ code: 'checkpoint' }));
});

test.each([
  { watermark: undefined },
  { watermark: '2026-01-05T08:00:00.123Z' },
  { full: undefined, run: undefined },
  { run: { watermark: '2026-01-05T09:00:00Z' } },
  { company: { salt: 's', keys: ['k'] } },
  {
    company: {
      salt: 's',
      keys: [],
      known: [
        ['1', 1767600000.5],
        ['2', 'in May'],
      ],
    },
  },
])('a state may lack what is not known, or hold it to the millisecond: %o', (changed) => {
  const stored = { ...JSON.parse(encodeState(state)), ...changed };
  expect(decodeState(stored, 'k')).toEqual(stored);
});

test('a state of a later version says so', () => {
  expect(() => decodeState('{"v":2}', 'k')).toThrow('later version');
});

test.each(['', 'a:b', 'ä', 'a..b', 'x'.repeat(101), undefined])(
  'the key of a state cannot have the tenant %j',
  (tenant) => expect(label.allows(tenant)).toBe(false),
);

test.each([
  ['a', true],
  ['a:b-c:D_1.2', true],
  ['x'.repeat(100), true],
  ['x'.repeat(101), false],
  ['', false],
  ['a:', false],
  [':a', false],
  ['a::b', false],
  ['a..b', false],
  ['a b', false],
  ['ä', false],
])('the key of a state can have the prefix %j: %s', (prefix, allowed) =>
  expect(keyPrefix.allows(prefix)).toBe(allowed),
);

test('the key of a state names a collection as the client does', () => {
  for (const [name, { segment }] of Object.entries(collections)) expect(collectionName(segment)).toBe(name);
  expect(collectionName('tax--2-codes')).toBe('tax2Codes');
});
