import { expect, it } from 'vitest';
import { CheckpointError } from '../../../src/errors/checkpoint-error.ts';
import {
  type CertifiedPoint,
  isByPages,
  PAGES_POSITION,
  pageSizeOf,
  pointOf,
  positionOf,
} from '../../../src/pagination/certified-position.ts';

const point: CertifiedPoint = { descending: false, after: 42n, longest: 30, width: 120n };

it.each([
  ['going up', point, { direction: 'asc', id: '42', width: '120' }],
  ['going down', { ...point, descending: true, after: -42n }, { direction: 'desc', id: '42', width: '120' }],
  ['behind the id 0', { ...point, after: 0n }, { direction: 'asc', id: '0', width: '120' }],
  ['before anything is read', { ...point, after: undefined }, { direction: 'asc', width: '120' }],
  ['below every id', { ...point, after: -1n }, { direction: 'asc', width: '120' }],
  ['above every id', { ...point, descending: true, after: 1n }, { direction: 'desc', width: '120' }],
  ['without a width', { ...point, width: undefined }, { direction: 'asc', id: '42' }],
])('a position %s says so in plain JSON', (_, from, members) => {
  expect(positionOf(from)).toStrictEqual({ pagination: 'keyset', longest: 30, ...members });
});

it.each([
  point,
  { ...point, descending: true, after: -42n },
  { ...point, after: undefined, width: undefined, longest: 0 },
  { ...point, after: 10n ** 59n },
])('a position is read back as it was: %o', (from) => {
  expect(pointOf(JSON.parse(JSON.stringify(positionOf(from))))).toEqual(from);
});

it('a width of nothing is none: with it a walk would not get on', () => {
  const position = { pagination: 'keyset', direction: 'asc', id: '42', longest: 30, width: '0' };
  expect(pointOf(position)).toEqual({ ...point, width: undefined });
});

it('a position of a walk by pages is no point', () => {
  expect(pointOf(PAGES_POSITION)).toBeUndefined();
  expect(pointOf({ pagination: 'page' })).toBeUndefined();
  expect(isByPages(PAGES_POSITION)).toBe(true);
  expect(isByPages(positionOf(point))).toBe(false);
  expect(isByPages(undefined)).toBe(false);
});

it('a position tells the longest page, where it knows one', () => {
  expect(pageSizeOf(positionOf(point))).toBe(30);
  expect(pageSizeOf(PAGES_POSITION)).toBeUndefined();
  expect(pageSizeOf(undefined)).toBeUndefined();
});

const good = { pagination: 'keyset', direction: 'asc', id: '42', longest: 30, width: '120' };

it.each([
  { ...good, pagination: 'custom' },
  { ...good, direction: '' },
  { ...good, id: '' },
  { ...good, id: '-1' },
  { ...good, id: '5x' },
  { ...good, id: 'x5' },
  { ...good, id: '9'.repeat(61) },
  { ...good, id: null },
  { ...good, longest: 1.5 },
  { ...good, longest: 2 ** 53 },
  { ...good, longest: -1 },
  { ...good, longest: '30' },
  { ...good, width: '1.5' },
  { ...good, width: 120 },
])('refuses %j, which is no position of a certified walk', (position) => {
  expect(() => pointOf(position)).toThrow(CheckpointError);
  expect(() => pointOf(position)).toThrow('The position to resume at is none of a certified walk.');
});
