import { integerId } from '../id-bounds.ts';
import type { PageResponse } from '../page.ts';
import type { Key } from './interval.ts';

/** The integer ids of a response. */
export interface Keys {
  /** All rows, even those without a readable id: they fill the page too. */
  readonly rows: number;
  /** Each key once, ascending. */
  readonly sorted: readonly Key[];
}

/** The integer ids of a response's records and then of its invalid rows; undefined if an id is not an integer. */
export function integerIds(response: PageResponse<unknown>): readonly bigint[] | undefined {
  const ids: bigint[] = [];
  for (const text of response.ids) {
    const id = integerId(text);
    if (id === undefined) return undefined;
    ids.push(id);
  }
  for (const row of response.invalid) {
    // A row without an id tells nothing about the others.
    if (row.id === undefined) continue;
    const id = integerId(row.id);
    if (id === undefined) return undefined;
    ids.push(id);
  }
  return ids;
}

export function isAscending(keys: readonly Key[]): boolean {
  return keys.every((key, index) => index === 0 || key >= (keys[index - 1] ?? key));
}

/** Each key once, ascending. */
export function ascending(keys: readonly Key[]): readonly Key[] {
  return [...new Set(keys)].sort((a, b) => (a < b ? -1 : 1));
}
