import { isApiError } from '../errors/guards.ts';
import { UnexpectedResponseError } from '../errors/unexpected-response-error.ts';
import type { PaginationChoice } from '../pagination/by-cursor.ts';
import type { Page, ResponseTime } from '../pagination/page.ts';
import { boundAt, hasOffset, lowestOffset } from '../reading/bound.ts';
import type { RunPosition, SyncState } from '../reading/state.ts';
import { observedTime, rejectFutureStart, sinceOf, toSeconds, watermarkOf } from '../reading/watermark.ts';
import { type Evidence, evidenceBeside, joinedEvidence, NO_EVIDENCE } from '../reports/evidence.ts';
import type { CollectionReport, CopyFigures, DeletionReport } from '../reports/sync-report.ts';
import { unreadableId } from '../schemas/unreadable-id.ts';
import type { ResolvedRunOptions } from './run-options.ts';

/** How far a run is: `RunPosition` as it will be written, and what only this run knows. */
export interface RunCursor extends Partial<RunPosition> {
  readonly resumed?: boolean;
  /** Whether it starts at the last run that read deep: see `deepRun`. */
  readonly isDeep?: boolean;
}

/** What a run has committed. */
interface Counts extends CopyFigures {
  readonly records: number;
  readonly invalid: number;
  readonly pages: number;
}

/**
 * One run of one collection as a value. Its checkpoint, its report and its progress are functions of it:
 *
 *   unread ── begin ──▶ before the first page ── next ──▶ at a page ── next ──▶ … ── done ──▶ the new state in the store
 *                         │            ▲
 *                         └────────────┘ read again: another bound, because of the service's clock (next) or its 400 (inUtc)
 */
export interface RunState {
  readonly status: CollectionReport['status'];
  /** What checkpoints contain beside the run: the state found in the store, and what this run has learned. */
  readonly stored: SyncState;
  /** Whether the store had a state. */
  readonly isKnown: boolean;
  /** Undefined before the state in the store was read. Without a watermark the first response gives it. */
  readonly run: RunCursor | undefined;
  /** The last page. */
  readonly page: Pick<Page<unknown>, 'pagination' | 'repeated'> | undefined;
  /** Rows of all pages so far. */
  readonly rows: number;
  /** Whether the service's clock stood behind the last watermark. */
  readonly clockWentBack: boolean;
  /**
   * The first row without an id that can be read: the run cannot end well. It is not stored, because a list with such a row
   * is read by page, and so again from its start.
   */
  readonly unreadable: string | undefined;
  readonly counts: Counts;
  /** What is in the batch that the consumer works on. Counted before, because the consumer may empty the array. */
  readonly delivered: Pick<Counts, 'records' | 'invalid'>;
  readonly deletions: DeletionReport | undefined;
}

