/** Not a value check: `007` is a number too, for the order. */
const DIGITS = /^\d+$/;

function byCodeUnit(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * The order of ids. Numeric strings compare as numbers of any length, and come before all others; the rest compare
 * by code unit. Without that precedence `9 < 10 < 1a < 9` would go round in a circle.
 */
export function compareIds(a: string, b: string): number {
  const aIsNumber = DIGITS.test(a);
  const bIsNumber = DIGITS.test(b);
  if (aIsNumber !== bIsNumber) return aIsNumber ? -1 : 1;
  if (!aIsNumber) return byCodeUnit(a, b);

  const left = a.replace(/^0+(?=\d)/, '');
  const right = b.replace(/^0+(?=\d)/, '');
  // `7` and `007` are two ids: the same number, so the text decides.
  return left.length - right.length || byCodeUnit(left, right) || byCodeUnit(a, b);
}

/** Whether an id is a numeric string. */
export function isNumericId(id: string): boolean {
  return DIGITS.test(id);
}
