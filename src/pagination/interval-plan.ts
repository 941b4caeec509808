import type { Interval, Key } from './id-interval.ts';

/*
 * What to ask for next. Nothing here decides what is delivered: a bad guess costs a request and never a row.
 * Full pages are rare where an interval fits four fifths of one, and cost little where they are cut well.
 */

/** How densely the last completed intervals were taken, later ones counting more. */
export interface Density {
  readonly span: bigint;
  readonly rows: number;
}

/** What the certified walk has learnt so far. */
export interface Learnt {
  /** The most rows that one answer of this walk had. */
  readonly longest: number;
  /** How wide an interval may be expected to fit into one answer. */
  readonly width: bigint;
  /** The farthest that a record was sent from its place in the order of ids. */
  readonly displaced: number;
  /** Keys of answers that were cut, ascending: those beyond what is read are of rows to come. */
  readonly known: readonly Key[];
  /** Whether the page size is only remembered from an earlier run. */
  readonly sizeUnknown: boolean;
}

/** An interval that was asked for and whose answer may have been cut. */
export interface Cut {
  readonly interval: Interval;
  /** The ids of the answer, ascending, at least one. */
  readonly keys: readonly Key[];
  readonly displaced: number;
  /** Whether the interval was planned to fit into one answer. */
  readonly planned: boolean;
  /** How often this interval has been narrowed before. */
  readonly splits: number;
  /** The highest key seen before the first of these splits. */
  readonly origin: Key;
}

/** Splits in a row from which on halves are taken where the rows seen do not tell enough. */
const HALVING_FROM = 3;
/** Splits in a row from which on halves are taken even where no row has been seen. */
const HALVING_GAPS_FROM = 12;
/** So many rows to come are remembered. */
const MOST_KNOWN = 1_000;

/**
 * Where to cut an interval whose answer may have been cut by the service. Always below its end, so that narrowing
 * ends; and so soon that it is not by one id after another.
 */
export function narrowedEnd(cut: Cut): Key {
  const { interval, keys, splits } = cut;
  const { after } = interval;
  const [first = 0n] = keys;
  // A single row: all before it, unless nothing fits there.
  if (keys.length === 1) return after !== undefined && first - 1n <= after ? first : first - 1n;

  const end = keys[cutIndex(cut)] ?? first;
  if (splits < HALVING_FROM) return end;

  const middle = middleOf(cut);
  // Below the lowest row seen there are few others, or a gap.
  const half = middle < first && splits < HALVING_GAPS_FROM ? first : middle;
  return half < end ? half : end;
}

function cutIndex({ keys, displaced, planned, splits }: Cut): number {
  // In order the answer held the lowest rows: less the last of them it is whole, if nothing is added meanwhile.
  // Nearly in order, it is so below the rows that another one may have been sent in place of.
  const certain = keys.length - 2 - displaced;
  if (displaced === 0) return certain;
  // Planned to fit, the interval has hardly more rows than were sent. Else there may be any number of them.
  const share = planned && splits === 0 ? 0.7 : 0.5;
  return Math.max(certain, Math.floor((keys.length - 1) * share));
}

/** Half of what is left; without a lower end twice as far from where the splits began, which reaches any id soon. */
function middleOf({ interval: { after, through }, origin }: Cut): Key {
  const end = through ?? origin;
  return after === undefined ? 2n * end - origin - 1n : (after + end) / 2n;
}

/** Adds a completed interval to what is known of the density, of which each counts three quarters of the one after. */
export function densityWith(before: Density, span: bigint, rows: number): Density {
  return { span: (before.span * 3n) / 4n + span, rows: (before.rows * 3) / 4 + rows };
}

/** The keys beyond `after` of which rows are known to exist, with those of another answer; the nearest of them. */
export function knownWith(
  before: readonly Key[],
  keys: readonly Key[],
  after: Key | undefined,
): readonly Key[] {
  const ahead = before.filter((key) => after === undefined || key > after);
  return [...new Set([...ahead, ...keys])].sort((a, b) => (a < b ? -1 : 1)).slice(0, MOST_KNOWN);
}

/** The width that should fill four fifths of a page, at most four times the `span` of the last interval. */
export function nextWidth(span: bigint, density: Density, longest: number): bigint {
  const most = span * 4n;
  // In thousandths, for the rows of intervals further back count as fractions.
  const rows = BigInt(Math.round(density.rows * 1000));
  if (rows === 0n) return most;
  const width = (density.span * 4000n * BigInt(longest) + 5n * rows - 1n) / (5n * rows);
  return width < most ? width : most;
}

/**
 * How far the interval after a completed one goes; undefined for as far as the walk goes.
 *
 * @param after the end of the completed interval
 * @param rows how many rows it held
 */
export function nextEnd(after: Key, rows: number, learnt: Learnt): Key | undefined {
  const { width, displaced, longest, known, sizeUnknown } = learnt;
  // Only an answer to an open interval can show the page size, for it is full wherever there is more.
  if (sizeUnknown) return undefined;
  if (rows * 2 >= longest) return after + width;
  // In order an open answer begins with the next row. Scattered rows only show that there are more of them.
  const next = displaced * 2 >= longest ? known.find((key) => key > after) : undefined;
  if (next === undefined) return undefined;
  return after + width < next ? next : after + width;
}
