import { compareIds } from './compare-ids.ts';

/** One bound on ids. */
export interface IdBound {
  readonly operator: 'gt' | 'gte' | 'lt' | 'lte';
  readonly value: string;
}

/** Bounds that all hold. Empty: every id. */
export type IdRange = readonly IdBound[];

/** Whether an id lies above the lower bounds of a range. Once true, it stays true for every larger id. */
export function reaches(id: string, range: IdRange): boolean {
  return range.every(({ operator, value }) => {
    if (operator === 'gt') return compareIds(id, value) > 0;
    return operator !== 'gte' || compareIds(id, value) >= 0;
  });
}

/** Whether an id lies beyond an upper bound of a range. Once true, it stays true for every larger id. */
export function passes(id: string, range: IdRange): boolean {
  return range.some(({ operator, value }) => {
    if (operator === 'lt') return compareIds(id, value) >= 0;
    return operator === 'lte' && compareIds(id, value) > 0;
  });
}
