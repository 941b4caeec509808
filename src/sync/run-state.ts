import { isApiError } from '../errors/guards.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import type { Page, PaginationKind, ResponseTime } from '../pagination/page.ts';
import { boundAt, hasOffset, lowestOffset } from '../reading/bound.ts';
import type { RunPosition, SyncState } from '../reading/state.ts';
import { observedTime, rejectFutureStart, sinceOf, toSeconds, watermarkOf } from '../reading/watermark.ts';
import { unreadableId } from '../schemas/unreadable-id.ts';
import type { ResolvedRunOptions } from './run-options.ts';

export interface RunPlan {
  readonly mode: 'incremental' | 'full';
  /** `updatedSince` as sent, in the offset of the service; undefined reads everything. */
  readonly since: string | undefined;
  /** Of an interrupted run that this one resumes; otherwise the first response decides. */
  readonly watermark: string | undefined;
  /** Where to resume. */
  readonly token: string | undefined;
  readonly resumed: boolean;
  /** Of a full read that a target marks, so that deletions are found in whatever run it ends. */
  readonly marks?: ReadMarking | undefined;
  /** Of an interrupted run whose list is over: see `RunPosition`. */
  readonly looked?: string | undefined;
  /** Whether it starts at the last run that read deep: see `deepPlan`. */
  readonly isDeep?: boolean | undefined;
}

/** The number of a full read, and how many records the copy had before it. */
export interface ReadMarking {
  readonly read: number;
  readonly local: number;
}

/**
 * One run of one collection as a value:
 *
 *   begin ──▶ before the first page ── next ──▶ at a position ── next ──▶ … ── finish ──▶ the new state in the store
 *                │            ▲
 *                └────────────┘ read again: another bound, because of the service's clock (next) or its 400 (inUtc)
 */
export interface RunState {
  readonly plan: RunPlan;
  /** Undefined before the first page. */
  readonly position: RunPosition | undefined;
  /** What checkpoints contain beside the position: the state found in the store, and what this run has learned. */
  readonly base: SyncState;
  /** Of the last page, as are the next two. */
  readonly pagination: PaginationKind | undefined;
  readonly complete: Page<unknown>['complete'];
  readonly repeated: number;
  /** Rows of all pages so far. */
  readonly rows: number;
  /** Whether the service's clock stood behind the last watermark. */
  readonly clockWentBack: boolean;
  /**
   * The first row without an id that can be read: the run cannot end well. It is not stored, because a list with such a row
   * is read by page, and so again from its start.
   */
  readonly unreadable: string | undefined;
}

export interface Step {
  readonly state: RunState;
  /**
   * - `deliver`: a batch of the page. After a restart also without records: the position in the store is wrong.
   * - `pass`: the page has nothing to deliver.
   * - `read_again`: the bound cannot be trusted. The list begins again by the new plan, without this page.
   */
  readonly kind: 'deliver' | 'pass' | 'read_again';
  /** Whether the read starts again with this page. */
  readonly restarted: boolean;
}

type RunRules = Pick<ResolvedRunOptions, 'mode' | 'lookbackMs' | 'updatedSince'> & {
  /** How the collection is listed. */
  readonly pagination: PaginationChoice;
  /** Whether the target marks full reads: in mode `full` one that is not marked is not resumed. */
  readonly marked?: boolean | undefined;
};

/** The run that follows from the state in the store. `own`: what a state of this run has in any case. */
export function begin(
  found: SyncState | undefined,
  own: Pick<SyncState, 'scope' | 'parameters' | 'by' | 'round'>,
  rules: RunRules,
): RunState {
  const plan = planOf(found, rules);
  return {
    plan,
    position: plan.looked === undefined ? undefined : found?.run,
    base: { ...found, ...own },
    pagination: undefined,
    complete: undefined,
    repeated: 0,
    rows: 0,
    clockWentBack: false,
    unreadable: undefined,
  };
}

/** Resumes the run that was interrupted, or plans one. */
function planOf(found: SyncState | undefined, rules: RunRules): RunPlan {
  const { mode, pagination, updatedSince, lookbackMs } = rules;
  const isUnmarked = rules.marked === true && found?.run?.read === undefined;
  const isResumed = mode === 'incremental' || (found?.run?.since === undefined && !isUnmarked);
  const run = isResumed ? found?.run : undefined;
  if (run !== undefined) {
    return {
      mode: run.since === undefined ? 'full' : 'incremental',
      since: run.since,
      watermark: run.watermark,
      // Pagination by page has no point to resume at: it reads from page 1 again, with the watermark that it had.
      token: pagination === 'keyset' ? run.token : undefined,
      resumed: true,
      looked: run.looked,
      marks: run.read === undefined ? undefined : { read: run.read, local: run.local ?? 0 },
    };
  }
  const last = found?.watermark;
  const start = last === undefined ? updatedSince : sinceOf(last, lookbackMs);
  if (mode === 'full' || start === undefined) return FULL;
  // The watermark is the time that is known: the first response shows whether the run begins later.
  if (last !== undefined && isDeepDue(found, last)) return deepPlan(found as SyncState, lookbackMs);
  return { ...FULL, mode: 'incremental', since: boundAt(start, found?.offset) };
}

const HOUR_MS = 3_600_000;

/** Two minutes more than an hour, for what becomes visible late. */
const DEEP_MS = HOUR_MS + 120_000;

function isDeepDue(found: SyncState | undefined, time: string | number): boolean {
  return found?.deep !== undefined && new Date(time).getTime() - Date.parse(found.deep) >= HOUR_MS;
}

/**
 * Once an hour a run starts an hour before the last one that did so. A service that stores local times shows a change
 * in the hour that comes twice, when clocks go back, as an hour older than it is: the runs between miss it.
 */
