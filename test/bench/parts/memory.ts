import type { ListCost, PaginationOptions } from '../programs/list.ts';
import { type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { median, type Rounds, shown } from '../support/rounds.ts';
import { cpuOf } from './lists.ts';

const LONGEST = 1_000_000;
/** The longest list in the middle, because a machine that slows down would look like a cost that grows. */
const ORDER = [10_000, 100_000, LONGEST, LONGEST, LONGEST, 100_000, 10_000];
const PAGE_SIZE = 100;
/** The same for each length. */
const WARM_UP = 30_000;
/** A short list is read again and again, up to this number of records, because a shared machine has fast and slow seconds. */
const LEAST_RECORDS = 200_000;

export async function memory({ quick }: Effort): Promise<Findings> {
  const scale = quick ? 1000 : 1;
  const read = (client: ClientName, records: number, least = 0) =>
    withServer({ pageSize: PAGE_SIZE, records }, (origin) => {
      const times = Math.max(1, least / records);
      const options: PaginationOptions = {
        client,
        origin,
        pageSize: PAGE_SIZE,
        warmUp: WARM_UP / scale,
        times,
      };
      return runProgram<ListCost>('list.ts', options);
    });

  const ours = new Map<number, ListCost[]>(ORDER.map((records) => [records, []]));
  const fetch: ListCost[] = [];
  for (const records of ORDER) {
    ours.get(records)?.push(await read('ours', records / scale, LEAST_RECORDS / scale));
    if (records === LONGEST) fetch.push(await read('fetch', records / scale));
  }

  const heapOf = (costs: Rounds<ListCost> = []) => costs.map(({ peakHeapMb }) => peakHeapMb);
  const heap = (records: number) => median(heapOf(ours.get(records)));
  const cpu = [...ours.values()].map((costs) => median(cpuOf(costs)));
  const row = (client: ClientName, records: number, costs: Rounds<ListCost>) => [
    records.toLocaleString('en'),
    clientNames[client],
    shown(cpuOf(costs)),
    shown(heapOf(costs)),
    shown(costs.map(({ peakRssMb }) => peakRssMb)),
  ];
  return {
    tables: [
      {
        title: `Lists of more and more records, ${PAGE_SIZE} a page`,
        columns: ['records', 'client', 'CPU µs a record', 'peak heap MB', 'peak RSS MB'],
        rows: [
          ...[...ours].map(([records, costs]) => row('ours', records, costs)),
          row('fetch', LONGEST, fetch),
        ],
      },
    ],
    figures: {
      heap: heap(LONGEST) / median(heapOf(fetch)),
      heapGrowth: heap(LONGEST) / heap(100_000),
      cpuGrowth: (Math.max(...cpu) / Math.min(...cpu) - 1) * 100,
    },
  };
}
