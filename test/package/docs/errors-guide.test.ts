import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { namesIn, root, tableRows } from './code-blocks.ts';

/** Every code in the sources of the error classes. */
const codes = readdirSync(`${root}src/errors`).flatMap((file) => {
  const source = readFileSync(`${root}src/errors/${file}`, 'utf8');
  return [...source.matchAll(/readonly code = '(\w+)'/g)].map(([, code = '']) => code);
});

test('the table of codes in the errors guide has one row for each code', () => {
  const rows = tableRows('src/guides/errors.md', 'code');
  expect(codes.length).toBeGreaterThan(15);
  expect(rows.map(([code = '']) => namesIn(code)[0]).toSorted()).toEqual(codes.toSorted());
});
