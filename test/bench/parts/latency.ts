import type { LatencyOptions } from '../programs/latency.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';

const LATENCY_MS = 50;
const CONSUMERS_MS = [0, 20, 50];
const AHEAD = [0, 1, 4, 8];

/** What a consumer waits for in all, in ms, for each number of pages ahead. */
type Waits = readonly number[];

export async function latency({ quick }: Effort): Promise<Findings> {
  const pages = quick ? 10 : 60;
  const options = { pageSize: 30, records: pages * 30, latencyMs: LATENCY_MS };
  const waits = await withServer(options, async (origin) => {
    const found: Waits[] = [];
    for (const consumerMs of CONSUMERS_MS) found.push(await consume({ origin, consumerMs, pages }));
    return found;
  });
  const [[alone = Number.NaN, , four = Number.NaN, eight = Number.NaN] = []] = waits;
  const ideal = CONSUMERS_MS.map((consumerMs) => pages * Math.max(LATENCY_MS, consumerMs) + LATENCY_MS);
  const aheadOfIdeal = waits.map((times, index) => (times[1] ?? Number.NaN) / (ideal[index] ?? Number.NaN));
  return {
    tables: [
      {
        title: `${pages} pages at ${LATENCY_MS} ms, in seconds; × of one after another`,
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

async function consume(consumer: Omit<LatencyOptions, 'prefetch'>): Promise<Waits> {
  const times: number[] = [];
  for (const prefetch of AHEAD) times.push(await runProgram<number>('latency.ts', { ...consumer, prefetch }));
  return times;
}
