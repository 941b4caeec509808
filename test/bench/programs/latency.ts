/** Reads page by page as a consumer that is busy for a while with each; prints ms and requests. */
import { createClient } from '../support/built.ts';
import { API_KEY } from '../support/client.ts';

export interface Latency {
  readonly ms: number;
  readonly requests: number;
}

export interface LatencyOptions {
  readonly origin: string;
  readonly pagination: 'page' | 'keyset';
  readonly prefetch: number;
  readonly consumerMs: number;
  readonly records: number;
}

const { origin, pagination, prefetch, consumerMs, records } = JSON.parse(
  process.argv[2] ?? '',
) as LatencyOptions;
let requests = 0;
const on = {
  request: () => {
    requests += 1;
  },
};
const client = createClient({ baseUrl: origin, apiKey: API_KEY, on });
// Loading code for the first request is not latency of pagination.
await client.products.list({}, { pagination: 'page' }).toArray({ limit: 1 });
requests = 0;

let seen = 0;
const startedAt = performance.now();
for await (const page of client.products.list({}, { pagination, prefetch }).pages()) {
  seen += page.records.length;
  if (consumerMs > 0) await new Promise((resolve) => setTimeout(resolve, consumerMs));
}
if (seen !== records) throw new Error(`${seen} records instead of ${records}`);
const found: Latency = { ms: performance.now() - startedAt, requests };
console.log(JSON.stringify(found));
process.exit();
