import { expect, it } from 'vitest';
import { answerKeys, goesDown, integerIds } from '../../../src/pagination/answer-keys.ts';
import { answerOf } from './services.ts';

const keys = (...values: number[]) => values.map(BigInt);

it('reads the ids of records and then those of the rows that did not fit', () => {
  expect(integerIds(answerOf(['5', '3'], ['4', undefined, '9']))).toEqual(keys(5, 3, 4, 9));
  expect(integerIds(answerOf([]))).toEqual([]);
});

it.each([
  ['a record', answerOf(['5', 'x'])],
  ['a row that did not fit', answerOf(['5'], ['007'])],
])('reads none where the id of %s is no integer', (_, answer) => {
  expect(integerIds(answer)).toBeUndefined();
});

it.each([
  ['up', keys(1, 2, 3), false],
  ['down', keys(3, 2, 1), true],
  ['down but for one step', keys(4, 3, 5, 2, 1), true],
  ['up but for one step', keys(1, 2, 5, 3, 4), false],
  ['as often up as down', keys(1, 2, 1), false],
  ['nowhere, for one row is sent again and again', keys(7, 7, 7), false],
  ['down past a row that is sent twice', keys(3, 3, 2), true],
  ['nowhere, for there is one row', keys(7), false],
])('tells of rows that go %s', (_, ids, down) => {
  expect(goesDown(ids, ids.length)).toBe(down);
});

it('looks at the records alone for the direction: where the other rows stood is not known', () => {
  expect(goesDown(keys(1, 2, 1, 0), 2)).toBe(false);
  expect(goesDown(keys(2, 1, 5, 6, 7), 2)).toBe(true);
});

it('gives the keys in order, each once, and counts every row', () => {
  expect(answerKeys(answerOf(['1', '2', '5']), keys(1, 2, 5))).toEqual({
    rows: 3,
    keys: keys(1, 2, 5),
    displaced: 0,
  });
  expect(answerKeys(answerOf(['5', '1', '5']), keys(5, 1, 5))).toMatchObject({ rows: 3, keys: keys(1, 5) });
  expect(answerKeys(answerOf(['1', '1', '2']), keys(1, 1, 2))).toMatchObject({ rows: 3, keys: keys(1, 2) });
  expect(answerKeys(answerOf(['5'], ['3', undefined]), keys(5, 3))).toEqual({
    rows: 3,
    keys: keys(3, 5),
    displaced: 0,
  });
});

it('passes ids on as they came where they are in order', () => {
  const ids = keys(1, 2, 5);
  expect(answerKeys(answerOf(['1', '2', '5']), ids).keys).toBe(ids);
});

it.each([
  ['the last comes first', keys(4, 1, 2, 3), 3],
  ['the first comes last', keys(2, 3, 4, 1), 3],
  ['two are exchanged', keys(1, 3, 2, 4), 1],
  ['they go down', keys(5, 4, 3, 2, 1), 4],
])('tells how far a record was sent from its place: %s', (_, sent, displaced) => {
  expect(answerKeys(answerOf(sent.map(String)), sent).displaced).toBe(displaced);
});
