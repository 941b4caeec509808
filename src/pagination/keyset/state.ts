import { CheckpointError } from '../../errors/checkpoint-error.ts';
import { BELOW_ALL } from '../id-bounds.ts';
import type { ResumePosition } from '../page.ts';
import { idLimitOf } from './direction.ts';
import type { Key } from './interval.ts';

/*
 * The state of a read between two responses: what it knows, and what it requests next.
 *
 *              narrowed, or delivered
 *                    ┌──────┐
 *                    │      ▼  the open interval is probably the end    ┌────────────┐
 *   start ────────►  interval  ───────────────────────────────────────► │ behind_end │
 *                    ▲  │   ▲                                           └────────────┘
 *                    │  │   └───── its first page is requested (again) ───────┘  │
 *   delivered, or    │  │                                                        │ nothing was read
 *   narrowed         │  │ short, in another order                                ▼
 *                    │  ├──────────► second_page                                end
 *                    └──┼────────────────┘                                       ▲
 *                       └──── an open interval is empty or complete ─────────────┘
 *
 * A restart leads from every phase to the start: the direction turned, the order was lost, or a second page had rows.
 */

/** What a read knows in every phase. */
interface Knowledge {
  readonly order: 'asc' | 'desc';
  /** A response had two rows: a single one has no direction. */
  readonly directionKnown: boolean;
  /** Every response was in the order of ids. */
  readonly inOrder: boolean;
  /** A response was in that order, and its timestamps were not in the order of dates: the service does not list by date. */
  readonly sortedById: boolean;
  /** A response had fewer rows than a page although more followed, so the service hides rows: rules 3, 8 and 9. */
  readonly hidesRows: boolean;
  /** Rows may be missing even if every response was in order: rules 7, 8 and 10. */
  readonly mayMissRows: boolean;
  /** The read continues an earlier one, whose pages may have had another size. */
  readonly resumed: boolean;

  /** The rows delivered. */
  readonly rows: number;
  /** The pairs of neighbours in delivered responses: each had a chance to be out of order. */
  readonly neighbours: number;
  /** The most rows in a response, also before the read was resumed. */
  readonly longest: number;
  /** The same since the read was resumed. */
  readonly mostRows: number;
  /** In another order: the short responses so far. */
  readonly shortResponses: number;
  /** The requests of intervals since a row was delivered. */
  readonly requestsWithoutRows: number;

  /** Everything up to this key was delivered. */
  readonly after: Key | undefined;
  readonly highest: Key | undefined;
  /** How wide an interval is expected to fit into one response. */
  readonly width: bigint | undefined;
  /** The highest id seen, rounded up to the largest id of its type: no bound above it is requested. */
  readonly idLimit: bigint | undefined;
}

interface Bounded {
  /** Undefined: as far as the caller's bounds go. */
  readonly through: Key | undefined;
  /** The only row of a response: the range below it is read first, and the interval after that ends with it. */
  readonly singleKey: Key | undefined;
  readonly timesNarrowed: number;
}

/**
 * A short response was delivered up to its last row. A row after that, up to this key, was left out of the response.
 * `open`: that response had no upper bound.
 */
type LeftOut = Key | 'open' | undefined;

/** The interval `after` to `through` is requested. */
export interface IntervalState extends Knowledge, Bounded {
  readonly phase: 'interval';
  readonly leftOutThrough: LeftOut;
  /**
   * What the second page of everything after `after` has shown: the first key there, no row (`nothing`), or no row of a
   * second page of the whole list (`nothing_at_all`). Undefined: it was not requested.
   */
  readonly behindEnd: Key | 'nothing' | 'nothing_at_all' | undefined;
  /** Rule 9: what the first page of a list had before its second page had no row. */
  readonly firstPage: readonly Key[] | undefined;
}

/** The second page of that interval, before its first one is delivered. */
export interface SecondPageState extends Knowledge, Bounded {
  readonly phase: 'second_page';
  /** The first page may have been full. */
  readonly isFull: boolean;
}

/** The second page of everything after `after`, although its first one was empty or is expected to be. */
export interface BehindEndState extends Knowledge {
  readonly phase: 'behind_end';
  readonly leftOutThrough: LeftOut;
  /** That first page was empty. */
  readonly firstPageRead: boolean;
}

interface EndState extends Knowledge {
  readonly phase: 'end';
}

export type ReadState = IntervalState | SecondPageState | BehindEndState | EndState;

/** What only some phases need. */
type Members = Omit<
  IntervalState & Omit<BehindEndState, 'phase'> & Omit<SecondPageState, 'phase'>,
  keyof Knowledge
>;

/** What a state knows, without what only its phase needs. */
export function knowledgeOf(state: ReadState): Knowledge {
  const { phase, through, singleKey, timesNarrowed, isFull, ...others } = state as Knowledge &
    Partial<Members>;
  const { leftOutThrough, behindEnd, firstPage, firstPageRead, ...known } = others;
  return known;
}

/** An interval of which nothing is known. Without bounds it is open. */
const NEW_INTERVAL = {
  phase: 'interval',
  through: undefined,
  singleKey: undefined,
  timesNarrowed: 0,
  leftOutThrough: undefined,
  behindEnd: undefined,
  firstPage: undefined,
} as const;

