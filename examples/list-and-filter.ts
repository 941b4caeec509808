/** Reads collections in four ways: changed records, a range of ids, page by page, and everything with a resume point. */
import { createClient } from 'accounting-data-sdk';

const client = createClient();

let changed = 0;
for await (const product of client.products.list({ updatedSince: '2024-01-01' })) {
  changed += 1;
  if (changed === 1) console.log(`first changed product: ${product.id} ${product.name}`);
}
console.log(`${changed} products changed since 2024`);

const accounts = await client.accounts.list({ id: { gt: '10', lte: '20' } }).toArray({ limit: 100 });
console.log(`accounts 11 to 20: ${accounts.map(({ id }) => id).join(' ')}`);

// Breaking out of the loop stops the requests.
for await (const page of client.budgets.list().pages()) {
  console.log(`${page.records.length} budgets; ${page.rateLimit?.remaining} requests left`);
  break;
}

// Keyset pagination returns every record, even if others are deleted meanwhile. Each page has a token to resume from.
let lines = 0;
let resumeFrom: string | undefined;
for await (const page of client.budgetLines.list({}, { resumeFrom }).pages()) {
  lines += page.records.length;
  resumeFrom = page.resumeToken; // store it: a later run continues here
}
console.log(`${lines} budget lines`);
