import { expect, test } from 'vitest';
import { hasControlCharacters, isVisibleAscii, isWellFormed } from '../../../src/internal/text.ts';

test.each([
  ['abc', true, true, false],
  ['a b', true, false, false],
  ['ü', true, false, false],
  ['😀', true, false, false],
  ['', true, false, false],
  ['\ud800', false, false, false],
  ['a\udc00b', false, false, false],
  ['a\n', true, false, true],
  ['\u009f', true, false, true],
])('%j: well formed %s, visible ASCII %s, control characters %s', (text, ...expected) => {
  expect([isWellFormed(text), isVisibleAscii(text), hasControlCharacters(text)]).toEqual(expected);
});
