/** Writes products to CSV and adds up their prices to the last digit. */
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createClient, type Product, toDecimal, toMoney } from 'accounting-data-sdk';

const client = createClient();
const columns = [
  'id',
  'productNumber',
  'name',
  'salePrice',
  'updatedAt',
] as const satisfies (keyof Product)[];
let total = toDecimal('0');
let rows = 0;

function cell(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

async function* csv(): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`;
  for await (const product of client.products.list()) {
    rows += 1;
    total = total.plus(toDecimal(product.salePrice) ?? 0);
    yield `${columns.map((column) => cell(product[column])).join(',')}\r\n`;
  }
}

const file = process.argv[2] ?? 'products.csv';
await pipeline(csv, createWriteStream(file));
console.log(`${rows} products in ${file}; sale prices add up to ${toMoney(total)}`);
