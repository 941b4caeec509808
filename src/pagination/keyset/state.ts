import { CheckpointError } from '../../errors/checkpoint-error.ts';
import { BELOW_ALL } from '../id-bounds.ts';
import type { ListHint, ResumePosition } from '../page.ts';
import { DIRECTIONS, largestBound } from './direction.ts';
import type { Key } from './interval.ts';

/**
 * What is requested next.
 *
 * - `interval`: the interval `after` to `through`.
 * - `second_page`: its second page, before its first one is delivered.
 * - `behind`: page `step` behind everything delivered.
 * - `far`: ids further on, at distance `step`.
 * - `search`: page `step`, to find the first row before those ids.
 * - `end`: nothing.
 */
export type Phase = 'interval' | 'second_page' | 'behind' | 'far' | 'search' | 'end';

/** All that a read knows between two responses: what a resume token holds. */
export interface ReadState {
  readonly phase: Phase;
  readonly order: 'asc' | 'desc';

  /** A response had two rows: a single one has no direction. */
  readonly directionKnown: boolean;
  /** Every response was in the order of ids. */
  readonly inOrder: boolean;
  /** That order is proven to be no order by date: see `ListHint`. */
  readonly proven: boolean;
  /** A response had fewer rows than a page although more followed: the service hides rows. */
  readonly hidesRows: boolean;
  /** A page or more of hidden rows was found: several responses show where it ends, which proves nothing. */
  readonly unconfirmed: boolean;
  /** A response was taken as short because of `sizeHint` alone. */
  readonly reliedOnHint: boolean;
  /** The pages behind `after` were requested. */
  readonly looked: boolean;
  /** A short response was delivered up to its last row: a row up to `restThrough` now was left out of it. */
  readonly hasRest: boolean;

  /** The rows delivered. */
  readonly rows: number;
  /** The longest response of this read. */
  readonly longest: number;
  /** The page size that an earlier read has shown; 0 if none can be trusted. */
  readonly sizeHint: number;
  /** How often the interval was narrowed. */
  readonly splits: number;
  /** In another order: the short responses so far. */
  readonly shortResponses: number;
  /** The page, or in `far` the distance. */
  readonly step: number;
  /** The requests of intervals since a row was delivered. */
  readonly idle: number;

  /** Everything up to this key was delivered. */
  readonly after: Key | undefined;
  /** The end of the interval; undefined: as far as the caller's bounds go. */
  readonly through: Key | undefined;
  /** The only row of a response: the range below it is read first, and the interval after that ends with it. */
  readonly pin: Key | undefined;
  readonly highest: Key | undefined;
  readonly restThrough: Key | undefined;
  /** The first key that was found behind hidden rows. */
  readonly found: Key | undefined;
  /** How wide an interval is expected to fit into one response. */
  readonly width: bigint | undefined;
  /** The highest id seen, rounded up to the largest id of its type: no bound above it is requested. */
  readonly largest: bigint | undefined;
}

const NOTHING_READ = {
  phase: 'interval',
  looked: false,
  hasRest: false,
  reliedOnHint: false,
  rows: 0,
  splits: 0,
  step: 0,
  idle: 0,
  after: undefined,
  through: undefined,
  pin: undefined,
  highest: undefined,
  restThrough: undefined,
  found: undefined,
  width: undefined,
} as const;

/** What an earlier read found out, and whether this one lists only changes. */
export interface StartOptions {
  readonly hint: ListHint | undefined;
  readonly onlyChanges: boolean;
}

export function stateAtStart({ hint, onlyChanges }: StartOptions): ReadState {
  return {
    ...NOTHING_READ,
    order: hint?.order ?? 'asc',
    directionKnown: false,
    inOrder: true,
    proven: hint?.proven ?? false,
    // Only a read of everything can show that a service does not hide rows any more.
    hidesRows: onlyChanges && hint?.pageSize === 0,
    unconfirmed: false,
    longest: 0,
    sizeHint: hint?.proven ? hint.pageSize : 0,
    shortResponses: 0,
    largest: largestBound(BELOW_ALL),
  };
}

