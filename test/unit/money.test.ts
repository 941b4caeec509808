import DecimalJs from 'decimal.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MoneyOptions, toDecimal, toMoney } from '../../src/money.ts';
import { moneyForm } from '../../src/schemas/money.ts';
import { thrown } from '../support/caught.ts';

const amount = fc.stringMatching(/^-?\d{1,18}(\.\d{1,8})?$/);
const fractionOf = (text: string) => text.split('.')[1] ?? '';
/** An amount as a count of its smallest unit: the arithmetic that decimals are judged by. */
const units = (text: string) => BigInt(text.replace('.', '') + '0'.repeat(8 - fractionOf(text).length));
const inUnits = (count: bigint) => {
  const digits = (count < 0n ? -count : count).toString().padStart(9, '0');
  return `${count < 0n ? '-' : ''}${digits.slice(0, -8)}.${digits.slice(-8)}`;
};
const LARGEST = units('999999999999999999.99999999');
const isAmount = (count: bigint) => -LARGEST <= count && count <= LARGEST;

test('calculations with amounts are exact to the last digit', () => {
  fc.assert(
    fc.property(amount, amount, fc.integer({ min: -99, max: 99 }), (first, second, times) => {
      const [a, b] = [toDecimal(first), toDecimal(second)];
      for (const { decimal, due } of [
        { decimal: a.plus(b), due: units(first) + units(second) },
        { decimal: a.minus(b), due: units(first) - units(second) },
        { decimal: a.times(times), due: units(first) * BigInt(times) },
      ]) {
        if (isAmount(due)) expect(toMoney(decimal, { digits: 8 })).toBe(inUnits(due));
        else expect(thrown(() => toMoney(decimal, { digits: 8 }))).toMatchObject({ argument: 'amount' });
      }
      expect(a.comparedTo(b)).toBe(units(first) < units(second) ? -1 : units(first) > units(second) ? 1 : 0);
    }),
    { numRuns: 150 },
  );
});

test('null and undefined are passed on', () => {
  expect(toDecimal(null)).toBeNull();
  expect(toDecimal(undefined)).toBeUndefined();
});

test.each<[string, MoneyOptions | undefined, string]>([
  ['129', undefined, '129.0000'],
  ['-0.5', undefined, '-0.5000'],
  ['1.5', { digits: undefined, rounding: undefined }, '1.5000'],
  ['12.30', { digits: 1 }, '12.3'],
  ['0.12345678', { digits: 8 }, '0.12345678'],
  ['999999999999999999', { digits: 2 }, '999999999999999999.00'],
  ['-0.001', { digits: 2, rounding: 'half_up' }, '0.00'],
])('toMoney writes %s with %j as %s', (text, options, expected) => {
  expect(toMoney(toDecimal(text), options)).toBe(expected);
});

test('toMoney writes every number of digits from 0 to 8', () => {
  const written = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((digits) => toMoney('1', { digits }).length);
  expect(written).toEqual([1, 3, 4, 5, 6, 7, 8, 9, 10]);
});

test.each([
  ['half_up', '0.13', '-0.13', '0.14', '0.13'],
  ['half_even', '0.12', '-0.12', '0.14', '0.13'],
  ['half_down', '0.12', '-0.12', '0.13', '0.13'],
  ['up', '0.13', '-0.13', '0.14', '0.13'],
  ['down', '0.12', '-0.12', '0.13', '0.12'],
  ['floor', '0.12', '-0.13', '0.13', '0.12'],
  ['ceiling', '0.13', '-0.12', '0.14', '0.13'],
] as const)(
  'rounding %s of 0.125, -0.125, 0.135 and 0.126 gives %s, %s, %s and %s',
  (rounding, ...expected) => {
    const rounded = ['0.125', '-0.125', '0.135', '0.126'].map((text) =>
      toMoney(toDecimal(text), { digits: 2, rounding }),
    );
    expect(rounded).toEqual(expected);
  },
);

test('every zero of an amount is the same amount', () => {
  const zeros = ['0', '-0', '-0.00', '000.0'];
  expect(zeros.map(moneyForm)).toEqual(zeros.map(() => '0.0000'));
});

