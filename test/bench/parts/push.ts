import type { PushCost, PushRun } from '../programs/push.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, shown } from '../support/rounds.ts';

const ROWS = 100_000;
const PAGE_SIZE = 100;
/** Fewer than in other parts: the peaks of two runs are closer to each other than to the goal. */
const ROUNDS = 2;

const LABELS = {
  list: 'the list alone',
  unchanged: 'push, no product differs',
  changed: 'push, every product differs',
} as const;

/** The memory of a dry run, which holds as much as a push does before it writes. */
export async function push({ quick }: Effort): Promise<Findings> {
  const rows = quick ? ROWS / 100 : ROWS;
  const runs = ['list', 'unchanged', 'changed'] as const;
  const { costs, held } = await withServer({ pageSize: PAGE_SIZE, records: rows }, async (origin) => {
    const run = (options: Omit<PushRun, 'origin' | 'rows'>, flags?: readonly string[]) =>
      runProgram<PushCost>('push.ts', { origin, rows, ...options }, flags);
    return {
      costs: await interleave(runs, quick ? 1 : ROUNDS, (name) => run({ run: name, collects: false })),
      // Apart, because a forced collection lowers the peak.
      held: await interleave(runs, 1, (name) => run({ run: name, collects: true }, ['--expose-gc'])),
    };
  });
  const rssOf = (found: Rounds<PushCost>) => found.map(({ peakRssMb }) => peakRssMb);
  const rss = (name: (typeof runs)[number]) => median(rssOf(costs[name]));
  const heldOf = (found: Rounds<PushCost>) => found.map(({ heldMb }) => heldMb);
  return {
    tables: [
      {
        title: `The memory of a push of ${rows.toLocaleString('en')} rows, ${PAGE_SIZE} products a page`,
        columns: ['', 'held after GC MB', 'peak RSS MB', 'seconds'],
        rows: runs.map((name) => [
          LABELS[name],
          shown(heldOf(held[name])),
          shown(rssOf(costs[name])),
          shown(costs[name].map(({ seconds }) => seconds)),
        ]),
      },
    ],
    figures: {
      pushRss: Math.max(rss('unchanged'), rss('changed')) / rss('list'),
      pushHeld: Math.max(median(heldOf(held.unchanged)), median(heldOf(held.changed))),
    },
  };
}
