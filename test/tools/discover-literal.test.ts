import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { forComment, key, literal } from '../../src/tools/discover/literal.ts';

const texts = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom("'", '"', '\\', '`', '$', '{', '\n', '\u2028', '*', '/', 'a') }),
);

describe('a text from the service', () => {
  test('is the same text when TypeScript reads it', () => {
    fc.assert(
      fc.property(texts, (text) => {
        expect(new Function(`return ${literal(text)};`)()).toBe(text);
        expect(literal(text)).not.toMatch(/[\n\r\u2028\u2029]/);
      }),
    );
  });

  test('is the same name as the key of an object', () => {
    fc.assert(
      fc.property(
        texts.filter((text) => text !== '__proto__'),
        (text) => {
          const object = new Function(`return ({ ${key(text)}: 1 });`)() as object;
          expect(Object.keys(object)).toEqual([text]);
        },
      ),
    );
  });

  test('ends neither a comment nor its line', () => {
    expect(forComment('a */ b **/ c\n// d')).toBe('a * / b ** / c // d');
    fc.assert(
      fc.property(texts, (text) => {
        expect(forComment(text)).not.toMatch(/\*\/|[\n\r\u2028\u2029]/);
      }),
    );
  });
});
