// Reads what a hostile service sends, in a process of its own, and prints how much memory that took at most, in MB.
import { createClient } from 'accounting-data-sdk';

const [baseUrl = '', path = ''] = process.argv.slice(2);
const client = createClient({ baseUrl, apiKey: 'k', rateLimiter: false, retry: { maxAttempts: 1 } });
const MB = 2 ** 20;
let peak = 0;
// Sampled, for what the system keeps as the peak may be that of the process which started this one.
const look = () => {
  peak = Math.max(peak, process.memoryUsage.rss());
};

// Warm up first: loading and compiling take memory too.
for (let n = 0; n < 20; n += 1) await client.accounts.get('warm-up');
const before = process.memoryUsage.rss();
const looking = setInterval(look, 2);
const end = await client
  .request({ path })
  .then(() => 'read')
  .catch((error: { code: string; reason?: string }) => error.reason ?? error.code);
look();
clearInterval(looking);
console.log(JSON.stringify({ end, risenMb: (peak - before) / MB }));
