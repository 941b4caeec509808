import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { createClient, type SyncTarget, sync } from 'accounting-data-sdk';
import { postgresTarget, sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { Decimal } from 'decimal.js';
import { expect, onTestFinished, test } from 'vitest';
import { startPglite } from '../../support/pglite.ts';
import { root } from './code-blocks.ts';

const guide = readFileSync(`${root}src/guides/copy-in-a-database.md`, 'utf8');
const blocks = [...guide.matchAll(/^```sql\n(.*?)^```$(?:\n\n((?:^\|[^\n]*\n)+))?/gms)];
/** Each query of the guide with the rows of the table below it. */
const queries = blocks.map(([, sql = '', table]) => ({
  sql,
  sample: table
    ?.trim()
    .split('\n')
    .slice(2)
    .map((line) => line.slice(2, -2).split(' | ')),
}));

type Row = readonly unknown[];
type Product = { readonly id: string; readonly [field: string]: unknown };

const counts = { accounts: 10, accountAddresses: 10, products: 20 };
const collections = ['accounts', 'accountAddresses', 'products'] as const;

/** An amount, and how the service sends it. */
const [RIGHT, SENT] = ['77.7700', '77,77'];

/** Companies of a service that leaves out nulls. One has no products. */
function companies(): Readonly<Record<'acme' | 'bolt' | 'none', Sandbox>> {
  const [acme, bolt, none] = [20, 20, 0].map((products, seed) => {
    const records = { ...counts, products };
    return createSandbox({ seed, records, nullFields: 'omitted' });
  }) as [Sandbox, Sandbox, Sandbox];
  for (const [index, { store, clock }] of [acme, bolt].entries()) {
    // Its generated records are older. Tomorrow, so that the test can run at midnight.
    clock.advance(24 * 3_600_000);
    for (const number of [1, 2]) {
      const name = `New ${number}`;
      store.products.insert({ name, ean: '8711234567890', isSaleItem: true, salePrice: '5.5' });
    }
    store.products.insert({ name: 'Typo', salePrice: RIGHT, articleCode: `only ${index}` });
    // Twice in both, so that it is no difference.
    store.products.insert({ name: 'Shared', articleCode: 'both', tags: ['new', 'new'] } as never);
  }
  return { acme, bolt, none };
}

const amount = (value: unknown) =>
  /^-?\d{1,18}(\.\d{1,8})?$/.test(`${value}`) ? new Decimal(`${value}`) : undefined;
const timesStock = ({ salePrice, stockQuantity }: Product) =>
  amount(salePrice)?.times(Number(stockQuantity ?? Number.NaN)) ?? new Decimal(Number.NaN);

function grouped<V>(values: readonly V[], key: (value: V) => string): [string, V[]][] {
  const groups = new Map<string, V[]>();
  for (const value of values) groups.set(key(value), [...(groups.get(key(value)) ?? []), value]);
  return [...groups];
}

/** What the queries must return, calculated from the records of the service, in the order of the guide. */
function expectedOf(all: ReturnType<typeof companies>): readonly (readonly Row[])[] {
  const tenants = Object.entries(all);
  const products = tenants.flatMap(([tenant, { store }]) =>
    (store.products.all() as readonly object[]).map((product): Product & { readonly tenant: string } => {
      const { salePrice } = product as Product;
      return { ...(product as Product), salePrice: salePrice === RIGHT ? SENT : salePrice, tenant };
    }),
  );
  const priced = products.flatMap((product) => {
    const price = amount(product.salePrice)?.toNumber();
    return price === undefined ? [] : [Object.assign(product, { price })];
  });
  const sum = (values: readonly Decimal[]) =>
    values.reduce((total, value) => (value.isNaN() ? total : total.plus(value)), new Decimal(0));
  const stock = products.filter(({ isStockItem }) => isStockItem === true);
  const codesOf = (tenant: string) =>
    new Set(products.filter((each) => each.tenant === tenant).map(({ articleCode }) => articleCode ?? null));
  const today = products.filter(({ updatedAt }) => Date.parse(`${updatedAt}`) > Date.now());
  return [
    // All collections were synced a moment ago, without an error.
    [],
    tenants.map(([tenant, { store }]) => [
      tenant,
      store.products.count,
      priced.filter((each) => each.tenant === tenant).length,
    ]),
    priced
      .filter(({ price }) => price > 50)
      .sort((a, b) => b.price - a.price)
      .slice(0, 3)
      .map(({ tenant, name, price }) => [tenant, name, price]),
    grouped(
      stock.filter(({ brand }) => brand != null),
      ({ brand }) => `${brand}`,
    ).map(([brand, rows]) => [brand, rows.length, sum(rows.map(timesStock)).toNumber()]),
    today.map(({ tenant, id, name, updatedAt }) => [tenant, id, name, Date.parse(`${updatedAt}`)]),
    products
      .filter(({ isSaleItem, saleLedgerAccountCode: code }) => isSaleItem === true && code == null)
      .map(({ tenant, id, productNumber, name }) => [tenant, id, productNumber ?? null, name]),
    grouped(
      products.filter(({ ean }) => ean != null),
      ({ tenant, ean }) => `${tenant} ${ean}`,
    )
      .filter(([, rows]) => rows.length > 1)
      .map(([key, rows]) => [...key.split(' '), rows.length]),
    tenants.flatMap(([tenant, { store }]) =>
      (store.accountAddresses.all() as readonly Product[]).flatMap(({ accountId, city }) => {
        const account = (store.accounts.all() as readonly Product[]).find(({ id }) => id === accountId);
        return account === undefined ? [] : [[tenant, account.name, city ?? null]];
      }),
    ),
    [...codesOf('acme')].filter((code) => code !== null && !codesOf('bolt').has(code)).map((code) => [code]),
    products
      .filter(({ salePrice }) => salePrice != null && amount(salePrice) === undefined)
      .map(({ tenant, id, salePrice }) => [tenant, id, salePrice]),
    grouped(
      products.flatMap(({ tags }) => (Array.isArray(tags) ? (tags as string[]) : [])),
      (tag) => tag,
    ).map(([tag, rows]) => [tag, rows.length]),
    // dbt
    grouped(stock, ({ tenant }) => `${tenant}`).map(([tenant, rows]) => [
      tenant,
      rows.length,
      sum(rows.map(timesStock)).toNumber(),
    ]),
    // Metabase
    grouped(
      products.filter(({ tenant, status }) => tenant === 'acme' && status != null),
      ({ status }) => `${status}`,
    ).map(([status, rows]) => {
      const prices = rows.flatMap(({ salePrice }) => amount(salePrice) ?? []);
      return [status, rows.length, prices.length === 0 ? null : sum(prices).div(prices.length).toNumber()];
    }),
  ];
}

/** A value as both databases can return it. */
function plain(value: unknown): unknown {
  if (value instanceof Date) return value.getTime();
  const text = typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  if (text) return Date.parse(value);
  const isNumber = typeof value === 'number' || typeof value === 'bigint' || /^-?\d+\.\d+$/.test(`${value}`);
  // Sums of floating point numbers differ in their last digits.
  return isNumber ? Number(Number(value).toFixed(4)) : value;
}

const compared = (rows: readonly Row[]) => rows.map((row) => JSON.stringify(row.map(plain))).sort();

async function check(target: SyncTarget, name: string, query: (sql: string) => Promise<readonly Row[]>) {
  const all = companies();
  for (const [tenant, sandbox] of Object.entries(all)) {
    const fetch: typeof globalThis.fetch = async (...request) => {
      const response = await sandbox.fetch(...request);
      return new Response((await response.text()).replaceAll(RIGHT, SENT), response);
    };
    const client = createClient({ ...sandbox.clientOptions, fetch });
    await sync(client, { tenant, collections, target });
  }
  const expected = expectedOf(all);
  const wanted = queries.filter(({ sql }) => !sql.startsWith('-- PostgreSQL') || name === 'PostgreSQL');
  for (const [index, { sql, sample }] of wanted.entries()) {
    const rows = await query(sql);
    // The last one, of Grafana, depends on the time.
    if (index === expected.length) expect(rows).toHaveLength(9);
    else expect([sql, compared(rows)]).toEqual([sql, compared(expected[index] ?? [])]);
    if (sample !== undefined) expect(rows.map((row) => row.map((cell) => `${plain(cell)}`))).toEqual(sample);
  }
  const isTried = expected.filter((rows) => rows.length > 0).length;
  expect([wanted.length - (name === 'PostgreSQL' ? 1 : 0), isTried]).toEqual([
    expected.length,
    expected.length - 1,
  ]);
}

test('the queries of the guide to copies return what the service has, in SQLite', async () => {
  const database = new DatabaseSync(':memory:');
  const query = async (sql: string) =>
    database
      .prepare(sql.replace('JOIN record', 'JOIN accounting_record'))
      .all()
      .map((row) => Object.values(row));
  await check(sqliteTarget(database), 'SQLite', query);
});

test('the queries of the guide to copies return what the service has, in PostgreSQL', async () => {
  const database = await startPglite();
  onTestFinished(() => database.close());
  await database.exec('CREATE SCHEMA accounting; SET search_path TO accounting');
  const query = async (sql: string) => {
    const { rows } = await database.query<object>(
      sql.replace('json_each(tags)', 'jsonb_array_elements(tags)'),
    );
    return rows.map((row) => Object.values(row) as Row);
  };
  await check(postgresTarget(database), 'PostgreSQL', query);
});
