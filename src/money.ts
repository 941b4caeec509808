import { Decimal as DecimalJs } from 'decimal.js';
import { InvalidInputError } from './errors/invalid-input-error.ts';
import { resolved } from './input/checks.ts';
import { is, type Named, type OptionInputs, option, optional } from './internal/options.ts';
import { isMoney, type Money, moneyProblem } from './schemas/money.ts';

/**
 * A Decimal of this package's own: 60 digits, so that sums of 18 + 8 digits stay exact, and no exponent in
 * `toString`. It shares no settings with other users of decimal.js.
 */
const Decimal = DecimalJs.clone({ defaults: true, precision: 60, toExpNeg: -60, toExpPos: 60 });
/**
 * A decimal of [decimal.js](https://mikemcl.github.io/decimal.js/), to calculate with: `plus`, `times`, `dividedBy`,
 * `comparedTo` and more. `toDecimal('1.5')` returns one; the constructor is `Decimal` of the package decimal.js.
 */
export type Decimal = DecimalJs;

/** The least whole number with 19 digits. */
const MAX_WHOLE = 10n ** 18n;

/** Ways to round, by the names that accountants use. */
export type Rounding = 'half_up' | 'half_even' | 'half_down' | 'up' | 'down' | 'ceiling' | 'floor';

const ROUNDING: Readonly<Record<Rounding, DecimalJs.Rounding>> = {
  half_up: Decimal.ROUND_HALF_UP,
  half_even: Decimal.ROUND_HALF_EVEN,
  half_down: Decimal.ROUND_HALF_DOWN,
  up: Decimal.ROUND_UP,
  down: Decimal.ROUND_DOWN,
  ceiling: Decimal.ROUND_CEIL,
  floor: Decimal.ROUND_FLOOR,
};

export const moneyOptions = {
  /** Digits after the point, 0 to 8. Default: 4, as in the specification. */
  digits: option(
    is.check<number>('a whole number from 0 to 8', (value) =>
      [0, 1, 2, 3, 4, 5, 6, 7, 8].includes(value as number),
    ),
    4,
  ),
  /** How to round if digits would be lost. Left out, losing a digit is an error. */
  rounding: optional(is.oneOf(...(Object.keys(ROUNDING) as Rounding[]))),
};

/** How {@link toMoney} writes an amount. */
export interface MoneyOptions extends OptionInputs<typeof moneyOptions>, Named {}

/**
 * A money amount of the service as a decimal to calculate with; `null` and `undefined` are passed on.
 *
 * ```ts
 * toDecimal(product.salePrice)?.times(3).toFixed(2);
 * ```
 * @throws InvalidInputError for anything but a decimal string of at most 18 + 8 digits.
 */
export function toDecimal(value: Money): Decimal;
export function toDecimal<E extends null | undefined>(value: Money | E): Decimal | E;
export function toDecimal<E extends null | undefined>(value: Money | E): Decimal | E {
  if (value === null || value === undefined) return value as E;
  if (!isMoney(value)) throw new InvalidInputError('value', moneyProblem(value));

  return new Decimal(value);
}

/**
 * An amount in the form of the service, `"129.0000"`, of a Decimal, a bigint, a decimal string or a number. A number is read
 * by its shortest digits, so `0.1 + 0.2` is `0.30000000000000004`: name a rounding.
 *
 * ```ts
 * toMoney(129.9 * 3, { digits: 2, rounding: 'half_up' }); // '389.70'
 * ```
 * @throws InvalidInputError if a digit would be lost and no `rounding` is named, for NaN and infinities, for numbers that
 * have lost digits already (2^53 and more), for a string that is no decimal with a point, and for more than 18 digits
 * before the point.
 */
export function toMoney(value: Decimal | bigint | number | Money, options: MoneyOptions = {}): Money {
  const { digits, rounding } = resolved(moneyOptions, options, { of: 'toMoney' });
  if (typeof value === 'string' && !isMoney(value))
    throw new InvalidInputError('amount', moneyProblem(value));
  const isExact =
    typeof value === 'string' ||
    (typeof value === 'number' && Math.abs(value) < 2 ** 53) ||
    // Its digits are looked at before they are written out.
    (typeof value === 'bigint' && value < MAX_WHOLE && value > -MAX_WHOLE);
  const amount = isExact ? new Decimal(value) : value;
  // The exponent is looked at before any digit is written: 1e400000000 would be written out in full.
  if (!DecimalJs.isDecimal(amount) || !amount.isFinite() || amount.e > 18) {
    throw new InvalidInputError(
      'amount',
      'must be a Decimal, a bigint or a decimal string with at most 18 digits before the point, or a number below 2^53',
    );
  }
  if (rounding === undefined && amount.decimalPlaces() > digits) {
    throw new InvalidInputError(
      'amount',
      `has more than ${digits} ${digits === 1 ? 'digit' : 'digits'} after the point; name a rounding`,
    );
  }
  // Rounded first: `toFixed` alone would write a small negative amount as -0.00.
  const text = amount.toDecimalPlaces(digits, ROUNDING[rounding ?? 'half_up']).toFixed(digits);
  if (!isMoney(text)) throw new InvalidInputError('amount', 'has more than 18 digits before the point');

  return text;
}
