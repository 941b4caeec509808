import { CheckpointError } from '../../errors/checkpoint-error.ts';
import { BELOW_ALL } from '../id-bounds.ts';
import type { ListHint, ResumePosition } from '../page.ts';
import { idLimitOf } from './direction.ts';
import type { Key } from './interval.ts';

/**
 * What is requested next.
 *
 * - `interval`: the interval `after` to `through`.
 * - `second_page`: its second page, before its first one is delivered.
 * - `later_pages`: page `page` of everything after `after`, although its first one was empty or is expected to be.
 * - `further_ids`: ids further on, at `distance`.
 * - `search`: page `page` of everything after `after`, because ids further on exist: what is the first row behind the
 *   hidden ones?
 * - `end`: nothing.
 */
const PHASES = ['interval', 'second_page', 'later_pages', 'further_ids', 'search', 'end'] as const;

/** All that a read knows between two responses: what a resume token holds. */
export interface ReadState {
  readonly phase: (typeof PHASES)[number];
  readonly order: 'asc' | 'desc';

  /** A response had two rows: a single one has no direction. */
  readonly directionKnown: boolean;
  /** Every response was in the order of ids. */
  readonly inOrder: boolean;
  /** A response was in that order and in no order by date: see `ListHint`. */
  readonly sortedById: boolean;
  /** A response had fewer rows than a page although more followed, so the service hides rows: rules 3, 8 and 10, or a hint. */
  readonly hidesRows: boolean;
  /** Rows may be missing even if every response was in order, so the read is only `likely` to be complete: rules 7, 8, 9 and 11. */
  readonly mayMissRows: boolean;
  /** A response was taken as short because of `pageSizeHint` alone. */
  readonly reliedOnHint: boolean;
  /** The later pages of everything after `after` were requested. */
  readonly laterPagesRead: boolean;
  /** A short response was delivered up to its last row. A row after it, up to `assumedEmptyThrough`, was left out of that response. */
  readonly assumedEmpty: boolean;

  /** The rows delivered. */
  readonly rows: number;
  /** The pairs of neighbours in delivered responses: each had a chance to be out of order. */
  readonly neighbours: number;
  /** The most rows in a response of this read. */
  readonly mostRows: number;
  /** The page size that an earlier read has shown; 0 if none can be trusted. */
  readonly pageSizeHint: number;
  /** How often the interval was narrowed. */
  readonly timesNarrowed: number;
  /** In another order: the short responses so far. */
  readonly shortResponses: number;
  /** In `later_pages` and `search`. */
  readonly page: number;
  /** In `further_ids`: the exponent n of 4^n widths. */
  readonly distance: number;
  /** The requests of intervals since a row was delivered. */
  readonly requestsWithoutRows: number;

  /** Everything up to this key was delivered. */
  readonly after: Key | undefined;
  /** The end of the interval; undefined: as far as the caller's bounds go. */
  readonly through: Key | undefined;
  /** The only row of a response: the range below it is read first, and the interval after that ends with it. */
  readonly singleKey: Key | undefined;
  /** The highest key seen. */
  readonly highest: Key | undefined;
  readonly assumedEmptyThrough: Key | undefined;
  /** The first key that was found after hidden rows. */
  readonly foundKey: Key | undefined;
  /** How wide an interval is expected to fit into one response. */
  readonly width: bigint | undefined;
  /** The highest id seen, rounded up to the largest id of its type: no bound above it is requested. */
  readonly idLimit: bigint | undefined;
}

const NOTHING_READ = {
  phase: 'interval',
  laterPagesRead: false,
  assumedEmpty: false,
  reliedOnHint: false,
  rows: 0,
  neighbours: 0,
  timesNarrowed: 0,
  page: 0,
  distance: 0,
  requestsWithoutRows: 0,
  after: undefined,
  through: undefined,
  singleKey: undefined,
  highest: undefined,
  assumedEmptyThrough: undefined,
  foundKey: undefined,
  width: undefined,
} as const;

