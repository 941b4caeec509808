import type { ListCost, PaginationOptions } from '../programs/list.ts';
import { allClients, type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings, Table } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, ratios, shown } from '../support/rounds.ts';

/**
 * Long enough for garbage collection to find its pace: over the first 30,000 records it spends less on the leanest
 * clients, over the next ones as much on all.
 */
const PAGES = { 100: 1_000, 30: 1_500 };
const WARM_UP_PAGES = 50;

type Costs = Readonly<Record<ClientName, Rounds<ListCost>>>;

interface Way {
  readonly pageSize: number;
  readonly pages: number;
  /** Pages that are read before the measurement. */
  readonly warmUpPages: number;
}

/** The cost of a whole list for each client. */
export function listCosts({ pageSize, pages, warmUpPages }: Way, rounds: number): Promise<Costs> {
  return withServer({ pageSize, records: pages * pageSize }, (origin) =>
    interleave(allClients, rounds, (client) => {
      const warmUp = Math.min(warmUpPages, pages) * pageSize;
      const options: PaginationOptions = { client, origin, pageSize, warmUp };
      return runProgram<ListCost>('list.ts', options);
    }),
  );
}

/** Processor time for each record, in µs, round by round. */
export function cpuOf(costs: Rounds<ListCost>): number[] {
  return costs.map(({ cpuUs, records }) => cpuUs / records);
}

/** Round by round, the CPU time of a client, as a multiple of that of a bare ky loop. */
export function overKy(costs: Costs, client: ClientName): number[] {
  return ratios(cpuOf(costs[client]), cpuOf(costs.ky));
}

export function costTable(title: string, costs: Costs): Table {
  const byCost = allClients.toSorted((a, b) => median(cpuOf(costs[a])) - median(cpuOf(costs[b])));
  return {
    title,
    columns: ['client', 'CPU µs', '× ky loop', 'peak RSS MB'],
    rows: byCost.map((client) => [
      clientNames[client],
      shown(cpuOf(costs[client])),
      shown(overKy(costs, client), 2),
      shown(costs[client].map(({ peakRssMb }) => peakRssMb)),
    ]),
  };
}

export async function lists({ rounds, quick }: Effort): Promise<Findings> {
  const pagesOf = (pageSize: 100 | 30) => PAGES[pageSize] / (quick ? 100 : 1);
  const costsAt = (pageSize: 100 | 30) =>
    listCosts({ pageSize, pages: pagesOf(pageSize), warmUpPages: WARM_UP_PAGES }, rounds);
  const by100 = await costsAt(100);
  const by30 = await costsAt(30);
  const title = (pageSize: 100 | 30) => {
    const records = (pagesOf(pageSize) * pageSize).toLocaleString('en');
    return `List of ${records} records, ${pageSize} a page, for each record`;
  };
  return {
    tables: [costTable(title(100), by100), costTable(title(30), by30)],
    figures: { list100: median(overKy(by100, 'ours')), list30: median(overKy(by30, 'ours')) },
  };
}
