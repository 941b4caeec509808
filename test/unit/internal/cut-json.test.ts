import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cutJson } from '../../../src/internal/cut-json.ts';

test.each<[string, unknown]>([
  ['', undefined],
  ['{"type":"forb', undefined],
  ['not JSON, at all', undefined],
  ['{"type":"forbidden","title":"No', { type: 'forbidden' }],
  ['{"a":"x, \\"}","b":[1,{"c":2},{"d":', { a: 'x, "}', b: [1, { c: 2 }] }],
  ['{"violations":[{"propertyPath":"name","mess', { violations: [{ propertyPath: 'name' }] }],
])('the cut JSON %s is read as %j', (text, value) => {
  expect(cutJson(text)).toEqual(value);
});

test('JSON that is truncated anywhere is read as a value or undefined, and complete JSON as its value', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), (value, at) => {
      const text = JSON.stringify(value);
      expect(() => cutJson(text.slice(0, at % (text.length + 1)))).not.toThrow();
      expect(cutJson(text)).toEqual(JSON.parse(text));
    }),
    { seed: 5 },
  );
});
