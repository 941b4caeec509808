import fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareIds } from '../../src/testing/store/id-order.ts';

test.each([
  ['9', '10', -1],
  ['10', '9', 1],
  ['99999999999999999998', '99999999999999999999', -1],
  ['7', '7', 0],
  ['b', 'a', 1],
  ['10', '1a', -1],
  ['a', '5', 1],
])('%s against %s', (a, b, expected) => {
  expect(Math.sign(compareIds(a, b))).toBe(expected);
});

test('is a total order: sorting gives the same result from any start', () => {
  const id = fc.oneof(fc.nat(300).map(String), fc.stringMatching(/^[0-9a-c]{1,3}$/));
  fc.assert(
    fc.property(fc.uniqueArray(id, { maxLength: 12 }), fc.nat(), (list, turn) => {
      const turned = [...list.slice(turn % (list.length || 1)), ...list.slice(0, turn % (list.length || 1))];
      expect(turned.sort(compareIds)).toEqual([...list].reverse().sort(compareIds));
    }),
  );
});

test('two different ids are never the same', () => {
  const id = fc.stringMatching(/^0{0,3}[0-9a]{1,3}$/);
  fc.assert(
    fc.property(id, id, (a, b) => {
      expect(compareIds(a, b) === 0).toBe(a === b);
    }),
  );
});
