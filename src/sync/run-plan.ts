import { boundAt, isTooLate } from './bound.ts';
import type { ResolvedRunOptions } from './run-options.ts';
import type { SyncState } from './state.ts';
import { sinceOf } from './watermark.ts';

/** What a run is going to read. */
export interface RunPlan {
  readonly mode: 'incremental' | 'full';
  /** `updatedSince` as sent, in the offset of the service; undefined reads everything. */
  readonly since: string | undefined;
  /** Of an interrupted run that this one resumes; otherwise the first response decides. */
  readonly watermark: string | undefined;
  /** Where to resume. */
  readonly token: string | undefined;
  readonly resumed: boolean;
}

/**
 * Resumes the run that was interrupted, or starts one. `offset` is the lowest UTC offset that the service showed, in
 * minutes. If it is lower than earlier bounds allowed for, they may have missed changes.
 */
export function planRun(
  state: SyncState | undefined,
  options: ResolvedRunOptions,
  offset: number | undefined,
): RunPlan {
  const { mode, list } = options;
  const missed = state !== undefined && mayHaveMissedChanges(state, offset);
  const run = mode === 'incremental' || state?.run?.since === undefined ? state?.run : undefined;
  const isReliable = run?.since === undefined || !(missed || isTooLate(run.since, offset));
  if (run !== undefined && isReliable) {
    return {
      mode: run.since === undefined ? 'full' : 'incremental',
      since: run.since,
      watermark: run.watermark,
      // Pagination by page has no point to resume at: it reads from page 1 again, with the watermark that it had.
      token: list.pagination === 'keyset' ? run.token : undefined,
      resumed: true,
    };
  }
  const since = mode === 'full' || missed ? undefined : startOf(state, options);
  return {
    mode: since === undefined ? 'full' : 'incremental',
    since: since === undefined ? undefined : boundAt(since, offset),
    watermark: run?.watermark,
    token: undefined,
    resumed: false,
  };
}

function startOf(
  state: SyncState | undefined,
  { updatedSince, lookbackMs }: ResolvedRunOptions,
): string | undefined {
  return state?.watermark === undefined ? updatedSince : sinceOf(state.watermark, lookbackMs);
}

/** Whether runs since the last full one may have missed changes, because their bounds were too late. */
function mayHaveMissedChanges(
  { watermark, full, offset: known }: SyncState,
  offset: number | undefined,
): boolean {
  if (watermark === undefined || watermark === full) return false;
  return isTooLate(boundAt(watermark, known), offset);
}

/** The plan of a run that trusts no bound: it reads everything. */
export function readEverything(watermark: string | undefined): RunPlan {
  return { mode: 'full', since: undefined, watermark, token: undefined, resumed: false };
}
