import type { SyncState } from '../reading/state.ts';
import type { AnyCollectionRun } from './collection-run.ts';

/** The collections, level by level, that are left in a round, and those that earlier syncs have read in it. */
interface Round {
  readonly left: readonly (readonly AnyCollectionRun[])[];
  /** Those that begin the next round, if nothing can be read of what is left. */
  readonly done: readonly (readonly AnyCollectionRun[])[];
}

/**
 * Syncs with `stopAfter` read in rounds: each resumes where the one before was paused, and a round ends when every
 * collection was read once. Otherwise the first collections would use up the limit of every sync, and the last ones would
 * never be read. The state of a collection has the number of the round in which it was read last.
 */
export async function planRound(
  levels: readonly (readonly AnyCollectionRun[])[],
  mode: 'incremental' | 'full',
): Promise<Round> {
  const states = new Map<AnyCollectionRun, SyncState | undefined>();
  for (const run of levels.flat()) states.set(run, await run.peek());
  const latest = Math.max(0, ...[...states.values()].map((state) => state?.round ?? 0));
  const isDone = (run: AnyCollectionRun) => {
    const state = states.get(run);
    if (state?.watermark === undefined || state.run !== undefined) return false;
    return (state.round ?? 0) === latest && (mode !== 'full' || state.checked === state.watermark);
  };
  const done = levels.map((level) => level.filter(isDone));
  const left = levels.map((level) => level.filter((run) => !isDone(run)));
  for (const run of left.flat()) run.inRound(latest);
  for (const run of done.flat()) run.inRound(latest + 1);
  return { left, done };
}
