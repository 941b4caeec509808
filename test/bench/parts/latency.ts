import type { LatencyOptions } from '../programs/latency.ts';
import type { Effort, Findings } from '../support/part.ts';
import { runProgram, withServer } from '../support/programs.ts';

const LATENCY_MS = 50;
const PAGE_SIZE = 30;
const CONSUMERS_MS = [0, 20, 50];
const AHEAD = [0, 1, 4, 8];

/** Reads by page. */
export async function latency({ quick }: Effort): Promise<Findings> {
  const pages = quick ? 10 : 60;
  const records = pages * PAGE_SIZE;
  const waits = await withServer({ pageSize: PAGE_SIZE, records, latencyMs: LATENCY_MS }, async (origin) => {
    const found: number[][] = [];
    for (const consumerMs of CONSUMERS_MS) {
      const times: number[] = [];
      for (const prefetch of AHEAD) {
        const options: LatencyOptions = { origin, prefetch, consumerMs, records };
        times.push(await runProgram<number>('latency.ts', options));
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
