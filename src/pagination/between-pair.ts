import type { IdBounds } from './page.ts';

const NUMBERS = /^(\d+)[^\dA-Za-z]+(\d+)$/;
const UUIDS =
  /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})[^\dA-Za-z]+([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/i;
const ULIDS = /^([\dA-Z]{26})[^\dA-Za-z]+([\dA-Z]{26})$/i;

/**
 * The two ids of `between`, whatever separates them: rows can then be checked even if the service does not understand
 * the separator and drops the filter. Empty without `between`; undefined for a string that is not two ids.
 */
export function betweenPair(between: IdBounds['between']): readonly (string | undefined)[] | undefined {
  if (between === undefined) return [];
  if (typeof between !== 'string') return between;

  const match = [NUMBERS, UUIDS, ULIDS]
    .map((pattern) => pattern.exec(between))
    .find((found) => found !== null);
  return match?.slice(1);
}
