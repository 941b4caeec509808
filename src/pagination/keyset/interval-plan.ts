import type { Interval, Key } from './interval.ts';

/*
 * Where to end the next interval. Nothing here decides what is delivered: a bad guess costs a request, never a row.
 */

/** Splits of one interval after which it is halved, because the rows seen do not tell enough. */
const HALVING_AFTER = 2;

/** A full response: the interval was perhaps cut. */
export interface FullResponse {
  /** Its keys, each once, ascending; at least one. */
  readonly sorted: readonly Key[];
  /** Whether every response so far was in the order of ids. */
  readonly inOrder: boolean;
  /** How often the interval was narrowed before. */
  readonly splits: number;
}

/** The new end of an interval. `pin` is a single row, before which everything is requested first. */
export interface Narrowed {
  readonly through: Key;
  readonly pin: Key | undefined;
}

/** Narrows an interval to what one response is expected to hold. Undefined if it cannot be narrowed any more. */
export function narrow(
  { after, through }: Interval,
  { sorted, inOrder, splits }: FullResponse,
): Narrowed | undefined {
  const [first = 0n] = sorted;
  if (sorted.length === 1) {
    if (after !== first - 1n) return { through: first - 1n, pin: first };
    return through === first ? undefined : { through: first, pin: undefined };
  }
  // In id order the response held the first rows of the interval: it is complete up to the last but one.
  const middle = sorted[(sorted.length - 1) >> 1] ?? first;
  if (inOrder) return { through: splits > HALVING_AFTER ? middle : (sorted.at(-2) ?? first), pin: undefined };

  const half = after === undefined ? middle : (after + (through ?? middle)) / 2n;
  const isHalved = splits >= HALVING_AFTER && after !== undefined && half > after && half < middle;
  return { through: isHalved ? half : middle, pin: undefined };
}

/** A completed interval. */
export interface Completed {
  readonly span: bigint;
  readonly rows: number;
  readonly pageSize: number;
}

/** How wide the next interval may be to fill four fifths of a page. */
export function nextWidth({ span, rows, pageSize }: Completed, before: bigint | undefined): bigint {
  const most = span * 4n;
  const fitting = rows === 0 ? most : (most * BigInt(pageSize)) / (5n * BigInt(rows));
  const width = fitting < most ? fitting : most;
  // Two similar estimates make a better one.
  const isSimilar = before !== undefined && rows > 0 && width < 2n * before && before < 2n * width;
  const next = isSimilar ? (before + width + 1n) / 2n : width;
  return next > 1n ? next : 1n;
}
