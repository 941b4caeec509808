import type { SimRecord } from '../service/record.ts';
import { Crash, type FailureRates, type Process, SyncWorld } from './world.ts';

/** How a sync of one's own decides what a run has covered. Each has lost records in the wild but the first. */
export interface Strategy {
  /**
   * - `start`: the server's date at the first request of the run, less a lookback of 120 s.
   * - `end`: the same at its end.
   * - `largest`: the largest `updatedAt` seen.
   */
  readonly watermark: 'start' | 'end' | 'largest';
  /** Whether a run that resumes after a crash keeps its start, or takes the time of the restart. */
  readonly keepsStart: boolean;
  /** Whether the rows are committed before the checkpoint. */
  readonly sinkFirst: boolean;
}

interface State {
  readonly since?: string | undefined;
  readonly run?: { readonly start: number; readonly largest: number; readonly token?: string | undefined };
}

const KEY = 'state';
const LOOKBACK_MS = 120_000;
const ROUNDS = 6;

/** Brings the copy up to date in the way of the strategy, until it ends or the process dies. */
async function syncNaively(world: SyncWorld, process: Process, strategy: Strategy): Promise<void> {
  const state = JSON.parse(world.states.get(KEY) ?? '{}') as State;
  const save = (next: State) => {
    process.step();
    world.states.set(KEY, JSON.stringify(next));
  };
  const { since } = state;
  const list = world
    .collection('accounts', process)
    .list(since === undefined ? {} : { updatedSince: since }, {
      pagination: 'keyset',
      resumeFrom: state.run?.token,
    });
  let start = strategy.keepsStart ? state.run?.start : undefined;
  let largest = state.run?.largest ?? 0;
  let end = 0;
  for await (const page of list.pages()) {
    const records = page.records as readonly SimRecord[];
    end = page.serverTime?.getTime() ?? end;
    // `Date` is written when the response is sent, which can be long after its data was read.
    start ??= (page.first.serverTime?.getTime() ?? end) - page.first.durationMs;
    largest = Math.max(largest, ...records.map(({ updatedAt }) => Date.parse(updatedAt)));
    const next = { since, run: { start, largest, token: page.resumeToken } };
    if (!strategy.sinkFirst) save(next);
    process.upsert('accounts', records);
    if (strategy.sinkFirst) save(next);
  }
  const covered = { start: (start ?? 0) - LOOKBACK_MS, end: end - LOOKBACK_MS, largest }[strategy.watermark];
  save({ since: covered > 0 ? new Date(covered).toISOString() : since });
}

/** What a copy that is kept in this way ends without, or with in an old version, for good. */
export async function playNaive(strategy: Strategy, seed: number): Promise<string[]> {
  const world = new SyncWorld({ seed, alone: true, dated: true });
  const { random } = world;
  const run = async (failureRates: FailureRates) => {
    try {
      await syncNaively(world, world.start(failureRates), strategy);
    } catch (error) {
      if (!(error instanceof Crash)) throw error;
    }
  };
  for (let round = 0; round < ROUNDS; round++) {
    await run({ crash: random.pick([0, 0.03, 0.1]), fault: 0 });
    world.live();
  }
  world.rest();
  for (let last = 0; last < 2; last++) await run({ crash: 0, fault: 0 });
  return world.lost();
}
