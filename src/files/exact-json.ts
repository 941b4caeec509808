/** Whether a JSON number keeps every digit of a text, as JavaScript reads it. */
export function keepsDigits(text: string): boolean {
  const value = Number(text);
  return Number.isFinite(value) && significant(text) === significant(String(value));
}

/** The digits that count, without sign, point and exponent. */
function significant(number: string): string {
  return number
    .replace(/e.*/i, '')
    .replaceAll(/[-.]/g, '')
    .replaceAll(/^0+|0+$/g, '');
}

/** A JSON text, or the number in it that would lose digits. Throws for a text that is not JSON. */
export function parseExactly(json: string): { readonly value: unknown; readonly lossy: string | undefined } {
  let lossy: string | undefined;
  // Only long numbers and exponents can lose digits, and this takes longer.
  const isLong = /[\d.]{16}|\d[eE]/.test(json);
  const check = (_: string, value: unknown, context?: { readonly source?: string }) => {
    const source = typeof value === 'number' ? context?.source : undefined;
    if (source !== undefined && !keepsDigits(source)) lossy ??= source;
    return value;
  };
  const value: unknown = isLong ? JSON.parse(json, check) : JSON.parse(json);
  return { value, lossy };
}
