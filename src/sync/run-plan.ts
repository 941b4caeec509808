import { boundAt } from '../reading/bound.ts';
import type { SyncState } from '../reading/state.ts';
import { sinceOf } from '../reading/watermark.ts';
import type { ResolvedRunOptions } from './run-options.ts';

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

/** Resumes the run that was interrupted, or starts one. */
export function planRun(state: SyncState | undefined, options: ResolvedRunOptions): RunPlan {
  const { mode, read, serviceTimeZone } = options;
  const run = mode === 'incremental' || state?.run?.since === undefined ? state?.run : undefined;
  if (run !== undefined) {
    return {
      mode: run.since === undefined ? 'full' : 'incremental',
      since: run.since,
      watermark: run.watermark,
      // Pagination by page has no point to resume at: it reads from page 1 again, with the watermark that it had.
      token: read.pagination === 'keyset' ? run.token : undefined,
      resumed: true,
    };
  }
  const start = mode === 'full' ? undefined : startOf(state, options);
  return {
    mode: start === undefined ? 'full' : 'incremental',
    since: start === undefined ? undefined : boundAt(start, state?.offset, serviceTimeZone),
    watermark: undefined,
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
