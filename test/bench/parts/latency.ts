import type { Latency, LatencyOptions } from '../programs/latency.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';

const LATENCY_MS = 50;
const PAGE_SIZE = 30;
const CONSUMERS_MS = [0, 20, 50];
const AHEAD = [0, 1, 4, 8];

/** A collection that is read by keyset, one after another and with four pages ahead. */
interface Collection {
  readonly pages: number;
  readonly deleted: number;
}

export async function latency(effort: Effort): Promise<Findings> {
  const pages = effort.quick ? 10 : 60;
  const byPage = await readByPage(pages);
  const dense = await readByKeyset({ pages, deleted: 0 });
  const long = await readByKeyset({ pages: effort.quick ? 20 : 300, deleted: 0 });
  const gaps = await readByKeyset({ pages, deleted: 0.3 });
  const requests = Math.max(dense.requests, long.requests);
  return {
    tables: [...byPage.tables, ...dense.tables, ...long.tables, ...gaps.tables],
    figures: {
      ...byPage.figures,
      keysetAhead4: dense.time,
      keysetAhead4Long: long.time,
      keysetAhead4Deleted: gaps.time,
      keysetRequests: requests,
      keysetRequestsDeleted: gaps.requests,
    },
  };
}

async function readByPage(pages: number): Promise<Findings> {
  const records = pages * PAGE_SIZE;
  const waits = await withServer({ pageSize: PAGE_SIZE, records, latencyMs: LATENCY_MS }, async (origin) => {
    const found: number[][] = [];
    for (const consumerMs of CONSUMERS_MS) {
      const times: number[] = [];
      for (const prefetch of AHEAD) {
        times.push((await read({ origin, consumerMs, records, prefetch, pagination: 'page' })).ms);
      }
      found.push(times);
    }
    return found;
  });
  const [[alone = Number.NaN, , four = Number.NaN, eight = Number.NaN] = []] = waits;
  const ideal = CONSUMERS_MS.map((consumerMs) => pages * Math.max(LATENCY_MS, consumerMs) + LATENCY_MS);
  const aheadOfIdeal = waits.map((times, index) => (times[1] ?? Number.NaN) / (ideal[index] ?? Number.NaN));
  return {
    tables: [
      {
        title: `${pages} pages at ${LATENCY_MS} ms, by page, in seconds; × of one after another`,
        columns: ['consumer busy', ...AHEAD.map((pagesAhead) => `prefetch: ${pagesAhead}`)],
        rows: waits.map((times, index) => [
          `${CONSUMERS_MS[index]} ms a page`,
          ...times.map((ms) => `${(ms / 1000).toFixed(1)} (${(ms / (times[0] ?? Number.NaN)).toFixed(2)}×)`),
        ]),
      },
    ],
    figures: { ahead1: Math.max(...aheadOfIdeal), ahead4: four / alone, ahead8: eight / alone },
  };
}

async function readByKeyset({ pages, deleted }: Collection) {
  const records = pages * PAGE_SIZE;
  const server = { pageSize: PAGE_SIZE, records, latencyMs: LATENCY_MS, deleted };
  const found = await withServer(server, async (origin) => {
    const each: Latency[] = [];
    for (const prefetch of [0, 4]) {
      each.push(await read({ origin, consumerMs: 0, records, prefetch, pagination: 'keyset' }));
    }
    return each;
  });
  const [alone = { ms: Number.NaN, requests: Number.NaN }, four = alone] = found;
  const ofPages = (requests: number) => requests / (pages + 1);
  const title = `${pages} pages at ${LATENCY_MS} ms, by keyset, ${deleted * 100} % of the ids deleted`;
  const row = (name: string, { ms, requests }: Latency) => [
    name,
    `${(ms / 1000).toFixed(1)} s (${(ms / alone.ms).toFixed(2)}×)`,
    `${requests} (${ofPages(requests).toFixed(2)}×)`,
  ];
  return {
    tables: [
      {
        title,
        columns: ['', 'time; × of one after another', 'requests; × of by page'],
        rows: [row('prefetch: 0', alone), row('prefetch: 4', four)],
      },
    ],
    time: four.ms / alone.ms,
    requests: ofPages(four.requests),
  };
}

const read = (options: LatencyOptions) => runProgram<Latency>('latency.ts', options);
