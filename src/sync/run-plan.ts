import type { ListHint } from '../pagination/page.ts';
import { boundAt, isTooLate } from './bound.ts';
import type { ResolvedRunOptions } from './options.ts';
import type { RunState, SyncState } from './state.ts';
import { sinceOf } from './watermark.ts';

/** What a run is going to read. */
export interface RunPlan {
  readonly mode: 'incremental' | 'full';
  /** `updatedSince` as asked for, in the offset of the service; undefined asks for everything. */
  readonly since: string | undefined;
  /** Of an interrupted run that this one continues; otherwise the first answer decides. */
  readonly watermark: string | undefined;
  /** Where the walk goes on. */
  readonly token: string | undefined;
  readonly resumed: boolean;
}

/**
 * Continues the run that was interrupted, or begins one. `offset` is the lowest UTC offset that the service showed, in
 * minutes. If it is lower than what earlier bounds allowed for, they may have missed changes.
 */
export function planRun(
  state: SyncState | undefined,
  options: ResolvedRunOptions,
  offset?: number | undefined,
): RunPlan {
  const { mode, list } = options;
  const missed = state !== undefined && missedChanges(state, offset);
  const run = mode === 'incremental' || state?.run?.since === undefined ? state?.run : undefined;
  const isReliable = run?.since === undefined || !(missed || isTooLate(run.since, offset));
  if (run !== undefined && isReliable) {
    return {
      mode: run.since === undefined ? 'full' : 'incremental',
      since: run.since,
      watermark: run.watermark,
      // A walk by pages has no point to resume at: it begins again, with the watermark that it had.
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
function missedChanges({ watermark, full, offset: known }: SyncState, offset: number | undefined): boolean {
  if (watermark === undefined || watermark === full) return false;
  return isTooLate(boundAt(watermark, known), offset);
}

/** The plan of a run whose bound cannot be trusted: everything. */
export function everything(watermark: string): RunPlan {
  return { mode: 'full', since: undefined, watermark, token: undefined, resumed: false };
}

/** The state while the run is under way. */
export function stateDuring(base: SyncState, { watermark, since, token, offset }: RunState): SyncState {
  return {
    ...base,
    run: {
      watermark,
      ...(since === undefined ? {} : { since }),
      ...(token === undefined ? {} : { token }),
      ...(offset === undefined ? {} : { offset }),
    },
  };
}

/** The state after the run has come to its end: its watermark is promoted. */
export function stateAfter(
  base: SyncState,
  plan: RunPlan & { readonly watermark: string; readonly offset?: number | undefined },
  hint: ListHint | undefined,
): SyncState {
  const { run: _, offset: __, hint: ___, ...rest } = base;
  const { watermark, offset } = plan;
  return {
    ...rest,
    watermark,
    ...(plan.mode === 'full' ? { full: watermark } : {}),
    ...(offset === undefined ? {} : { offset }),
    ...(hint === undefined ? {} : { hint }),
  };
}
