// A copy that programs of the databases export is pushed back, and changes nothing.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createClient, productFields, sync } from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { expect, test } from 'vitest';
import { openPglite } from '../../support/pglite.ts';
import { folder, openSandbox, run } from './support/run.ts';

/** Values that a program or a file could change. */
const DELICATE: readonly Readonly<Record<string, unknown>>[] = [
  { name: '', brand: null, description: 'two\r\nlines, "quoted"; a|b\u2028' },
  { name: 'Desk ', brand: '=1+1', remark: 'two\rlines', ean: '0012', description: 'x\ufeffé 😀' },
  { name: ' x', hsnCode: '00.10', model: '2.50', version: '2.0' },
  { tags: ['a|b', 'c, d', ''], stockDocumentTypes: [], isWebShop: false, isSaleItem: true },
  // The program sqlite3 writes 15 digits of a number.
  { stockQuantity: 0.123456789012345, stockMinimalQuantity: 1e-7, salePriceDecimals: -2 },
  { salePrice: '-0.1000', saleRrpPrice: '123456789012345678.12345678', tags: ['alu, slim'] },
];

const MONEY = Object.entries(productFields).flatMap(([name, kind]) => (kind === 'money' ? [name] : []));

/** A program in the path, or undefined. */
function has(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** A service and its products, and what a push of a file comes to. */
function service() {
  const { sandbox, env } = openSandbox({ records: { products: 40 } });
  for (const [row, product] of DELICATE.entries())
    sandbox.store.products.insert({ productNumber: `P-${row}`, ...product } as never);
  const file = folder();
  const count = sandbox.store.products.all().length;
  const pushBack = async (text: string | Buffer, name = 'products.csv') => {
    writeFileSync(file(name), text);
    const { code, log } = await run(env, ['push', file(name), '--key', 'productNumber', '--yes']);
    expect([code, log]).toEqual([
      0,
      expect.stringMatching(RegExp(`^${count} rows: 0 created, 0 updated, ${count} unch`)),
    ]);
    expect(sandbox.journal).toEqual([]);
  };
  const into = (target: ReturnType<typeof sqliteTarget>) =>
    sync(createClient(sandbox.clientOptions), { tenant: 'acme', collections: ['products'], target });
  return { file, pushBack, into };
}

test.skipIf(!has('sqlite3')).each(['csv', 'json'])(
  'a copy that sqlite3 exports as %s is pushed back unchanged',
  async (format) => {
    const { file, pushBack, into } = service();
    await into(sqliteTarget(file('books.sqlite')));
    const columns = Object.keys(productFields).map((name) =>
      MONEY.includes(name) ? `"${name}Text" AS "${name}"` : `"${name}"`,
    );
    const sql = `SELECT ${columns.join()} FROM products WHERE tenant = 'acme'`;
    const text = execFileSync('sqlite3', [`-${format}`, '-header', file('books.sqlite'), sql], {
      encoding: 'utf8',
    });
    if (format === 'csv') return await pushBack(text);
    const lines = (JSON.parse(text) as object[]).map((row) => `${JSON.stringify(row)}\n`);
    await pushBack(lines.join(''), 'products.ndjson');
  },
);

test('a copy that PostgreSQL exports as CSV is pushed back unchanged', async () => {
  const { pushBack, into } = service();
  const database = await openPglite();
  await into(postgresTarget(database));
  const columns = Object.keys(productFields).map((name) => `"${name}"`);
  const sql = `SELECT ${columns.join()} FROM accounting.products WHERE tenant = 'acme'`;
  const { blob } = await database.query(`COPY (${sql}) TO '/dev/blob' WITH (FORMAT csv, HEADER)`);
  await pushBack(Buffer.from((await blob?.arrayBuffer()) ?? new ArrayBuffer(0)));
  // psql writes an empty text as nothing.
  const { rows } = await database.query<
    Record<string, string | null>
  >(`SELECT ${columns.map((name) => `${name}::text`).join()}
    FROM accounting.products`);
  const cell = (text: string | null) =>
    text === null
      ? ''
      : /[",\r\n]/.test(text)
        ? `"${text.replaceAll('"', '""')}"`
        : text.replace(/^(true|false)$/, ([first = '']) => first);
  const csv = [Object.keys(productFields), ...rows.map((row) => Object.values(row))].map(
    (cells) => `${cells.map(cell).join()}\n`,
  );
  await pushBack(csv.join(''));
});
