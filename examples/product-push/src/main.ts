/** Pushes the CSV export of a shop: each product once, by its number. Without ACCOUNTING_BASE_URL to a sandbox. */
import { createReadStream } from 'node:fs';
import { createClient, memoryStore, type ProductDraft, push } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import { createSandbox } from 'accounting-data-sdk/testing';
import { parse } from 'csv-parse';

/** The columns of the shop, and the fields that they become. An empty cell clears its field. */
async function* readShop(file: string): AsyncGenerator<ProductDraft> {
  const lines = createReadStream(file).pipe(parse({ bom: true, columns: true, trim: true }));
  for await (const { sku, title, description, price, tax_included, ean, status, in_shop } of lines) {
    yield {
      productNumber: sku,
      name: title,
      description: description || null,
      salePrice: price || null,
      salePriceIncludesTax: tax_included === 'yes',
      ean: ean || null,
      status: status || null,
      isWebShop: in_shop === 'yes',
    };
  }
}

const args = process.argv.slice(2);
const file = args.find((arg) => !arg.startsWith('-')) ?? new URL('../products.csv', import.meta.url).pathname;
const isReal = process.env.ACCOUNTING_BASE_URL !== undefined;
const client = createClient(isReal ? {} : createSandbox({ allowedStatuses: ['active'] }).clientOptions);

const report = await push(client.products, {
  tenant: 'shop',
  rows: readShop(file),
  key: (row) => row.productNumber,
  store: isReal ? fileStore('.push') : memoryStore(),
  dryRun: args.includes('--dry-run'),
  onResult: ({ key, action, fields, error }) =>
    console.log(`${key ?? '(no number)'}: ${error?.message ?? `${action} ${fields.join(', ')}`}`),
});
console.log(report.counts);
if (report.counts.failed + report.counts.conflict > 0) process.exitCode = isReal ? 1 : 0;
