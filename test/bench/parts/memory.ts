import type { ListCost, PaginationOptions } from '../programs/list.ts';
import { type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { median, type Rounds, shown } from '../support/rounds.ts';
import { cpuOf } from './lists.ts';

const LONGEST = 1_000_000;
const SHORT = 100_000;
/** The longest list in the middle, because a machine that slows down would look like a cost that grows. */
const ORDER = [10_000, SHORT, LONGEST, LONGEST, LONGEST, SHORT, 10_000];
const PAGE_SIZE = 100;
/** The same for each length. */
const WARM_UP = 30_000;
/** A short list is read again and again, up to this number of records, because a shared machine has fast and slow seconds. */
const LEAST_RECORDS = 200_000;

export async function memory({ quick }: Effort): Promise<Findings> {
  const scale = quick ? 1000 : 1;
  const read = (client: ClientName, records: number, { least = 0, flags = [] as string[] } = {}) =>
    withServer({ pageSize: PAGE_SIZE, records }, (origin) => {
      const times = Math.max(1, least / records);
      const options: PaginationOptions = {
        client,
        origin,
        pageSize: PAGE_SIZE,
        warmUp: WARM_UP / scale,
        times,
      };
      return runProgram<ListCost>('list.ts', options, flags);
    });

  const ours = new Map<number, ListCost[]>(ORDER.map((records) => [records, []]));
  const fetch: ListCost[] = [];
  for (const records of ORDER) {
    ours.get(records)?.push(await read('ours', records / scale, { least: LEAST_RECORDS / scale }));
    if (records === LONGEST) fetch.push(await read('fetch', records / scale));
  }

  // Apart, because forced collections cost time. The figures differ by a hundredth between runs.
  const heapOf = async (client: ClientName, records: number) =>
    (await read(client, records / scale, { flags: ['--expose-gc'] })).heapMb;
  const heap = {
    fetch: await heapOf('fetch', LONGEST),
    short: await heapOf('ours', SHORT),
    long: await heapOf('ours', LONGEST),
  };

  const rssOf = (costs: Rounds<ListCost> = []) => costs.map(({ peakRssMb }) => peakRssMb);
  const cpu = [...ours.values()].map((costs) => median(cpuOf(costs)));
  const row = (client: ClientName, records: number, costs: Rounds<ListCost>) => [
    records.toLocaleString('en'),
    clientNames[client],
    shown(cpuOf(costs)),
    shown(rssOf(costs)),
  ];
  return {
    tables: [
      {
        title: `Lists of more and more records, ${PAGE_SIZE} a page`,
        columns: ['records', 'client', 'CPU µs a record', 'peak RSS MB'],
        rows: [
          ...[...ours].map(([records, costs]) => row('ours', records, costs)),
          row('fetch', LONGEST, fetch),
        ],
      },
      {
        title: 'The heap in use during these lists, after garbage collection',
        columns: ['records', 'client', 'heap MB'],
        rows: [
          [SHORT.toLocaleString('en'), clientNames.ours, heap.short.toFixed(1)],
          [LONGEST.toLocaleString('en'), clientNames.ours, heap.long.toFixed(1)],
          [LONGEST.toLocaleString('en'), clientNames.fetch, heap.fetch.toFixed(1)],
        ],
      },
    ],
    figures: {
      heap: heap.long / heap.fetch,
      heapGrowth: heap.long / heap.short,
      rss: median(rssOf(ours.get(LONGEST))) / median(rssOf(fetch)),
      cpuGrowth: (Math.max(...cpu) / Math.min(...cpu) - 1) * 100,
    },
  };
}
