import type { CallFacts } from '../errors/accounting-error.ts';
import { FilterIgnoredError } from '../errors/filter-ignored-error.ts';
import type { IdBounds, PageResponse } from './page.ts';

/**
 * The id as an integer; undefined if it is not canonical decimal digits. `007`, `+5`, `-3` and `1e3` are not:
 * the service might order or compare them in another way than integers. 39 digits hold any 128-bit number;
 * beyond that no service counts.
 */
export function integerId(id: string): bigint | undefined {
  return /^(?:0|[1-9]\d{0,38})$/.test(id) ? BigInt(id) : undefined;
}

/** The ids above `after`, up to and including `through`. An undefined `through` is unbounded; no id is below 0. */
export interface IdRange {
  readonly after: bigint;
  readonly through: bigint | undefined;
}

/** Below every id. */
export const BELOW_ALL = -1n;

export function isInRange(id: bigint, { after, through }: IdRange): boolean {
  return id > after && (through === undefined || id <= through);
}

/** The range that a caller's bounds leave; undefined if a bound is not an integer. */
export function rangeOf(bounds: IdBounds = {}): IdRange | undefined {
  const pair = betweenPair(bounds.between);
  if (pair === undefined) return undefined;

  const [from, to] = pair;
  const lower = [shifted(bounds.gt, 0n), shifted(bounds.gte, -1n), shifted(from, -1n)];
  const upper = [shifted(bounds.lte, 0n), shifted(bounds.lt, -1n), shifted(to, 0n)];
  if (lower.includes('other') || upper.includes('other')) return undefined;

  const after = lower.reduce<bigint>((a, b) => (typeof b === 'bigint' && b > a ? b : a), BELOW_ALL);
  const through = upper.reduce<bigint | undefined>(
    (a, b) => (typeof b === 'bigint' && (a === undefined || b < a) ? b : a),
    undefined,
  );
  return { after, through };
}

function shifted(bound: string | undefined, by: bigint): bigint | 'other' | undefined {
  if (bound === undefined) return undefined;
  const id = integerId(bound);
  return id === undefined ? 'other' : id + by;
}

/** Two integers with any separator between them and perhaps in brackets or quotes: `5..12`, `5,12`, `[5,12]`. */
const PAIR = /^[\s()[\]{}"']*(\d+)[^\dA-Za-z]+(\d+)[\s()[\]{}"']*$/;

/**
 * The two ids of `between`, whatever separates them: rows can then be checked even if the service does not understand
 * the separator and drops the filter. Empty without `between`; undefined for a string that is not two integers.
 */
function betweenPair(between: IdBounds['between']): readonly (string | undefined)[] | undefined {
  if (between === undefined) return [];
  if (typeof between !== 'string') return between;
  return PAIR.exec(between)?.slice(1);
}

/** Makes the check that throws if an integer id lies outside the caller's bounds: the order of other ids is the service's own. */
export function boundsGuard(
  bounds: IdBounds | undefined,
  facts: CallFacts,
): (response: PageResponse<unknown>) => void {
  const range = rangeOf(bounds);
  if (range === undefined || (range.after === BELOW_ALL && range.through === undefined)) return () => {};
  const isOutside = (text: string) => {
    const id = integerId(text);
    return id !== undefined && !isInRange(id, range);
  };
  return ({ ids }) => {
    if (ids.some(isOutside)) throw outsideBounds(facts);
  };
}

/** The error does not show the id: a service that echoes the API key as an id must not get it into a log. */
export function outsideBounds(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned a record outside the requested bounds on id: the service ignored the filter, or compares ids in another way.`,
    { ...facts, hint: "Use pagination: 'page' and no bounds on id." },
  );
}
