import { createClient } from 'accounting-data-sdk';

// `createClient()` talks to the sandbox of this page. In Node it
// reads ACCOUNTING_BASE_URL and ACCOUNTING_API_KEY.
const client = createClient();

let count = 0;
for await (const account of client.accounts.list()) {
  count += 1;
  if (count % 30 > 0) continue;
  console.log(`${count} accounts, now ${account.id}`);
  // Work takes time. Meanwhile the next page is on its way:
  await new Promise((resolve) => setTimeout(resolve, 150));
}
console.log(`${count} accounts, each once`);
