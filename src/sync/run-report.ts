import { type Evidence, evidenceBeside, verdictOf } from '../reports/evidence.ts';
import type { CollectionReport, CopyFigures } from '../reports/sync-report.ts';
import type { Batch, SyncProgress } from './batch.ts';
import { evidenceAfter, type RunCursor, type RunState } from './run-state.ts';
import type { Written } from './target.ts';

const FIGURES = ['added', 'changed', 'unchanged', 'deleted', 'replaced'] as const;

/** The state while the consumer works on a batch. */
export function delivering(
  state: RunState,
  { records, invalid }: Pick<Batch<unknown>, 'records' | 'invalid'>,
): RunState {
  return { ...state, delivered: { records: records.length, invalid: invalid.length } };
}

/** The state after the checkpoint of a batch is written. `written`: what a target returned for it. */
export function committed(state: RunState, written: unknown): RunState {
  const { records, invalid } = state.delivered;
  const { replaced, invalid: kept = 0, ...figures } = (written ?? {}) as Partial<Written>;
  const isReported = typeof figures.added === 'number';
  const moved = isReported ? kept : 0;
  const { counts } = isReported ? withFigures(state, { ...figures, replaced: replaced?.length }) : state;
  return {
    ...state,
    counts: {
      ...counts,
      records: counts.records + records - moved,
      invalid: counts.invalid + invalid + moved,
      pages: counts.pages + (records > 0 || invalid > 0 ? 1 : 0),
    },
  };
}

/** The state after records were removed from the copy. `count`: what a target returned for them. */
export function removed(state: RunState, count: unknown): RunState {
  return typeof count === 'number' ? withFigures(state, { deleted: count }) : state;
}

function withFigures(state: RunState, more: CopyFigures): RunState {
  const sums = FIGURES.map((name) => [name, (state.counts[name] ?? 0) + (more[name] ?? 0)]);
  return { ...state, counts: { ...state.counts, ...Object.fromEntries(sums) } };
}

/** The report of the collection: for the state in the store now. `others`: what the run has met in other collections. */
export function reportOf(
  state: RunState,
  others: readonly Evidence[] = [],
): Omit<CollectionReport, 'collection' | 'exceededLimit' | 'lastFailure'> {
  const { status, run, page, counts, deletions, stored, clockWentBack } = state;
  return {
    status,
    mode: run && modeOf(run),
    pagination: page?.pagination,
    ...verdictOf(evidenceBeside(evidenceAfter(state), others)),
    repeated: page?.repeated ?? 0,
    resumed: run?.resumed ?? false,
    ...counts,
    deletions,
    watermark: dateOf(stored.watermark),
    clockWentBack,
    lastFullRead: dateOf(stored.full),
  };
}

/** How far the run is, after so many ms. */
export function progressOf(
  { page, counts: { records, pages } }: RunState,
  elapsedMs: number,
): Pick<SyncProgress, 'records' | 'pages' | 'recordsPerSecond' | 'pagination'> {
  const recordsPerSecond = elapsedMs > 0 ? records / (elapsedMs / 1000) : 0;
  return { records, pages, recordsPerSecond, pagination: page?.pagination };
}

/** Whether a run reads everything or what changed. */
export function modeOf({ since }: RunCursor): 'incremental' | 'full' {
  return since === undefined ? 'full' : 'incremental';
}

function dateOf(timestamp: string | undefined): Date | undefined {
  return timestamp === undefined ? undefined : new Date(timestamp);
}
