/** Reads page by page as a consumer that is busy for a while with each; prints the ms. */
import { createClient } from '../support/built.ts';
import { API_KEY } from '../support/client.ts';

export interface LatencyOptions {
  readonly origin: string;
  readonly prefetch: number;
  readonly consumerMs: number;
  readonly records: number;
}

const { origin, prefetch, consumerMs, records } = JSON.parse(process.argv[2] ?? '') as LatencyOptions;
const { products } = createClient({ baseUrl: origin, apiKey: API_KEY, pagination: 'page' });
// Loading code for the first request is not latency of pagination.
await products.list().toArray({ limit: 1 });

let seen = 0;
const startedAt = performance.now();
for await (const page of products.list({}, { prefetch }).pages()) {
  seen += page.records.length;
  if (consumerMs > 0) await new Promise((resolve) => setTimeout(resolve, consumerMs));
}
if (seen !== records) throw new Error(`${seen} records instead of ${records}`);
console.log(performance.now() - startedAt);
process.exit();