export interface PageStep {
  readonly state: RunState;
  /**
   * - `deliver`: a batch of the page. After a restart also without records: the position in the store is wrong.
   * - `pass`: the page has nothing to deliver.
   * - `read_again`: the bound cannot be trusted. The list begins again by the new run, without this page.
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

export const NO_DELETIONS: DeletionReport = {
  skipped: undefined,
  local: 0,
  candidates: 0,
  deleted: 0,
  repaired: 0,
  unconfirmed: [],
};

/** The state of a collection that was not read yet. `own`: what a state of this run has in any case. */
export function unread(own: Pick<SyncState, 'scope' | 'parameters' | 'by'>): RunState {
  return {
    status: 'stopped',
    // A run without a limit ends the round: the next one has all collections again.
    stored: { ...own, round: undefined },
    isKnown: false,
    run: undefined,
    page: undefined,
    rows: 0,
    clockWentBack: false,
    unreadable: undefined,
    counts: { records: 0, invalid: 0, pages: 0 },
    delivered: { records: 0, invalid: 0 },
    deletions: undefined,
  };
}

/** The run that follows from the state in the store. */
export function begin(state: RunState, found: SyncState | undefined, rules: RunRules): RunState {
  const stored = { ...found, ...state.stored };
  return { ...state, stored, isKnown: found !== undefined, run: runAfter(found, rules) };
}

/** Resumes the run that was interrupted, or plans one. */
function runAfter(found: SyncState | undefined, rules: RunRules): RunCursor {
  const { mode, pagination, updatedSince, lookbackMs } = rules;
  const isUnmarked = rules.marked === true && found?.run?.read === undefined;
  const isResumed = mode === 'incremental' || (found?.run?.since === undefined && !isUnmarked);
  if (found?.run !== undefined && isResumed) {
    // Pagination by page has no point to resume at: it reads from page 1 again, with the watermark that it had.
    const token = pagination === 'keyset' ? found.run.token : undefined;
    return { ...found.run, token, resumed: true };
  }
  const last = found?.watermark;
  const start = last === undefined ? updatedSince : sinceOf(last, lookbackMs);
  if (mode === 'full' || start === undefined) return {};
  // The watermark is the time that is known: the first response shows whether the run begins later.
  if (last !== undefined && isDeepDue(found, last)) return deepRun(found as SyncState, lookbackMs);
  return { since: boundAt(start, found?.offset) };
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
function deepRun({ watermark = '', deep = '', offset }: SyncState, lookbackMs: number): RunCursor {
  const starts = [sinceOf(watermark, lookbackMs), sinceOf(deep, DEEP_MS)].sort();
  return { since: boundAt(starts[0] as string, offset), isDeep: true };
}

/** The state after a page. Throws an InvalidInputError if the first page shows that `updatedSince` lies in the future. */
export function next(state: RunState, page: Page<unknown>, rules: RunRules): PageStep {
  const isNew = state.page === undefined && state.run?.watermark === undefined;
  const checked = isNew ? checkClock(state, page.first, rules) : state;
  const { run = {}, stored, rows } = checked;
  if (checked.run !== state.run) return { state: checked, kind: 'read_again', restarted: false };

  // A run without a point to resume at delivers again what the interrupted one delivered.
  const startsOver = state.page === undefined && run.resumed === true && run.token === undefined;
  const restarted = page.restarted || startsOver;
  const { resumeToken: token, pagination, repeated } = page;
  // The page of a resumed read knows only the lengths of this run.
  const longest = Math.max(page.evidence.longest, run.evidence?.longest ?? 0);
  const evidence = { ...page.evidence, longest };
  return {
    state: {
      ...checked,
      run: { ...run, watermark: run.watermark ?? watermarkOf(page.first), token, evidence },
      stored: withOffset(stored, page.rows),
      page: { pagination, repeated },
      rows: rows + page.rows.length,
      unreadable: checked.unreadable ?? firstUnreadable(page, rows),
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
  const before = state.stored.watermark;
  const now = observedTime(first);
  if (before === undefined) {
    if (updatedSince !== undefined) rejectFutureStart(updatedSince, now, 'updatedSince');
    return state;
  }
  const watermark = watermarkOf(first);
  const clockWentBack = watermark < before && now < Date.parse(before);
  const { run, stored } = state;
  if (run?.since === undefined) return { ...state, clockWentBack };
  if (now < Date.parse(before) - lookbackMs) return { ...state, clockWentBack, run: { watermark } };
  // What the runs since the last deep one have missed is not found any later than an hour after it.
  const isDue = !run.isDeep && stored.deep !== before && isDeepDue(stored, now);
  return { ...state, clockWentBack, run: isDue ? deepRun(stored, lookbackMs) : run };
}

/** With the offset that the rows show, if they show one. The rows as sent, because a schema of the caller may drop or change timestamps. */
function withOffset(stored: SyncState, rows: readonly unknown[]): SyncState {
  const shown = lowestOffset(rows as Parameters<typeof lowestOffset>[0]);
  return shown === undefined || stored.offset === 'Z' ? stored : { ...stored, offset: shown };
}

/** After a 400 or 422: a service may reject an offset, so bounds are sent in UTC from now on. Undefined if that was not why. */
export function inUtc(state: RunState, error: unknown): RunState | undefined {
  const { run, stored, page } = state;
  if (page !== undefined || run?.since === undefined || !hasOffset(run.since)) return undefined;
  if (!isApiError(error) || (error.status !== 400 && error.status !== 422)) return undefined;
  const since = toSeconds(Date.parse(run.since));
  return {
    ...state,
    run: { ...run, since, token: undefined, resumed: false },
    stored: { ...stored, offset: 'Z' },
  };
}

/** Whether a page was read, by this run or by the one whose look-ups it resumes. */
function hasRead({ run, page }: RunState): boolean {
  return page !== undefined || run?.listed === true;
}

/** Whether this tenant could read the collection: in an earlier run, or at the start of this one. */
export function couldRead({ isKnown, page }: RunState): boolean {
  return isKnown || page !== undefined;
}

/** Whether the next run can resume this one, or loses nothing because this one has not read a page. */
export function isResumable({ run, page }: RunState): boolean {
  return run?.listed === true || page === undefined || page.pagination === 'keyset';
}

/** The list is over: a run that resumes this one looks up what is left of the records that it lacks. */
export function listed(state: RunState): RunState {
  return hasRead(state) ? { ...state, run: { ...state.run, listed: true } } : state;
}

/** The state to write with a batch: the next run resumes after it. */
export function checkpointOf(state: RunState): SyncState {
  if (!hasRead(state)) return state.stored;
  const { evidence, ...run } = state.run as RunPosition;
  // A read that begins again meets everything again.
  const isResumed = run.token !== undefined || run.listed === true;
  return { ...state.stored, run: isResumed ? { ...run, evidence } : run };
}

/** The state to write if this run must not be resumed: the next one starts where this one did. */
export function abandoned({ stored }: RunState): SyncState {
  return { ...stored, run: undefined };
}

/** Whether a resumed read failed because the service shows nothing of what the run before it has read. */
export function showsNoneOf({ run, page }: RunState, error: unknown): boolean {
  const isIncomplete = error instanceof UnexpectedResponseError && error.reason === 'incomplete_list';
  return isIncomplete && run?.resumed === true && page === undefined;
}

/** The state after the run has met more than its pages show. */
export function met(state: RunState, more: Evidence): RunState {
  const { evidence = NO_EVIDENCE } = state.run ?? {};
  return { ...state, run: { ...state.run, evidence: joinedEvidence(evidence, more) } };
}

/** What is known of the collection: only a full read replaces what the reads before it have met. */
export function evidenceAfter({ status, run, stored }: RunState): Evidence {
  const { evidence: before = NO_EVIDENCE } = stored;
  if (status === 'done') return before;
  if (run?.evidence === undefined) return NO_EVIDENCE;
  return run.since === undefined ? run.evidence : joinedEvidence(before, run.evidence);
}

/**
 * The state to write at the end of the read. The watermark advances here, and only here. `others`: what the run has met in
 * other collections.
 */
export function finish(state: RunState, mode: RunRules['mode'], others: readonly Evidence[] = []): SyncState {
  const { run = {}, stored } = state;
  // A list without any response has read nothing: the next run starts where this one did.
  if (!hasRead(state)) return stored;
  const { watermark, since, read, isDeep } = run;
  const isFull = since === undefined;
  const isChecked = isFull && (mode === 'full' || read !== undefined);
  return {
    ...stored,
    watermark,
    full: isFull ? watermark : stored.full,
    evidence: evidenceBeside(evidenceAfter(state), others),
    checked: isChecked ? watermark : stored.checked,
    deep: isFull || isDeep || stored.deep === undefined ? watermark : stored.deep,
    run: undefined,
  };
}