/** Everything after `after`. */
export const newInterval = (state: ReadState): IntervalState => ({ ...knowledgeOf(state), ...NEW_INTERVAL });

export const START: IntervalState = {
  ...NEW_INTERVAL,
  order: 'asc',
  directionKnown: false,
  inOrder: true,
  sortedById: false,
  hidesRows: false,
  mayMissRows: false,
  resumed: false,
  rows: 0,
  neighbours: 0,
  longest: 0,
  mostRows: 0,
  shortResponses: 0,
  requestsWithoutRows: 0,
  after: undefined,
  highest: undefined,
  width: undefined,
  idLimit: idLimitOf(BELOW_ALL),
};

/** Reads everything again, with what was learned of the service. Only in the order of ids the direction saves requests. */
export function restarted(state: ReadState): IntervalState {
  const { directionKnown, inOrder, sortedById, hidesRows, mayMissRows } = state;
  const { mostRows, shortResponses, requestsWithoutRows, idLimit } = state;
  return {
    ...START,
    ...{ directionKnown, inOrder, sortedById, hidesRows, mayMissRows },
    ...{ longest: mostRows, mostRows, shortResponses, requestsWithoutRows, idLimit },
    order: inOrder ? state.order : 'asc',
  };
}

/**
 * The page size that shows that a response is short. What the pages before a resume showed is trusted only if the list is
 * sorted by id, and not by date, and hides no rows: pages may have another size by now.
 */
export function pageSizeOf(state: Omit<Knowledge, 'phase'>): number {
  return isSizeTrusted(state) ? state.longest : state.mostRows;
}

const isSizeTrusted = ({ inOrder, sortedById, hidesRows }: Knowledge): boolean =>
  inOrder && sortedById && !hidesRows;

/**
 * Whether every response proves which records exist up to its last id. If the service hides rows, ids in order are not
 * enough: a list by date can begin in the order of ids, and only timestamps that contradict a date order exclude that.
 */
export function isCertain({ inOrder, sortedById, hidesRows, mayMissRows }: ReadState): boolean {
  return inOrder && !mayMissRows && (sortedById || !hidesRows);
}

/**
 * The position of a keyset read that continues by page, because an id is not an integer. Resumed there it reads from
 * the first page again: page n cannot be resumed.
 */
export const BY_PAGE: ResumePosition = { pagination: 'page' };

/** What a resume token holds: the members of a state that a resumed read continues with, and the kind of each. */
const MEMBERS = {
  order: 'order',
  directionKnown: 'flag',
  inOrder: 'flag',
  sortedById: 'flag',
  hidesRows: 'flag',
  mayMissRows: 'flag',
  rows: 'count',
  neighbours: 'count',
  longest: 'count',
  shortResponses: 'count',
  after: 'key',
  through: 'key',
  highest: 'key',
  width: 'key',
  idLimit: 'key',
} as const satisfies Partial<Record<keyof IntervalState, 'order' | 'flag' | 'count' | 'key'>>;

type Member = keyof typeof MEMBERS;
const NAMES = Object.keys(MEMBERS) as Member[];

/** A state as plain JSON, without what is false, 0 or undefined. */
export function positionOf(state: ReadState): ResumePosition {
  const position: Record<string, string | number | boolean> = { pagination: 'keyset' };
  for (const name of NAMES) {
    const value = (state as Partial<IntervalState>)[name];
    if (typeof value === 'bigint') position[name] = String(value);
    else if (value) position[name] = value;
  }
  return position;
}

/** The state to resume with; undefined for {@link BY_PAGE}. Anything but a whole position is a CheckpointError. */
export function stateOf(position: ResumePosition): IntervalState | undefined {
  if (position.pagination === 'page') return undefined;

  if (position.pagination !== 'keyset' || !NAMES.every((name) => isMember(name, position[name]))) {
    throw new CheckpointError('The resume token does not hold a position of keyset pagination.', {
      hint: 'Read from the start instead: leave resumeFrom out.',
    });
  }
  const members = NAMES.map((name): readonly [string, unknown] => {
    const value = position[name];
    if (MEMBERS[name] === 'flag') return [name, value === true];
    if (MEMBERS[name] === 'count') return [name, value ?? 0];
    return [name, value === undefined || name === 'order' ? value : BigInt(value as string)];
  });
  const state: IntervalState = { ...START, ...Object.fromEntries(members), resumed: true };
  // Without a page size an open interval shows it best.
  const keepsInterval = isSizeTrusted(state) && state.longest > 0 && state.after !== undefined;
  return keepsInterval ? state : { ...state, through: undefined };
}

function isMember(name: Member, value: ResumePosition[string]): boolean {
  if (name === 'order') return value === 'asc' || value === 'desc';
  if (value === undefined) return true;
  if (MEMBERS[name] === 'flag') return value === true;
  if (MEMBERS[name] === 'count') return Number.isSafeInteger(value) && Number(value) > 0;
  return /^-?\d{1,60}$/.test(String(value));
}
