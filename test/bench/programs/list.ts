/**
 * Reads lists with one client, after a warm-up, and prints the CPU time and memory of this process; with `--expose-gc`
 * also the heap in use, which costs CPU time.
 */
import { getHeapStatistics } from 'node:v8';
import type { ReadAll, Source } from '../support/client.ts';
import type { ClientName } from '../support/clients.ts';
import { median } from '../support/rounds.ts';

export interface PaginationOptions extends Source {
  readonly client: ClientName;
  readonly warmUp: number;
  /** How often the list is read; once by default. */
  readonly times?: number;
}

export interface ListCost {
  readonly records: number;
  readonly cpuUs: number;
  /** The heap in use after a collection, in MB: the median over the list. What is garbage, and when V8 collects it, varies. */
  readonly heapMb: number;
  readonly peakRssMb: number;
}

const { client, warmUp, times = 1, ...source } = JSON.parse(process.argv[2] ?? '') as PaginationOptions;
const { readAll } = (await import(`../clients/${client}.ts`)) as { readAll: ReadAll };

let warmed = 0;
await readAll(source, () => ++warmed < warmUp);

/** Records between two collections. No multiple of a page, so that they fall into all parts of one. */
const EVERY = 9_973;
const heaps: number[] = [];
const look = () => {
  globalThis.gc?.();
  heaps.push(getHeapStatistics().used_heap_size / 2 ** 20);
};

let records = 0;
const before = process.cpuUsage();
for (let time = 0; time < times; time += 1) {
  let seen = 0;
  await readAll(source, ({ id }) => {
    if (id.length > 0) seen += 1;
    if (seen % EVERY === 1 && globalThis.gc !== undefined) look();
    return true;
  });
  records += seen;
}
const { user, system } = process.cpuUsage(before);
const cost: ListCost = {
  records,
  cpuUs: user + system,
  heapMb: median(heaps),
  peakRssMb: process.resourceUsage().maxRSS / 1024,
};
console.log(JSON.stringify(cost));
process.exit();
