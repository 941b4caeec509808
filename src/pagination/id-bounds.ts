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

/**
 * Makes the check that throws if a row lies outside the caller's bounds. A service of this kind drops a bound that it cannot
 * read and lists everything. Integers are compared as such; how the service orders other ids is its own, so one of them lies
 * outside only if it does in every common order of texts.
 */
export function boundsGuard(
  bounds: IdBounds = {},
  facts: CallFacts,
): (response: PageResponse<unknown>) => void {
  const limits = limitsOf(bounds);
  const range = rangeOf(bounds);
  const isOdd = range === undefined && hasOddBound(bounds);
  const other = range === undefined && !isOdd ? otherRange(bounds) : undefined;
  if (limits.length === 0 && !isOdd && other === undefined) return () => {};
  const isOutside = (text: string) => {
    const id = integerId(text);
    if (id !== undefined && range !== undefined) return !isInRange(id, range);
    return limits.some((limit) => ORDERS.every((form) => !isWithin(form(text), form(limit.bound), limit)));
  };
  return ({ ids }) => {
    const areIntegers = ids.length > 0 && ids.every(isInteger);
    if (isOdd && areIntegers) throw oddBound(facts);
    if (other !== undefined && areIntegers && !ids.every((id) => isInRange(BigInt(id), other)))
      throw outsideBounds(facts);
    if (ids.some(isOutside)) throw outsideBounds(facts);
  };
}

const isInteger = (id: string) => integerId(id) !== undefined;

/** One end of the bounds. */
interface Limit {
  readonly bound: string;
  readonly side: 'lower' | 'upper';
  readonly included: boolean;
}

function limitsOf({ gt, gte, lt, lte, between }: IdBounds): readonly Limit[] {
  // Another string has a form that only the service knows.
  const [from, to] = betweenPair(between) ?? [];
  const limits = [
    { bound: gt, side: 'lower', included: false },
    { bound: gte, side: 'lower', included: true },
    { bound: from, side: 'lower', included: true },
    { bound: lt, side: 'upper', included: false },
    { bound: lte, side: 'upper', included: true },
    { bound: to, side: 'upper', included: true },
  ] as const;
  return limits.flatMap(({ bound, ...limit }) => (bound === undefined ? [] : [{ ...limit, bound }]));
}

/** Orders of texts: of code points, without case, and without punctuation too, as the collations of databases have them. */
const ORDERS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, ''),
];

function isWithin(id: string, bound: string, { side, included }: Limit): boolean {
  if (id === bound) return included;
  return id > bound === (side === 'lower');
}

/** Whether a bound cannot be meant as an integer. Two numbers within other characters may be a form of the service's own. */
function hasOddBound({ between, ...bounds }: IdBounds): boolean {
  const texts = Object.values(bounds).concat(typeof between === 'object' ? between : []);
  if (texts.some((text) => text !== undefined && !isInteger(text))) return true;
  return typeof between === 'string' && between.match(/\d+/g)?.length !== 2;
}

/** The range of two numbers within other characters: in whatever form `between` is, no row lies outside of both. */
function otherRange({ between }: IdBounds): IdRange | undefined {
  const numbers = typeof between === 'string' ? (between.match(/\d+/g) ?? []) : [];
  const [from, to] = numbers.map(BigInt);
  if (from === undefined || to === undefined) return undefined;
  return from < to ? { after: from - 1n, through: to } : { after: to - 1n, through: from };
}

function oddBound(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} has a bound on id that is no integer, but the ids of the records are integers: the service ignored the filter, or reads the bound as another id.`,
    { ...facts, hint: 'Write the bounds as the service writes ids, without leading zeros or blanks.' },
  );
}

/** The error does not show the id: a service that echoes the API key as an id must not get it into a log. */
export function outsideBounds(facts: CallFacts): FilterIgnoredError {
  return new FilterIgnoredError(
    `${facts.method} ${facts.path} returned a record outside the requested bounds on id: the service ignored the filter, or compares ids in another way.`,
    { ...facts, hint: "Use pagination: 'page' and no bounds on id." },
  );
}