/** Reads everything again, with what was learned of the service. Only in the order of ids the direction saves requests. */
export function restarted(state: ReadState): ReadState {
  return { ...state, ...NOTHING_READ, idle: state.idle, order: state.inOrder ? state.order : 'asc' };
}

/**
 * The state to resume with. Pages may have another size by now: the one seen before is a hint, and only if the
 * ids are proven not to be sorted by date. Without one an open interval shows it best.
 */
export function resumedState(state: ReadState): ReadState {
  const { inOrder, proven, longest } = state;
  const sizeHint = inOrder && proven ? Math.max(longest, state.sizeHint) : 0;
  const { after, through, width, highest } = state;
  return {
    ...state,
    ...NOTHING_READ,
    rows: state.rows,
    longest: 0,
    sizeHint,
    reliedOnHint: after !== undefined,
    after,
    through: sizeHint === 0 || after === undefined ? undefined : through,
    width,
    highest,
  };
}

/**
 * The position of a keyset read that continues by page, because an id is not an integer. Resumed there it reads from
 * the first page again: page n cannot be resumed.
 */
export const BY_PAGE: ResumePosition = { pagination: 'page' };

const FLAGS = [
  'directionKnown',
  'inOrder',
  'proven',
  'hidesRows',
  'unconfirmed',
  'reliedOnHint',
  'looked',
  'hasRest',
] as const;
const COUNTS = ['rows', 'longest', 'sizeHint', 'splits', 'shortResponses', 'step', 'idle'] as const;
const KEYS = ['after', 'through', 'pin', 'highest', 'restThrough', 'found', 'width', 'largest'] as const;
const PHASES: readonly unknown[] = [
  'interval',
  'second_page',
  'behind',
  'far',
  'search',
  'end',
] satisfies Phase[];

/** A state as plain JSON, without what is false, 0 or undefined. */
export function positionOf(state: ReadState): ResumePosition {
  const set = [...FLAGS, ...COUNTS].filter((name) => Boolean(state[name]));
  const keys = KEYS.filter((name) => state[name] !== undefined);
  return {
    pagination: 'keyset',
    phase: state.phase,
    order: state.order,
    ...Object.fromEntries(set.map((name) => [name, state[name]])),
    ...Object.fromEntries(keys.map((name) => [name, String(state[name])])),
  };
}

/** Reads a position back; undefined for {@link BY_PAGE}. Anything else is a CheckpointError. */
export function stateOf(position: ResumePosition): ReadState | undefined {
  if (position.pagination === 'page') return undefined;

  const { pagination, phase, order } = position;
  const isKeyset =
    pagination === 'keyset' &&
    PHASES.includes(phase) &&
    Object.hasOwn(DIRECTIONS, String(order)) &&
    FLAGS.every((name) => position[name] === undefined || position[name] === true) &&
    COUNTS.every((name) => position[name] === undefined || isCount(position[name])) &&
    KEYS.every((name) => position[name] === undefined || /^-?\d{1,60}$/.test(String(position[name])));
  if (!isKeyset) {
    throw new CheckpointError(
      'The resume token does not hold a position of keyset pagination. Read from the start instead: leave resumeFrom out.',
    );
  }
  const key = (name: (typeof KEYS)[number]) =>
    position[name] === undefined ? undefined : BigInt(position[name] as string);
  return {
    phase,
    order,
    ...Object.fromEntries(FLAGS.map((name) => [name, position[name] === true])),
    ...Object.fromEntries(COUNTS.map((name) => [name, position[name] ?? 0])),
    ...Object.fromEntries(KEYS.map((name) => [name, key(name)])),
  } as unknown as ReadState;
}

function isCount(value: ResumePosition[string]): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0;
}