test.each<[number | bigint | string, MoneyOptions, string]>([
  [129, {}, '129.0000'],
  [129n, {}, '129.0000'],
  [-(10n ** 18n - 1n), { digits: 0 }, '-999999999999999999'],
  ['129.5', {}, '129.5000'],
  ['-0.00', { digits: 2 }, '0.00'],
  ['999999999999999999.99999999', { digits: 8 }, '999999999999999999.99999999'],
  ['0.125', { digits: 2, rounding: 'half_even' }, '0.12'],
  [129.9 * 3, { digits: 2, rounding: 'half_up' }, '389.70'],
  [0.1 + 0.2, { rounding: 'half_even' }, '0.3000'],
  [1.005, { digits: 2, rounding: 'half_up' }, '1.01'],
  [1e-7, { rounding: 'up' }, '0.0001'],
  [2 ** 53 - 1, { digits: 0 }, '9007199254740991'],
])('toMoney writes the amount %s with %j as %s', (amount, options, expected) => {
  expect(toMoney(amount, options)).toBe(expected);
});

test('a digit is lost only if a rounding is named', () => {
  const third = toDecimal('1').div(3);
  expect(thrown(() => toMoney(third))).toMatchObject({ code: 'invalid_input', argument: 'amount' });
  expect(toMoney(third, { rounding: 'half_up' })).toBe('0.3333');
  expect(thrown(() => toMoney(toDecimal('0.00001')))).toMatchObject({ argument: 'amount' });
});

test.each<[string, () => unknown, string]>([
  ['Infinity', () => toMoney(toDecimal('1').div(0)), 'amount'],
  ['19 digits', () => toMoney(toDecimal('999999999999999999').plus(1)), 'amount'],
  [
    '19 digits after rounding',
    () => toMoney(toDecimal('999999999999999999.9'), { digits: 0, rounding: 'up' }),
    'amount',
  ],
  ['an exponent that would hang', () => toMoney(new DecimalJs('1e400000000')), 'amount'],
  ['a small exponent that would hang', () => toMoney(new DecimalJs('1e-400000000')), 'amount'],
  ['a string with a comma', () => toMoney('129,00'), 'amount'],
  ['an empty string', () => toMoney(''), 'amount'],
  ['a string with an exponent', () => toMoney('1e3'), 'amount'],
  ['a string with more digits, without a rounding', () => toMoney('0.00001'), 'amount'],
  ['a bigint of 19 digits', () => toMoney(10n ** 18n), 'amount'],
  ['true', () => toMoney(true as never), 'amount'],
  ['a number with more digits, without a rounding', () => toMoney(0.1 + 0.2), 'amount'],
  ['a number that has lost digits', () => toMoney(2 ** 53), 'amount'],
  ['the number NaN', () => toMoney(Number.NaN), 'amount'],
  ['9 digits', () => toMoney(toDecimal('1'), { digits: 9 }), 'digits'],
  ['-1 digits', () => toMoney(toDecimal('1'), { digits: -1 }), 'digits'],
  ['1.5 digits', () => toMoney(toDecimal('1'), { digits: 1.5 }), 'digits'],
  ['an unknown rounding', () => toMoney(toDecimal('1'), { rounding: 'bankers' as never }), 'rounding'],
  ['an inherited rounding', () => toMoney(toDecimal('1'), { rounding: 'constructor' as never }), 'rounding'],
])('toMoney rejects %s', (_, act, argument) => {
  expect(thrown(act)).toMatchObject({ code: 'invalid_input', argument });
});

test('a tiny amount is rounded away quickly if a rounding is named', () => {
  expect(toMoney(new DecimalJs('1e-400000000'), { rounding: 'down' })).toBe('0.0000');
  expect(toMoney(new DecimalJs('1e-400000000'), { rounding: 'up' })).toBe('0.0001');
});

test('settings of decimal.js that other code changes do not affect amounts', () => {
  const { precision } = DecimalJs;
  DecimalJs.set({ precision: 3, toExpPos: 2 });
  try {
    expect(toDecimal('123456.7890').times(3).toString()).toBe('370370.367');
    expect(toMoney(toDecimal('123456.7890').times(3))).toBe('370370.3670');
  } finally {
    DecimalJs.set({ precision, toExpPos: 21 });
  }
});
