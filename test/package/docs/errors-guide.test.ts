import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { namesIn, root, tableRows } from './code-blocks.ts';

/** Every code in the sources of the error classes. */
const codes = readdirSync(`${root}src/errors`).flatMap((file) => {
  const source = readFileSync(`${root}src/errors/${file}`, 'utf8');
  return [...source.matchAll(/readonly code = '(\w+)'/g)].map(([, code = '']) => code);
});

describe('the table of codes in the errors guide', () => {
  const rows = tableRows('src/guides/errors.md', 'code');

  test('has one row for each code', () => {
    expect(codes.length).toBeGreaterThan(15);
    expect(rows.map(([code = '']) => namesIn(code)[0]).toSorted()).toEqual(codes.toSorted());
  });

  test.for(rows)('says when, what to do and which status to return: %s', ([, when, advice, status]) => {
    expect(when).toMatch(/\w+ \w+/);
    expect(advice).toMatch(/\w+ \w+/);
    expect(status).toMatch(/^[45]\d\d(?! *\d)/);
  });
});
