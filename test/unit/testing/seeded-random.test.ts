import { expect, test } from 'vitest';
import { cents } from '../../../src/testing/data/seeded-random.ts';

test.each([
  [5, '0.0500'],
  [95, '0.9500'],
  [12_345, '123.4500'],
  [-5, '-0.0500'],
  [-12_345, '-123.4500'],
])('writes %i cents as %s', (value, amount) => {
  expect(cents(value)).toBe(amount);
});
