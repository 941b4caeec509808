/** Not a validity check: `007` is a number too in this order. */
const DIGITS = /^\d+$/;

export function isNumericId(id: string): boolean {
  return DIGITS.test(id);
}

/**
 * The order of ids. Strings of digits compare as numbers of any length and come before all others; the rest compare
 * by code unit. Without that precedence the order would have a cycle: `9 < 10 < 1a < 9`.
 */
export function compareIds(a: string, b: string): number {
  const aIsNumber = DIGITS.test(a);
  const bIsNumber = DIGITS.test(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  if (!aIsNumber) return byCodeUnit(a, b);

  const left = a.replace(/^0+(?=\d)/, '');
  const right = b.replace(/^0+(?=\d)/, '');
  // `7` and `007` are the same number but two ids, so the strings decide.
  return left.length - right.length || byCodeUnit(left, right) || byCodeUnit(a, b);
}

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export interface IdBound {
  readonly operator: 'gt' | 'gte' | 'lt' | 'lte';
  readonly value: string;
}

/** The part of some ascending ids that meets all bounds, as the arguments of `slice`. */
export function sliceOf(
  ids: readonly { readonly id: string }[],
  bounds: readonly IdBound[],
): [from: number, to: number] {
  let [from, to] = [0, ids.length];
  for (const { operator, value } of bounds) {
    const includesEqual = operator === 'gt' || operator === 'lte';
    const place = placeOf(ids, value, includesEqual);
    if (operator.startsWith('gt')) from = Math.max(from, place);
    else to = Math.min(to, place);
  }
  return [from, Math.max(from, to)];
}

/** How many of some ascending ids come before an id; with `orEqual`, the id itself counts too. */
export function placeOf(ids: readonly { readonly id: string }[], id: string, orEqual = false): number {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const order = compareIds(ids[middle]?.id ?? '', id);
    if (order < 0 || (orEqual && order === 0)) low = middle + 1;
    else high = middle;
  }
  return low;
}
