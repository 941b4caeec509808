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

const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';
const ULID = '[0-7][\\da-hjkmnp-tv-z]{25}';

/** Two ids of one form, with any separator between them and perhaps in brackets or quotes: `5..12`, `5,12`, `[5,12]`. */
const PAIRS = ['\\d+', UUID, ULID].map(
  (id) => new RegExp(`^[\\s()[\\]{}"']*(${id})[^\\dA-Za-z]+(${id})[\\s()[\\]{}"']*$`, 'i'),
);

/**
 * The two ids of `between`, whatever separates them: rows can then be checked even if the service does not understand
 * the separator and drops the filter. Empty without `between`; undefined for a string that is not two ids.
 */
function betweenPair(between: IdBounds['between']): readonly (string | undefined)[] | undefined {
  if (between === undefined) return [];
  if (typeof between !== 'string') return between;
  const match = PAIRS.map((pattern) => pattern.exec(between)).find((found) => found !== null);
  return match?.slice(1);
}

/**
 * Makes the check that throws if a row lies outside the caller's bounds. It judges integers, UUIDs and ULIDs, and no
 * other ids. Without bounds there is nothing to check, and no id is looked at.
 */
export function boundsGuard(
  bounds: IdBounds | undefined,
  facts: CallFacts,
): (response: PageResponse<unknown>) => void {
  const range = rangeOf(bounds);
  const hasOutside = range === undefined ? textCheck(bounds) : integerCheck(range);
  return (response) => {
    if (hasOutside?.(response.ids)) throw outsideBounds(facts);
  };
}

type OutsideCheck = ((ids: readonly string[]) => boolean) | undefined;

function integerCheck(range: IdRange): OutsideCheck {
  if (range.after === BELOW_ALL && range.through === undefined) return undefined;
  return (ids) =>
    ids.some((text) => {
      const id = integerId(text);
      return id !== undefined && !isInRange(id, range);
    });
}

const TEXT_FORMS = [new RegExp(`^${UUID}$`), new RegExp(`^${ULID}$`)];

/**
 * Finds rows outside the bounds among UUIDs or ULIDs, which services often ignore bounds on. Both compare as text in
 * lower case, but only if the service orders them as text: ids of a page in neither ascending nor descending order
 * cannot be judged. Undefined if the bounds are not all of one form.
 */
function textCheck(bounds: IdBounds = {}): OutsideCheck {
  const lower = (bound: string | undefined) => bound?.toLowerCase();
  const [gt, gte, lt, lte] = [bounds.gt, bounds.gte, bounds.lt, bounds.lte].map(lower);
  const [from, to] = betweenPair(bounds.between)?.map(lower) ?? [];
  const given = [gt, gte, lt, lte, from, to].filter((bound) => bound !== undefined);
  const form = TEXT_FORMS.find((pattern) => given.every((bound) => pattern.test(bound)));
  if (given.length === 0 || form === undefined) return undefined;

  const isOutside = (id: string) =>
    (gt !== undefined && id <= gt) ||
    (gte !== undefined && id < gte) ||
    (lt !== undefined && id >= lt) ||
    (lte !== undefined && id > lte) ||
    (from !== undefined && id < from) ||
    (to !== undefined && id > to);
  return (ids) => {
    const texts = ids.map((id) => id.toLowerCase());
    return texts.every((id) => form.test(id)) && isInOrder(texts) && texts.some(isOutside);
  };
}

/** Whether ids ascend or descend. */
function isInOrder(ids: readonly string[]): boolean {
  const steps = ids.slice(1).map((id, index) => id > (ids[index] ?? ''));
  return steps.every(Boolean) || !steps.some(Boolean);
}

/** The error does not show the id: a service that echoes the API key as an id must not get it into a log. */
export function outsideBounds(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned a record outside the requested bounds on id: the service ignored the filter, or compares ids in another way.`,
    { ...facts, hint: "Use pagination: 'page' and no bounds on id." },
  );
}
