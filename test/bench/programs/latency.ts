/** Reads page by page as a consumer that is busy for a while with each; prints ms. */
import { createClient } from '../support/built.ts';
import { API_KEY } from '../support/client.ts';

export interface LatencyOptions {
  readonly origin: string;
  readonly prefetch: number;
  readonly consumerMs: number;
  /** Pages, the empty one at the end not counted. */
  readonly pages: number;
}

const { origin, prefetch, consumerMs, pages } = JSON.parse(process.argv[2] ?? '') as LatencyOptions;
const client = createClient({ baseUrl: origin, apiKey: API_KEY });
// Loading code for the first request is not latency of pagination.
await client.products.list().toArray({ limit: 1 });

let seen = 0;
const startedAt = performance.now();
for await (const _ of client.products.list({}, { prefetch }).pages()) {
  seen += 1;
  if (consumerMs > 0) await new Promise((resolve) => setTimeout(resolve, consumerMs));
}
if (seen !== pages) throw new Error(`${seen} pages instead of ${pages}`);
console.log(JSON.stringify(performance.now() - startedAt));
process.exit();
