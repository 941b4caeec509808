import { expect, test } from 'vitest';
import { cents, Dice, mix } from '../../src/testing/data/dice.ts';

const throws = <T>(count: number, one: (dice: Dice) => T): T[] => {
  const dice = new Dice(42);
  return Array.from({ length: count }, () => one(dice));
};

test('between reaches both ends and nothing beyond', () => {
  expect([...new Set(throws(500, (dice) => dice.between(-2, 3)))].sort((a, b) => a - b)).toEqual([
    -2, -1, 0, 1, 2, 3,
  ]);
});

test('pick takes every element of a list', () => {
  expect(new Set(throws(200, (dice) => dice.pick(['a', 'b', 'c'])))).toEqual(new Set(['a', 'b', 'c']));
});

test('digits are so many, the first of them not 0', () => {
  for (const count of [1, 2, 11, 15]) {
    for (const text of throws(100, (dice) => dice.digits(count)))
      expect(text).toMatch(new RegExp(`^[1-9]\\d{${count - 1}}$`));
  }
});

test('dates lie in their years', () => {
  const years = throws(300, (dice) => dice.date(2022, 2024)).map((date) => date.slice(0, 4));
  expect(new Set(years)).toEqual(new Set(['2022', '2023']));
});

test('chance comes about as often as it says', () => {
  const hits = throws(2000, (dice) => dice.chance(0.25)).filter(Boolean).length;
  expect([hits > 440, hits < 560]).toEqual([true, true]);
});

test.each([
  [0, '0.0000'],
  [5, '0.0500'],
  [-5, '-0.0500'],
  [123456, '1234.5600'],
  [-100, '-1.0000'],
])('%i cents are %s', (value, text) => {
  expect(cents(value)).toBe(text);
});

test('mix scatters neighbours over the whole range', () => {
  const upper = Array.from({ length: 1000 }, (_, i) => mix(7, i)).filter((value) => value >= 2 ** 31).length;
  expect([upper > 440, upper < 560]).toEqual([true, true]);
  expect(new Set(Array.from({ length: 10_000 }, (_, i) => mix(7, i))).size).toBeGreaterThan(9_990);
});
