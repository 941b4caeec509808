import { InvalidArgumentError } from 'commander';

/** A whole number of at least `least`, as an option's value. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text.replaceAll('_', ''));
    if (/^[\d_]+$/.test(text) && Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`Give a whole number of at least ${least}.`);
  };
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** So many requests in so much time, or none. */
export type Rate = { readonly budget: number; readonly windowMs: number } | false;

/** `100/60s`, `1000/1m`, `off`. */
export function rate(text: string): Rate {
  if (text === 'off') return false;
  const [, budget = '', length = '', unit = ''] = /^(\d+)\/(\d+)(ms|s|m|h)$/.exec(text) ?? [];
  const windowMs = Number(length) * (UNITS[unit] ?? 0);
  if (Number(budget) > 0 && windowMs > 0) return { budget: Number(budget), windowMs };
  throw new InvalidArgumentError('Give requests and time, such as 100/60s or 1000/1m, or off.');
}
