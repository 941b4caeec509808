import { expect, test } from 'vitest';
import { folded, spellings } from '../../../src/push/natural-key.ts';

const INVISIBLE =
  '200B 200C 200D 200E 2060 2063 00AD FE0F FEFF 034F 202A 202E 2066 061C 180E 3164 E0041 0000 0007 001F 007F 0085';

test.each(INVISIBLE.split(' '))('the invisible U+%s makes no other key', (code) => {
  const character = String.fromCodePoint(Number.parseInt(code, 16));
  for (const [plain, other] of [
    ['A1', `A${character}1`],
    ['A1', `A1${character}`],
    [`${character}A 1`, `A ${character} 1`],
  ] as const) {
    expect(folded(other)).toBe(folded(plain));
    // Both are shown, and the message says what differs.
    expect(spellings(plain, other)).toMatch(/\\(u[0-9a-f]{4}|[bt]).* differ only in/);
  }
});

test.each([
  ['STRASSE', 'Straße'],
  ['STRAẞE', 'Straße'],
  ['STRAẞE', 'STRASSE'],
  ['ΟΔΟΣ', 'οδος'],
  ['A 1', ' A\u00a0\t 1 '],
  ['Café', 'Cafe\u0301'],
])('%j and %j are one key to a service that folds', (one, other) => {
  expect(folded(one)).toBe(folded(other));
});

test('keys that differ in visible characters are different', () => {
  const keys = ['A1', 'A 1', 'A-1', 'A_1', 'A.1', 'A1\u0301', 'Ä1', '１A'];
  expect(new Set(keys.map(folded)).size).toBe(keys.length);
});
