import type { WalkCost, WalkOptions } from '../programs/walk.ts';
import { type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, shown } from '../support/rounds.ts';
import { cpuOf } from './walk.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const PAGE_SIZE = 100;
/** As long for each size, so that none has more of it behind it than another. */
const WARM_UP = 50_000;
/** Whatever the other parts do: a drift of some per cent is what this one looks for. */
const ROUNDS = 5;

type Pair = Readonly<Record<'fetch' | 'ours', Rounds<WalkCost>>>;

export async function growth({ quick }: Effort): Promise<Findings> {
  const sizes = SIZES.map((records) => (quick ? records / 1000 : records));
  const bySize: Pair[] = [];
  for (const records of sizes)
    bySize.push(
      await costsOf(records, quick ? { warmUp: 10, rounds: 1 } : { warmUp: WARM_UP, rounds: ROUNDS }),
    );

  const heapOf = (costs: Rounds<WalkCost> = []) => costs.map(({ peakHeapMb }) => peakHeapMb);
  const rssOf = (costs: Rounds<WalkCost>) => costs.map(({ peakRssMb }) => peakRssMb);
  const ourCpu = bySize.map(({ ours }) => median(cpuOf(ours)));
  const [, some, million] = bySize;
  const ourHeap = median(heapOf(million?.ours));
  return {
    tables: [
      {
        title: `Walks of more and more records, ${PAGE_SIZE} a page`,
        columns: ['records', 'client', 'CPU µs a record', 'peak heap MB', 'peak RSS MB'],
        rows: bySize.flatMap((pair, index) =>
          (['fetch', 'ours'] as const).map((client) => [
            sizes[index]?.toLocaleString('en') ?? '',
            clientNames[client],
            shown(cpuOf(pair[client])),
            shown(heapOf(pair[client])),
            shown(rssOf(pair[client])),
          ]),
        ),
      },
    ],
    figures: {
      heap: ourHeap / median(heapOf(million?.fetch)),
      heapGrowth: ourHeap / median(heapOf(some?.ours)),
      cpuGrowth: (Math.max(...ourCpu) / Math.min(...ourCpu) - 1) * 100,
    },
  };
}

function costsOf(records: number, { warmUp, rounds }: { warmUp: number; rounds: number }): Promise<Pair> {
  return withServer({ pageSize: PAGE_SIZE, records }, async (origin) => {
    const costs = (client: ClientName, times: number) =>
      interleave([client], times, () => {
        const options: WalkOptions = { client, origin, pageSize: PAGE_SIZE, warmUp };
        return runProgram<WalkCost>('walk.ts', options);
      });
    const { ours } = await costs('ours', rounds);
    // For its memory alone, which hardly differs from walk to walk.
    const { fetch } = await costs('fetch', Math.min(rounds, 2));
    return { fetch, ours };
  });
}
