// The worker on this machine: a sandbox on a port, scheduled runs, and what the copy has after each.

import { createSandbox } from 'accounting-data-sdk/testing';
import { startLocal } from './local.ts';

await using sandbox = createSandbox({
  records: { accounts: 200, products: 100, budgets: 30, budgetLines: 120 },
});
await sandbox.listen();
const { baseUrl, apiKey } = sandbox.clientOptions;
await using local = await startLocal({ baseUrl, apiKey, maxRequests: 12 });

for (let run = 1; run <= 3; run++) {
  const before = sandbox.count();
  const outcome = await local.run();
  console.log(`run ${run}: ${outcome}, ${sandbox.count() - before} requests`, await local.counts());
}
