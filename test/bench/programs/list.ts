/** Reads lists with one client, after a warm-up, and prints the CPU time and memory of this process. */
import { getHeapStatistics } from 'node:v8';
import type { ReadAll, Source } from '../support/client.ts';
import type { ClientName } from '../support/clients.ts';

export interface PaginationOptions extends Source {
  readonly client: ClientName;
  readonly warmUp: number;
  /** How often the list is read; once by default. */
  readonly times?: number;
  /** The records to read each time; all by default. */
  readonly most?: number;
}

export interface ListCost {
  readonly records: number;
  readonly cpuUs: number;
  /** The most heap in use seen, in MB. */
  readonly peakHeapMb: number;
  readonly peakRssMb: number;
}

const {
  client,
  warmUp,
  times = 1,
  most = Number.POSITIVE_INFINITY,
  ...source
} = JSON.parse(process.argv[2] ?? '') as PaginationOptions;
const { readAll } = (await import(`../clients/${client}.ts`)) as { readAll: ReadAll };

let warmed = 0;
await readAll(source, () => ++warmed < warmUp);

let peakHeap = 0;
const look = () => {
  peakHeap = Math.max(peakHeap, getHeapStatistics().used_heap_size);
};
const timer = setInterval(look, 10);
let records = 0;
const before = process.cpuUsage();
for (let time = 0; time < times; time += 1) {
  let seen = 0;
  await readAll(source, ({ id }) => {
    if (id.length > 0) seen += 1;
    return seen < most;
  });
  records += seen;
}
const { user, system } = process.cpuUsage(before);
clearInterval(timer);
look();
const cost: ListCost = {
  records,
  cpuUs: user + system,
  peakHeapMb: peakHeap / 2 ** 20,
  peakRssMb: process.resourceUsage().maxRSS / 1024,
};
console.log(JSON.stringify(cost));
process.exit();
