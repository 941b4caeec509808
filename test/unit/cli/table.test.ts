import { expect, test } from 'vitest';
import { tableLines } from '../../../src/cli/table.ts';

const HEAD = ['name', 'what'];
const LONG = `${'word '.repeat(5)}${'x'.repeat(30)}`;

test.each<[columns: number | undefined, lines: readonly string[]]>([
  // Names have 6 columns with the gap, so that 24 are left.
  [30, ['name  what', 'ab    word word word word word', `      ${'x'.repeat(24)}`, `      ${'x'.repeat(6)}`]],
  // Too narrow to be read: the terminal breaks the line.
  [25, ['name  what', `ab    ${LONG}`]],
  [undefined, ['name  what', `ab    ${LONG}`]],
])('the last column of a table wraps in %s columns', (columns, lines) => {
  expect(tableLines([['ab', LONG]], { head: HEAD, columns })).toEqual(lines);
});
