import type { WalkCost, WalkOptions } from '../programs/walk.ts';
import { allClients, type ClientName, clientNames } from '../support/clients.ts';
import type { Effort, Findings, Table } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';
import { interleave, median, type Rounds, ratios, shown } from '../support/rounds.ts';

const RECORDS = 50_000;
/** Until then the engine compiles; it has to see as many requests whatever a page holds. */
const WARM_UP_PAGES = 400;

type Costs = Readonly<Record<ClientName, Rounds<WalkCost>>>;

/** What each client takes for a whole walk. The warm-up is no part of it. */
export function walkCosts(pageSize: number, records: number, rounds: number): Promise<Costs> {
  return withServer({ pageSize, records }, (origin) =>
    interleave(allClients, rounds, (client) => {
      const options: WalkOptions = {
        client,
        origin,
        pageSize,
        warmUp: Math.min(WARM_UP_PAGES * pageSize, records),
      };
      return runProgram<WalkCost>('walk.ts', options);
    }),
  );
}

/** Processor time for each record, in µs, round by round. */
export function cpuOf(costs: Rounds<WalkCost>): number[] {
  return costs.map(({ cpuUs, records }) => cpuUs / records);
}

/** Round by round, what a client takes of what the fetch loop takes. */
export function overFetch(costs: Costs, client: ClientName): number[] {
  return ratios(cpuOf(costs[client]), cpuOf(costs.fetch));
}

export function costTable(title: string, costs: Costs): Table {
  const byCost = allClients.toSorted((a, b) => median(cpuOf(costs[a])) - median(cpuOf(costs[b])));
  return {
    title,
    columns: ['client', 'CPU µs', '× fetch loop', 'peak heap MB', 'peak RSS MB'],
    rows: byCost.map((client) => [
      clientNames[client],
      shown(cpuOf(costs[client])),
      shown(overFetch(costs, client), 2),
      shown(costs[client].map(({ peakHeapMb }) => peakHeapMb)),
      shown(costs[client].map(({ peakRssMb }) => peakRssMb)),
    ]),
  };
}

export async function walk({ rounds, quick }: Effort): Promise<Findings> {
  const records = quick ? RECORDS / 100 : RECORDS;
  const by100 = await walkCosts(100, records, rounds);
  const by30 = await walkCosts(30, records, rounds);
  const title = (pageSize: number) =>
    `Walk of ${records.toLocaleString('en')} records, ${pageSize} a page, for each record`;
  return {
    tables: [costTable(title(100), by100), costTable(title(30), by30)],
    figures: { walk100: median(overFetch(by100, 'ours')), walk30: median(overFetch(by30, 'ours')) },
  };
}