function deepPlan({ watermark = '', deep = '', offset }: SyncState, lookbackMs: number): RunPlan {
  const starts = [sinceOf(watermark, lookbackMs), sinceOf(deep, DEEP_MS)].sort();
  return { ...FULL, mode: 'incremental', since: boundAt(starts[0] as string, offset), isDeep: true };
}

const FULL: RunPlan = {
  mode: 'full',
  since: undefined,
  watermark: undefined,
  token: undefined,
  resumed: false,
};

/** A full read that begins, with its marks. */
export function marked(state: RunState, marks: ReadMarking): RunState {
  return { ...state, plan: { ...state.plan, marks } };
}

/** The state after a page. Throws an InvalidInputError if the first page shows that `updatedSince` lies in the future. */
export function next(state: RunState, page: Page<unknown>, rules: RunRules): Step {
  const isNew = state.position === undefined && state.plan.watermark === undefined;
  const checked = isNew ? checkClock(state, page.first, rules) : state;
  if (checked.plan !== state.plan) return { state: checked, kind: 'read_again', restarted: false };

  const { plan, position, base } = checked;
  // A run without a point to resume at delivers again what the interrupted one delivered.
  const startsOver = position === undefined && plan.resumed && plan.token === undefined;
  const restarted = page.restarted || startsOver;
  const watermark = position?.watermark ?? plan.watermark ?? watermarkOf(page.first);
  const { resumeToken: token, pagination, complete, repeated } = page;
  return {
    state: {
      ...checked,
      position: { watermark, since: plan.since, token, ...plan.marks },
      base: withOffset(base, page.rows),
      pagination,
      complete,
      repeated,
      rows: checked.rows + page.rows.length,
      unreadable: checked.unreadable ?? firstUnreadable(page, checked.rows),
    },
    kind: page.records.length > 0 || page.invalid.length > 0 || restarted ? 'deliver' : 'pass',
    restarted,
  };
}

/** The first row of a page without an id that can be read, as an error names it. `before`: rows of the pages before. */
function firstUnreadable({ rows, invalid }: Page<unknown>, before: number): string | undefined {
  if (invalid.every(({ id }) => id !== undefined)) return undefined;
  for (const [at, row] of rows.entries()) {
    const why = unreadableId(row);
    if (why !== undefined) return `in row ${before + at + 1} of the read, ${why}`;
  }
  return 'a row has none';
}

/**
 * If the service's clock stands so far behind the last watermark that what was written since then may have an earlier
 * timestamp than the bound, everything is read. The lookback covers a smaller step back.
 */
function checkClock(state: RunState, first: ResponseTime, { lookbackMs, updatedSince }: RunRules): RunState {
  const before = state.base.watermark;
  const now = observedTime(first);
  if (before === undefined) {
    if (updatedSince !== undefined) rejectFutureStart(updatedSince, now, 'updatedSince');
    return state;
  }
  const watermark = watermarkOf(first);
  const clockWentBack = watermark < before && now < Date.parse(before);
  const { plan, base } = state;
  if (plan.since === undefined) return { ...state, clockWentBack };
  if (now < Date.parse(before) - lookbackMs) return { ...state, clockWentBack, plan: { ...FULL, watermark } };
  // What the runs since the last deep one have missed is not found any later than an hour after it.
  const isDue = !plan.isDeep && base.deep !== before && isDeepDue(base, now);
  return { ...state, clockWentBack, plan: isDue ? deepPlan(base, lookbackMs) : plan };
}

/** With the offset that the rows show, if they show one. The rows as sent, because a schema of the caller may drop or change timestamps. */
function withOffset(base: SyncState, rows: readonly unknown[]): SyncState {
  const shown = lowestOffset(rows as Parameters<typeof lowestOffset>[0]);
  return shown === undefined || base.offset === 'Z' ? base : { ...base, offset: shown };
}

/** After a 400 or 422: a service may reject an offset, so bounds are sent in UTC from now on. Undefined if that was not why. */
export function inUtc(state: RunState, error: unknown): RunState | undefined {
  const { plan, base, position } = state;
  if (position !== undefined || plan.since === undefined || !hasOffset(plan.since)) return undefined;
  if (!isApiError(error) || (error.status !== 400 && error.status !== 422)) return undefined;
  const since = toSeconds(Date.parse(plan.since));
  return {
    ...state,
    plan: { ...plan, since, token: undefined, resumed: false },
    base: { ...base, offset: 'Z' },
  };
}

/** The list is over, and the records that it lacks have been looked up as far as this id. */
export function lookedUp(state: RunState, looked: string): RunState {
  return { ...state, position: state.position && { ...state.position, looked } };
}

/** The state to write with a batch: the next run resumes after it. */
export function checkpointOf({ base, position }: RunState): SyncState {
  return { ...base, run: position ?? base.run };
}

/** The state to write if this run must not be resumed: the next one starts where this one did. */
export function abandoned({ base }: RunState): SyncState {
  return { ...base, run: undefined };
}

/** The state to write at the end of the read. The watermark advances here, and only here. */
export function finish({ plan, position, base }: RunState, mode: RunRules['mode']): SyncState {
  // A list without any response has read nothing: the next run starts where this one did.
  if (position === undefined) return base;
  const { watermark } = position;
  const full = plan.mode === 'full' ? watermark : base.full;
  const isAskedFor = mode === 'full' || plan.marks !== undefined;
  const checked = plan.mode === 'full' && isAskedFor ? watermark : base.checked;
  const isDeep = plan.mode === 'full' || plan.isDeep === true || base.deep === undefined;
  return { ...base, watermark, full, checked, deep: isDeep ? watermark : base.deep, run: undefined };
}
