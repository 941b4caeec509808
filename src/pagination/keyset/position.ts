import { CheckpointError } from '../../errors/checkpoint-error.ts';
import { BELOW_ALL } from '../id-bounds.ts';
import type { ListHint, ResumePosition } from '../page.ts';
import { type Key, keyOf, largestBound } from './interval.ts';

/** What a read knows, and needs to know to be resumed. */
export interface ReadState {
  /** Everything up to this key was delivered; undefined before the first page. */
  after: Key | undefined;
  descending: boolean;
  /** Whether a response had two rows: a single one has no direction. */
  directionKnown: boolean;
  /** Whether every response was in the order of ids. */
  inOrder: boolean;
  /** Whether that order is proven to be no order by date: see `ListHint`. */
  proven: boolean;
  /** Whether a response had fewer rows than a page although more followed: the service hides rows. */
  shortPages: boolean;
  /** Whether a page or more of hidden rows was found: several responses show where it ends, which proves nothing. */
  unconfirmed: boolean;
  /** The highest id seen, rounded up to the largest id of its type: no bound above it is requested. */
  largest: bigint | undefined;
  /** The longest page seen. */
  longest: number;
  /** How wide an interval is expected to fit into one response. */
  width: bigint | undefined;
  /** The rows delivered. */
  rows: number;
}

export function stateAtStart(hint: ListHint | undefined): ReadState {
  return {
    after: undefined,
    descending: hint?.order === 'desc',
    directionKnown: false,
    inOrder: true,
    proven: hint?.proven ?? false,
    shortPages: false,
    unconfirmed: false,
    largest: largestBound(BELOW_ALL),
    longest: 0,
    width: undefined,
    rows: 0,
  };
}

/**
 * The position of a keyset read that continues by page, because an id is not an integer. Resumed there it reads from
 * the first page again: page n cannot be resumed.
 */
export const BY_PAGE: ResumePosition = { pagination: 'page' };

export function positionOf(state: ReadState): ResumePosition {
  const { after, descending, largest, width, ...others } = state;
  return {
    pagination: 'keyset',
    order: descending ? 'desc' : 'asc',
    ...others,
    // Below every id means that nothing was delivered, like no id at all.
    ...(after === undefined || keyOf(after, descending) < 0n ? {} : { id: String(keyOf(after, descending)) }),
    ...(largest === undefined ? {} : { largest: String(largest) }),
    ...(width === undefined ? {} : { width: String(width) }),
  };
}

/** Reads a position back; undefined for {@link BY_PAGE}. Anything else is a CheckpointError. */
export function stateOf(position: ResumePosition): ReadState | undefined {
  if (position.pagination === 'page') return undefined;

  const { pagination, order, directionKnown, inOrder, proven, shortPages, unconfirmed } = position;
  const { id, largest, longest, width, rows } = position;
  const isKeyset =
    pagination === 'keyset' &&
    (order === 'asc' || order === 'desc') &&
    typeof directionKnown === 'boolean' &&
    typeof inOrder === 'boolean' &&
    typeof proven === 'boolean' &&
    typeof shortPages === 'boolean' &&
    typeof unconfirmed === 'boolean' &&
    isIntegerOrAbsent(id) &&
    isIntegerOrAbsent(largest) &&
    isCount(longest) &&
    isIntegerOrAbsent(width) &&
    isCount(rows);
  if (!isKeyset) {
    throw new CheckpointError(
      'The resume token does not hold a position of keyset pagination. Read from the start instead: leave resumeFrom out.',
    );
  }

  const descending = order === 'desc';
  return {
    after: id === undefined ? undefined : keyOf(BigInt(id), descending),
    descending,
    directionKnown,
    inOrder,
    proven,
    shortPages,
    unconfirmed,
    largest: largest === undefined ? undefined : BigInt(largest),
    longest,
    width: width === undefined ? undefined : BigInt(width) || undefined,
    rows,
  };
}

function isIntegerOrAbsent(value: ResumePosition[string]): value is string | undefined {
  return value === undefined || (typeof value === 'string' && /^\d{1,60}$/.test(value));
}

function isCount(value: ResumePosition[string]): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
