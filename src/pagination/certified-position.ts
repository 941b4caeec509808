import { CheckpointError } from '../errors/checkpoint-error.ts';
import { type Key, keyOf } from './id-interval.ts';
import type { WalkPosition } from './page.ts';

/** Where a certified walk stands after a completed interval. */
export interface CertifiedPoint {
  readonly descending: boolean;
  /** Everything up to this key has been delivered; undefined where the walk has only begun. */
  readonly after: Key | undefined;
  /** The longest page seen. */
  readonly longest: number;
  readonly width: bigint | undefined;
}

/**
 * The position of a certified walk that has become one by pages, because an id is no integer. Resumed there it reads
 * by pages from the first one: page n is no point to resume at.
 */
export const PAGES_POSITION: WalkPosition = { pagination: 'page' };

/** Whether a step's position says that the certified walk reads by pages now. */
export function isByPages(position: WalkPosition | undefined): boolean {
  return position?.pagination === 'page';
}

/** The longest page that the walk of a position has seen: the hint for the next run. */
export function pageSizeOf(position: WalkPosition | undefined): number | undefined {
  return typeof position?.longest === 'number' ? position.longest : undefined;
}

export function positionOf({ descending, after, longest, width }: CertifiedPoint): WalkPosition {
  return {
    pagination: 'keyset',
    direction: descending ? 'desc' : 'asc',
    // As an id. Below every id means that nothing is done yet, like no id at all.
    ...(after === undefined || keyOf(after, descending) < 0n ? {} : { id: String(keyOf(after, descending)) }),
    longest,
    ...(width === undefined ? {} : { width: String(width) }),
  };
}

/** Reads a position back; undefined for {@link PAGES_POSITION}. Anything else is a CheckpointError. */
export function pointOf(position: WalkPosition): CertifiedPoint | undefined {
  if (isByPages(position)) return undefined;

  const { pagination, direction, id, longest, width } = position;
  const isPoint =
    pagination === 'keyset' &&
    (direction === 'asc' || direction === 'desc') &&
    isIntegerOrAbsent(id) &&
    typeof longest === 'number' &&
    Number.isSafeInteger(longest) &&
    longest >= 0 &&
    isIntegerOrAbsent(width);
  if (!isPoint) throw new CheckpointError('The position to resume at is none of a certified walk.');

  const descending = direction === 'desc';
  return {
    descending,
    after: id === undefined ? undefined : keyOf(BigInt(id), descending),
    longest,
    width: width === undefined ? undefined : BigInt(width) || undefined,
  };
}

function isIntegerOrAbsent(value: WalkPosition[string]): value is string | undefined {
  return value === undefined || (typeof value === 'string' && /^\d{1,60}$/.test(value));
}