/** What an earlier read found out, and whether this one lists only changes. */
interface StartOptions {
  readonly hint: ListHint | undefined;
  readonly onlyChanges: boolean;
}

export function stateAtStart({ hint, onlyChanges }: StartOptions): ReadState {
  return {
    ...NOTHING_READ,
    order: hint?.order ?? 'asc',
    directionKnown: false,
    inOrder: true,
    sortedById: hint?.sortedById ?? false,
    // Only a read of everything can show that a service does not hide rows any more.
    hidesRows: onlyChanges && hint?.pageSize === 0,
    mayMissRows: false,
    mostRows: 0,
    pageSizeHint: hint?.sortedById ? hint.pageSize : 0,
    shortResponses: 0,
    idLimit: idLimitOf(BELOW_ALL),
  };
}

/** Reads everything again, with what was learned of the service. Only in the order of ids the direction saves requests. */
export function restarted(state: ReadState): ReadState {
  const { requestsWithoutRows, inOrder, order } = state;
  return { ...state, ...NOTHING_READ, requestsWithoutRows, order: inOrder ? order : 'asc' };
}

/**
 * The state to resume with. Pages may have another size by now: the one seen before is a hint, and only if the
 * list is sorted by id and not by date. Without a hint an open interval shows it best.
 */
export function resumedState(state: ReadState): ReadState {
  const { inOrder, sortedById, mostRows } = state;
  const pageSizeHint = inOrder && sortedById ? Math.max(mostRows, state.pageSizeHint) : 0;
  const { after, through, width, highest } = state;
  return {
    ...state,
    ...NOTHING_READ,
    rows: state.rows,
    neighbours: state.neighbours,
    mostRows: 0,
    pageSizeHint,
    reliedOnHint: after !== undefined,
    after,
    through: pageSizeHint === 0 || after === undefined ? undefined : through,
    width,
    highest,
  };
}

/**
 * The position of a keyset read that continues by page, because an id is not an integer. Resumed there it reads from
 * the first page again: page n cannot be resumed.
 */
export const BY_PAGE: ResumePosition = { pagination: 'page' };

/** The members of a state. The type of each says whether it is a flag, a count, or a key, which is a bigint or undefined. */
const START = stateAtStart({ hint: undefined, onlyChanges: false });
const NAMES = Object.keys(START) as (keyof ReadState)[];

/** A state as plain JSON, without what is false, 0 or undefined. */
export function positionOf(state: ReadState): ResumePosition {
  const position: Record<string, string | number | boolean> = { pagination: 'keyset' };
  for (const name of NAMES) {
    const value = state[name];
    if (typeof value === 'bigint') position[name] = String(value);
    else if (value) position[name] = value;
  }
  return position;
}

/** Reads a position back; undefined for {@link BY_PAGE}. Anything else is a CheckpointError. */
export function stateOf(position: ResumePosition): ReadState | undefined {
  if (position.pagination === 'page') return undefined;

  if (position.pagination !== 'keyset' || !NAMES.every((name) => isMember(name, position[name]))) {
    throw new CheckpointError(
      'The resume token does not hold a position of keyset pagination. Read from the start instead: leave resumeFrom out.',
    );
  }
  const members = NAMES.map((name): readonly [string, unknown] => {
    const value = position[name];
    if (typeof START[name] === 'boolean') return [name, value === true];
    if (typeof START[name] === 'number') return [name, value ?? 0];
    if (value === undefined || name === 'phase' || name === 'order') return [name, value];
    return [name, BigInt(value as string)];
  });
  return Object.fromEntries(members) as unknown as ReadState;
}

function isMember(name: keyof ReadState, value: ResumePosition[string]): boolean {
  if (name === 'phase') return PHASES.some((phase) => phase === value);
  if (name === 'order') return value === 'asc' || value === 'desc';
  if (value === undefined) return true;
  if (typeof START[name] === 'boolean') return value === true;
  if (typeof START[name] === 'number') return Number.isSafeInteger(value) && Number(value) > 0;
  return /^-?\d{1,60}$/.test(String(value));
}
