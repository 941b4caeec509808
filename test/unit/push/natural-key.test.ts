import { expect, test } from 'vitest';
import { folded, lookOf } from '../../../src/push/natural-key.ts';

const INVISIBLE =
  '200B 200C 200D 200E 2060 2063 00AD FE0F FEFF 034F 202A 202E 2066 061C 180E 3164 E0041 0000 0007 001F 007F 0085';

test.each(INVISIBLE.split(' '))('the invisible U+%s makes no other key', (code) => {
  const character = String.fromCodePoint(Number.parseInt(code, 16));
  for (const [plain, other] of [
    ['A1', `A${character}1`],
    ['A1', `A1${character}`],
    [`${character}A 1`, `A ${character} 1`],
  ] as const)
    expect(folded(other)).toBe(folded(plain));
});

test.each([
  ['STRASSE', 'Straße'],
  ['STRAẞE', 'Straße'],
  ['STRAẞE', 'STRASSE'],
  ['ΟΔΟΣ', 'οδος'],
  ['A 1', ' A\u00a0\t 1 '],
  ['A1', 'A1\u3000'],
  ['Café', 'Cafe\u0301'],
  ['desk-1', 'DESK-1'],
])('%j and %j are one key', (one, other) => {
  expect(folded(one)).toBe(folded(other));
  expect(lookOf(one)).toBe(lookOf(other));
});

test('keys that differ in visible characters are different', () => {
  const keys = ['A1', 'A 1', 'A-1', 'A_1', 'A.1', 'A1\u0301', 'Ä1', '１A', 'A²', 'A2', 'Ａ2', '01', '1'];
  expect(new Set(keys.map(folded)).size).toBe(keys.length);
});

test.each([
  ['A²', 'a2'],
  ['Ａ２', 'A2'],
  ['№ 5', 'no 5'],
  ['½', '1⁄2'],
])('%j and %j are two keys that look alike', (one, other) => {
  expect(folded(one)).not.toBe(folded(other));
  expect(lookOf(one)).toBe(lookOf(other));
});
