import type { ListCost, PaginationOptions } from '../programs/list.ts';
import { type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, shown } from '../support/rounds.ts';
import { cpuOf } from './lists.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const PAGE_SIZE = 100;
/** The same for each size. */
const WARM_UP = 30_000;
/** A short list is read again and again, up to this number of records, because a shared machine has fast and slow seconds. */
const LEAST_RECORDS = 200_000;
/** Fewer than in other parts, because each reads 1.4 million records. */
const ROUNDS = 2;

type Pair = Readonly<Record<'fetch' | 'ours', Rounds<ListCost>>>;

export async function memory({ quick }: Effort): Promise<Findings> {
  const sizes = SIZES.map((records) => (quick ? records / 1000 : records));
  const effort = quick
    ? { warmUp: 10, rounds: 1, least: 0 }
    : { warmUp: WARM_UP, rounds: ROUNDS, least: LEAST_RECORDS };
  const bySize = await costsOf(sizes, effort);

  const heapOf = (costs: Rounds<ListCost> = []) => costs.map(({ peakHeapMb }) => peakHeapMb);
  const rssOf = (costs: Rounds<ListCost>) => costs.map(({ peakRssMb }) => peakRssMb);
  const ourCpu = bySize.map(({ ours }) => median(cpuOf(ours)));
  const [, some, million] = bySize;
  const ourHeap = median(heapOf(million?.ours));
  return {
    tables: [
      {
        title: `Lists of more and more records, ${PAGE_SIZE} a page`,
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

interface Amount {
  /** Records read before. */
  readonly warmUp: number;
  readonly rounds: number;
  /** Records that are measured in all. */
  readonly least: number;
}

/** Alternates the sizes, because a machine that slows down would look like a cost that grows. */
async function costsOf(
  sizes: readonly number[],
  { warmUp, rounds, least }: Amount,
): Promise<readonly Pair[]> {
  return withServers(sizes, async (origins) => {
    const costs = (client: ClientName, rounds: number, records: number) =>
      interleave(sizes.map(String), rounds, (size) => {
        const options: PaginationOptions = {
          client,
          origin: origins[sizes.indexOf(Number(size))] ?? '',
          pageSize: PAGE_SIZE,
          warmUp,
          times: Math.max(1, Math.ceil(records / Number(size))),
        };
        return runProgram<ListCost>('list.ts', options);
      });
    const ours = await costs('ours', rounds, least);
    // For its memory alone, which hardly differs.
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
