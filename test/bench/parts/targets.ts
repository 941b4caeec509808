import type { TargetCost, TargetRun } from '../programs/target.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, ratios, shown } from '../support/rounds.ts';

const RECORDS = Number(process.env.RECORDS ?? 1_000_000);
const PAGE_SIZE = 100;
/** A million records take a minute or more for each of the two. */
const ROUNDS = 2;

/** V8 lets its heap grow as long as there is memory. Bounded, the process shows what it holds. */
const FLAGS = ['--max-semi-space-size=8', '--max-old-space-size=96'];

const LABELS = {
  sync: 'sync into sqliteTarget',
  fetch: 'fetch loop, inserts in batches',
  marked: 'full read again, with marks',
  unmarked: 'full read again, without',
} as const;

type Run = keyof typeof LABELS;

/** The time and memory of a copy in SQLite. */
export async function targets({ quick }: Effort): Promise<Findings> {
  const most = quick ? RECORDS / 100 : RECORDS;
  const costsOf = <Name extends Run>(records: number, runs: readonly Name[]) =>
    withServer({ pageSize: PAGE_SIZE, records }, (origin) =>
      interleave(runs, quick ? 1 : ROUNDS, (run) => {
        const options: TargetRun = { origin, records, pageSize: PAGE_SIZE, run };
        return runProgram<TargetCost>('target.ts', options, FLAGS);
      }),
    );
  const few = await costsOf(most / 10, ['sync', 'fetch']);
  const many = await costsOf(most, ['sync', 'fetch']);
  const again = await costsOf(most / 5, ['marked', 'unmarked']);
  const timeOf = (found: Rounds<TargetCost>) => found.map(({ microsPerRecord }) => microsPerRecord);
  const rssOf = (found: Rounds<TargetCost>) => found.map(({ peakRssMb }) => peakRssMb);
  return {
    tables: [
      {
        title: `A copy of ${most.toLocaleString('en')} products in SQLite, ${PAGE_SIZE} a page`,
        columns: ['', 'µs a record', 'peak RSS MB', 'peak RSS MB of a tenth'],
        rows: (['sync', 'fetch'] as const).map((run) => [
          LABELS[run],
          shown(timeOf(many[run])),
          shown(rssOf(many[run])),
          shown(rssOf(few[run])),
        ]),
      },
      {
        title: `${(most / 5).toLocaleString('en')} products read again into a copy that has them`,
        columns: ['', 'µs a record', 'peak RSS MB'],
        rows: (['marked', 'unmarked'] as const).map((run) => [
          LABELS[run],
          shown(timeOf(again[run])),
          shown(rssOf(again[run])),
        ]),
      },
    ],
    figures: {
      targetTime: median(ratios(timeOf(many.sync), timeOf(many.fetch))),
      marksTime: median(ratios(timeOf(again.marked), timeOf(again.unmarked))),
      targetMemory: median(rssOf(many.sync)) / median(rssOf(few.sync)),
    },
  };
}
