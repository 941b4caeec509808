/**
 * A money amount as the service sends it: a decimal string such as `"129.0000"` (specification: Conventions, Money).
 * Never a JSON number: a number has lost digits before a program can look at it.
 */
export type Money = string;

/**
 * At most 18 digits before the point and 8 after it. Exponents, hexadecimal and `Infinity` are left out on purpose:
 * decimal libraries accept them, and `1e400000000` makes some of them hang.
 */
export const MONEY = /^-?\d{1,18}(?:\.\d{1,8})?$/;

/** Whether a value is a money amount in the form of the specification. */
export function isMoney(value: unknown): value is Money {
  return typeof value === 'string' && MONEY.test(value);
}

/** The problem with a value that is not a money amount. */
export function moneyProblem(value: unknown): string {
  return typeof value === 'string'
    ? 'is not a decimal with a point: write "1234.50", without thousands separators and currency, with at most 18 digits before the point and 8 after it'
    : 'must be a decimal string such as "129.0000": a number may have lost digits, and toMoney makes an amount of it';
}

/** The one string for an amount: `5`, `5.0` and `005.00000` become `5.0000`, as the service writes amounts. */
export function moneyForm(amount: Money): Money {
  const form = amount.replace(
    /^(-?)0*(\d+)(?:\.(\d*?)0*)?$/,
    (_, sign: string, whole: string, decimals = '') => `${sign}${whole}.${decimals.padEnd(4, '0')}`,
  );
  return /[1-9]/.test(form) ? form : '0.0000';
}
