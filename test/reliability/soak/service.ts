/** A service of so many products, in a process of its own, whose memory is not measured. Ends with its standard input. */
import { once } from 'node:events';
import { createSandbox } from 'accounting-data-sdk/testing';

const sandbox = createSandbox({
  records: { products: Number(process.argv[2]) },
  pageSize: 200,
  rateLimit: false,
});
// Generates the records, so that no request waits for it.
sandbox.store.products.get('1');
await sandbox.listen();
console.log(JSON.stringify({ baseUrl: sandbox.baseUrl, apiKey: sandbox.keys.full }));
process.stdin.resume();
await once(process.stdin, 'end');
await sandbox.close();
