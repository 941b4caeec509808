import { expect, test } from 'vitest';
import {
  type CellKind,
  hasDecimalComma,
  isBlank,
  kindOf,
  likelyKind,
  listMark,
  readCell,
  readValue,
} from '../../../src/cli/push/cells.ts';

test.each<[cell: string, kind: CellKind, isComma: boolean]>([
  ['2,5', 'money', true],
  ['€ 1.234,50', 'money', true],
  ['12,345,6', 'number', false],
  ['1234,567', 'number', true],
  // Perhaps thousands.
  ['1,234', 'money', false],
  ['1,234.50', 'money', false],
  ['2,5', 'integer', false],
  ['2,5', 'string', false],
])('%j of the kind %s can only have a decimal comma: %s', (cell, kind, isComma) => {
  expect(hasDecimalComma(cell, kind)).toBe(isComma);
});

test.each<[cells: readonly string[], kind: CellKind]>([
  [['true', 'false'], 'boolean'],
  [['1', '0'], 'integer'],
  [['9007199254740993', '1'], 'string'],
  [['1', '2.5'], 'number'],
  [['1.50', '2.5'], 'money'],
  [['007'], 'string'],
  [['[]', '["a"]'], 'array'],
  [['[]', '{"a":1}'], 'json'],
  [[], 'string'],
])('the kind that suits all of %j is %s', (cells, kind) => {
  expect(likelyKind(cells)).toBe(kind);
});

test('the kind of a value of NDJSON is that of its type', () => {
  const kinds = [true, 5, 2.5, ['a'], { a: 1 }, 'x', null].map(kindOf);
  expect(kinds).toEqual(['boolean', 'integer', 'number', 'array', 'json', 'string', 'string']);
});

test.each<[cell: string, kind: CellKind, blank: boolean]>([
  ['', 'money', true],
  [' \t', 'array', true],
  [' ', 'string', false],
  ['', 'string', false],
  ['0', 'integer', false],
])('the cell %j of the kind %s has no content: %s', (cell, kind, blank) => {
  expect(isBlank(cell, kind)).toBe(blank);
});

test.each([
  ['alu, slim', ['alu, slim'], 'mark'],
  ['a;b', ['a;b'], 'mark'],
  ['a\nb', ['a\nb'], 'line break'],
  [' {a,b}', ['{a,b}'], 'brace'],
  ['["a,b"]', ['a,b'], undefined],
  ['a,b|c', ['a,b', 'c'], undefined],
  ['alu', ['alu'], undefined],
])('the cell %j, read as the list %j, may have another separator: %s', (cell, value, mark) => {
  expect(listMark(cell, value)).toBe(mark);
});

const POINT = { decimal: '.', listSeparator: '|' } as const;
const COMMA = { decimal: ',', listSeparator: ';' } as const;

test.each<[cell: string, kind: CellKind, form: typeof POINT | typeof COMMA, value: unknown]>([
  [' 5.50 ', 'money', POINT, '5.50'],
  ['5,50', 'money', COMMA, '5.50'],
  ['5.50', 'money', COMMA, undefined],
  ['1,234,5', 'money', COMMA, undefined],
  ['-2,0', 'integer', COMMA, -2],
  ['2.5', 'integer', POINT, undefined],
  ['1e+3', 'number', POINT, 1_000],
  ['1e3', 'number', POINT, undefined],
  ['0.1234567890123456789', 'number', POINT, undefined],
  [' 1 ', 'boolean', POINT, true],
  ['0', 'boolean', POINT, false],
  ['N', 'boolean', POINT, false],
  ['2', 'boolean', POINT, undefined],
  [' a ;; b|c ', 'array', COMMA, ['a', 'b|c']],
  ['["a;b"]', 'array', COMMA, ['a;b']],
  ['[5', 'array', COMMA, undefined],
  ['{"a":[1.5]}', 'json', COMMA, { a: [1.5] }],
  [' 5.50 ', 'string', COMMA, ' 5.50 '],
])('the cell %j of the kind %s with %j is %j', (cell, kind, form, value) => {
  const read = readCell(cell, kind, form);
  expect([read.value, read.problem === undefined]).toEqual([value, value !== undefined]);
});

test.each<[value: unknown, kind: CellKind, read: unknown]>([
  [1, 'boolean', true],
  [0, 'boolean', false],
  [2, 'boolean', 2],
  [1, 'integer', 1],
  [' ["a"]', 'array', ['a']],
  ['["a"]', 'string', '["a"]'],
  ['a|b', 'array', 'a|b'],
  [['a'], 'array', ['a']],
  [null, 'array', null],
])('%j of the kind %s in NDJSON is %j', (value, kind, read) => {
  expect(readValue(value, kind)).toEqual({ value: read });
});
