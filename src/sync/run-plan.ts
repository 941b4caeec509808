import type { ResolvedRunOptions } from './options.ts';
import type { RunState, SyncState } from './state.ts';
import { sinceOf } from './watermark.ts';

/** What a run is going to read. */
export interface RunPlan {
  readonly mode: 'incremental' | 'full';
  /** `updatedSince` as asked for; undefined asks for everything. */
  readonly since: string | undefined;
  /** Of an interrupted run that this one continues; otherwise the first answer decides. */
  readonly watermark: string | undefined;
  /** Where the walk goes on. */
  readonly token: string | undefined;
  readonly resumed: boolean;
}

/** Continues the run that was interrupted, or begins one. */
export function planRun(state: SyncState | undefined, options: ResolvedRunOptions): RunPlan {
  const { mode, lookbackMs, list } = options;
  const run = state?.run;
  if (run !== undefined && (mode === 'incremental' || run.since === undefined)) {
    return {
      mode: run.since === undefined ? 'full' : 'incremental',
      since: run.since,
      watermark: run.watermark,
      // A walk by pages has no point to resume at: it begins again, with the watermark that it had.
      token: list.pagination === 'keyset' ? run.token : undefined,
      resumed: true,
    };
  }
  const since = mode === 'full' ? undefined : startOf(state, options, lookbackMs);
  return {
    mode: since === undefined ? 'full' : 'incremental',
    since,
    watermark: undefined,
    token: undefined,
    resumed: false,
  };
}

function startOf(
  state: SyncState | undefined,
  { updatedSince }: ResolvedRunOptions,
  lookbackMs: number,
): string | undefined {
  return state?.watermark === undefined ? updatedSince : sinceOf(state.watermark, lookbackMs);
}

/** The plan of a run whose bound cannot be trusted: everything. */
export function everything(watermark: string): RunPlan {
  return { mode: 'full', since: undefined, watermark, token: undefined, resumed: false };
}

/** The state while the run is under way. */
export function stateDuring(base: SyncState, { watermark, since, token }: RunState): SyncState {
  return {
    ...base,
    run: { watermark, ...(since === undefined ? {} : { since }), ...(token === undefined ? {} : { token }) },
  };
}

/** The state after the run has come to its end: its watermark is promoted. */
export function stateAfter(
  base: SyncState,
  plan: RunPlan & { readonly watermark: string },
  longestPage: number,
): SyncState {
  const { run: _, ...rest } = base;
  const { watermark } = plan;
  return {
    ...rest,
    watermark,
    ...(plan.mode === 'full' ? { full: watermark } : {}),
    ...(longestPage > 0 ? { pageSize: longestPage } : {}),
  };
}
