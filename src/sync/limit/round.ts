import type { SyncState } from '../../reading/state.ts';

/** The run of a collection, as far as rounds are concerned. */
interface RunInRounds {
  peek(): Promise<SyncState | undefined>;
  /** Says in which round it is read. */
  inRound(round: number): void;
}

/** The collections, level by level, that are left in a round, and those that earlier syncs have read in it. */
interface Round<Run> {
  readonly left: readonly (readonly Run[])[];
  /** Those that begin the next round, if nothing can be read of what is left. */
  readonly done: readonly (readonly Run[])[];
}

/**
 * Syncs with `stopAfter` read in rounds: each resumes where the one before was paused, and a round ends when every
 * collection was read once. Otherwise the first collections would use up the limit of every sync, and the last ones would
 * never be read. The state of a collection has the number of the round in which it was read last.
 */
export async function planRound<Run extends RunInRounds>(
  levels: readonly (readonly Run[])[],
  mode: 'incremental' | 'full',
): Promise<Round<Run>> {
  const states = new Map<Run, SyncState | undefined>();
  for (const run of levels.flat()) states.set(run, await run.peek());
  const latest = Math.max(0, ...[...states.values()].map((state) => state?.round ?? 0));
  const isDone = (run: Run) => {
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
