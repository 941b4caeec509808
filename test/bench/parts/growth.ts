import type { PaginationOptions, WalkCost } from '../programs/walk.ts';
import { type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, shown } from '../support/rounds.ts';
import { cpuOf } from './walk.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const PAGE_SIZE = 100;
/** As long for each size, so that none has more of it behind it than another. */
const WARM_UP = 30_000;
/** A short walk is walked as often as it takes for as many records: a machine that others share has fast and slow seconds. */
const LEAST_RECORDS = 200_000;
/** Whatever the other parts do: a drift of some per cent is what this one looks for. */
const ROUNDS = 5;

type Pair = Readonly<Record<'fetch' | 'ours', Rounds<WalkCost>>>;

export async function growth({ quick }: Effort): Promise<Findings> {
  const sizes = SIZES.map((records) => (quick ? records / 1000 : records));
  const pains = quick
    ? { warmUp: 10, rounds: 1, least: 0 }
    : { warmUp: WARM_UP, rounds: ROUNDS, least: LEAST_RECORDS };
  const bySize = await costsOf(sizes, pains);

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

interface Pains {
  /** Records walked before. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Records that are measured in all. */
  readonly least: number;
}

/** Sizes in turns, too: a machine that slows down meanwhile would pass for a cost that grows. */
async function costsOf(sizes: readonly number[], { warmUp, rounds, least }: Pains): Promise<readonly Pair[]> {
  return withServers(sizes, async (origins) => {
    const costs = (client: ClientName, turns: number, records: number) =>
      interleave(sizes.map(String), turns, (size) => {
        const options: PaginationOptions = {
          client,
          origin: origins[sizes.indexOf(Number(size))] ?? '',
          pageSize: PAGE_SIZE,
          warmUp,
          times: Math.max(1, Math.ceil(records / Number(size))),
        };
        return runProgram<WalkCost>('walk.ts', options);
      });
    const ours = await costs('ours', rounds, least);
    // For its memory alone, which hardly differs from walk to walk.
    const fetch = await costs('fetch', 1, 0);
    return sizes.map((size) => ({ ours: ours[String(size)] ?? [], fetch: fetch[String(size)] ?? [] }));
  });
}

/** A server for each number of records, all at once. */
function withServers<T>(
  sizes: readonly number[],
  use: (origins: readonly string[]) => Promise<T>,
  origins: readonly string[] = [],
): Promise<T> {
  const [records, ...others] = sizes;
  if (records === undefined) return use(origins);

  return withServer({ pageSize: PAGE_SIZE, records }, (origin) =>
    withServers(others, use, [...origins, origin]),
  );
}
