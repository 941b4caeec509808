import { isMoney } from '../../schemas/money.ts';
import { isInstant } from '../../schemas/timestamp.ts';
import { isNamedLikeMoney, isNamedUnlikeMoney } from '../named-like-money.ts';
import type { Kind } from './shape.ts';

/** Texts of one field, as far as their kind shows. */
export interface TextCounts {
  count: number;
  dates: number;
  instants: number;
  /** Decimals by their digits after the point. */
  readonly decimals: Map<number, number>;
}

export function noTexts(): TextCounts {
  return { count: 0, dates: 0, instants: 0, decimals: new Map() };
}

export function countText(counts: TextCounts, text: string): void {
  counts.count += 1;
  const isDecimal: boolean = isMoney(text);
  if (isDecimal) {
    const digits = text.split('.')[1]?.length ?? 0;
    counts.decimals.set(digits, (counts.decimals.get(digits) ?? 0) + 1);
  } else if (/^\d{4}-\d{2}-\d{2}/.test(text) && isInstant(withOffset(text))) {
    if (text.includes('T')) counts.instants += 1;
    else counts.dates += 1;
  }
}

/** A timestamp without an offset is one all the same, if a poor one. */
function withOffset(text: string): string {
  return text.includes('T') && !/(?:Z|[+-]\d{2}:?\d{2})$/.test(text) ? `${text}Z` : text;
}

/** The narrowest kind that fits all texts of a field; undefined where there were none. */
export function textKindOf(counts: TextCounts, name: string): Kind | undefined {
  const { count, dates, instants } = counts;
  if (count === 0) return undefined;
  if (dates === count) return 'date';
  if (instants === count) return 'instant';
  return isMoneyField(counts, name) ? 'money' : 'text';
}

/**
 * Amounts have the same number of digits after the point, two to four of them, whatever their field is called; others
 * count when the name says so. A code such as `8010` is a decimal too, and no amount.
 */
function isMoneyField({ count, decimals }: TextCounts, name: string): boolean {
  const all = [...decimals.values()].reduce((sum, some) => sum + some, 0);
  if (all < count || isNamedUnlikeMoney(name)) return false;

  const digits = [...decimals.keys()];
  const [only = 0] = digits;
  if (digits.length === 1 && only >= 2 && only <= 4) return true;
  return digits.some((some) => some > 0) && isNamedLikeMoney(name);
}
