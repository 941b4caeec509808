import type { CollectionName } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { collections } from '../../src/collections/index.ts';
import { isMoney } from '../../src/schemas/money.ts';
import { fits } from '../../src/schemas/record.ts';
import { compareIds } from '../../src/testing/store/id-order.ts';

const names = Object.keys(collections) as CollectionName[];

/** Which field of which collection names a record of which other. */
const REFERENCES: readonly (readonly [CollectionName, string, CollectionName])[] = [
  ['accountAddresses', 'accountId', 'accounts'],
  ['accountContactRelations', 'accountId', 'accounts'],
  ['accountContactShoppingStores', 'accountContactRelationId', 'accountContactRelations'],
  ['accountCustomerProjectRates', 'accountId', 'accounts'],
  ['accountSettings', 'accountId', 'accounts'],
  ['bankFeedAccounts', 'bankFeedConnectionId', 'bankFeedConnections'],
  ['bankPayerMemories', 'accountId', 'accounts'],
  ['boms', 'productId', 'products'],
  ['bomLines', 'bomId', 'boms'],
  ['bomLines', 'productId', 'products'],
  ['budgetLines', 'budgetId', 'budgets'],
];

const everything = (sandbox: Sandbox) =>
  Object.fromEntries(names.map((name) => [name, sandbox.store[name].all()]));

test('a number is spread over all fourteen collections, to the record', () => {
  for (const records of [14, 500, 5000]) {
    const sandbox = createSandbox({ records });
    const counts = names.map((name) => sandbox.store[name].count);
    expect(counts.reduce((sum, count) => sum + count)).toBe(records);
    if (records >= 500) expect(Math.min(...counts)).toBeGreaterThan(0);
  }
});

test('counts by collection leave the others empty', () => {
  const sandbox = createSandbox({ records: { boms: 3 }, otherRecords: { boms: 2 } });
  expect([sandbox.store.boms.count, sandbox.store.products.count, sandbox.otherStore.boms.count]).toEqual([
    3, 0, 2,
  ]);
  expect(sandbox.store.boms.all()).toMatchObject([
    { productId: null },
    { productId: null },
    { productId: null },
  ]);
});

test('the same seed makes the same records, another seed others', () => {
  const made = (seed: number) => everything(createSandbox({ seed, records: 300 }));
  expect(made(7)).toEqual(made(7));
  const [seven, eight] = [made(7), made(8)];
  for (const name of names) expect([name, seven[name]]).not.toEqual([name, eight[name]]);
});

test('the other company has other records under other ids', () => {
  const sandbox = createSandbox({ records: 300, otherRecords: 300 });
  for (const name of names) {
    const own = new Set(sandbox.store[name].ids());
    expect(sandbox.otherStore[name].ids().some((id) => own.has(id))).toBe(false);
  }
});

test.each(['numeric', 'uuid'] as const)('every reference names a record that exists (%s ids)', (form) => {
  const sandbox = createSandbox({ seed: 3, records: 2000, ids: { form, gap: 4 } });
  for (const [name, field, target] of REFERENCES) {
    const there = new Set(sandbox.store[target].ids());
    const named = sandbox.store[name].all().map((record) => (record as Record<string, unknown>)[field]);
    expect([name, field, named.filter((id) => !there.has(String(id)))]).toEqual([name, field, []]);
    expect(new Set(named).size).toBeGreaterThan(1);
  }
});

test('lines lie with their heads: no bill of materials and no budget is left without', () => {
  const sandbox = createSandbox({ records: 2000 });
  const heads = (name: CollectionName, field: string) =>
    new Set(sandbox.store[name].all().map((record) => (record as Record<string, unknown>)[field])).size;
  expect(heads('bomLines', 'bomId')).toBe(sandbox.store.boms.count);
  expect(heads('budgetLines', 'budgetId')).toBe(sandbox.store.budgets.count);
  for (const line of sandbox.store.budgetLines.all()) {
    const year = sandbox.store.budgets.get(String(line.budgetId))?.fiscalYear;
    expect(String(line.period).slice(0, 4)).toBe(String(year));
  }
});

test('products carry every documented field in its documented kind', () => {
  const { fields } = collections.products;
  for (const product of createSandbox({ records: { products: 300 } }).store.products.all()) {
    expect(Object.keys(product).sort()).toEqual(['id', ...Object.keys(fields)].sort());
    for (const [field, value] of Object.entries(product)) {
      const kind = fields[field];
      if (kind !== undefined && value !== null)
        expect([field, value, fits(kind, value)]).toEqual([field, value, true]);
    }
  }
});

test('products differ in nearly every field', () => {
  const products = createSandbox({ records: { products: 300 } }).store.products.all();
  const same = Object.keys(collections.products.fields).filter(
    (field) =>
      new Set(
        products.map((product) => JSON.stringify((product as unknown as Record<string, unknown>)[field])),
      ).size === 1,
  );
  expect(same).toEqual([
    'salePriceDecimals',
    'purchaseLedgerAccountCode',
    'stockLedgerAccountCode',
    'cogsLedgerAccountCode',
    'quantityDefault',
    'stockDescription',
  ]);
});

test('amounts are decimal strings of four digits, in every collection', () => {
  const sandbox = createSandbox({ records: 3000 });
  const amounts: [CollectionName, string][] = [
    ['accounts', 'creditLimit'],
    ['accountCustomerProjectRates', 'hourlyRate'],
    ['bankFeedAccounts', 'balance'],
    ['bomLines', 'unitCost'],
    ['budgetLines', 'amount'],
    ['products', 'salePrice'],
    ['products', 'saleRrpPrice'],
  ];
  for (const [name, field] of amounts) {
    const values = sandbox.store[name].all().map((record) => (record as Record<string, unknown>)[field]);
    const set = values.filter((value) => value !== null);
    expect(set.length).toBeGreaterThan(0);
    for (const value of set)
      expect([field, value, isMoney(value) && /\.\d{4}$/.test(value)]).toEqual([field, value, true]);
  }
});

test('check digits are right: EAN, UPC and IBAN', () => {
  const sandbox = createSandbox({ records: 2000 });
  const sum = (digits: string) =>
    [...digits].reverse().reduce((total, digit, i) => total + Number(digit) * (i % 2 === 0 ? 1 : 3), 0);
  for (const { ean, upcCode } of sandbox.store.products.all()) {
    expect([ean?.length, upcCode?.length, sum(ean ?? '') % 10, sum(upcCode ?? '') % 10]).toEqual([
      13, 12, 0, 0,
    ]);
  }
  for (const { iban } of sandbox.store.bankFeedAccounts.all()) {
    const turned = String(iban).slice(4) + String(iban).slice(0, 4);
    const number = BigInt(turned.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55)));
    expect([iban, number % 97n]).toEqual([iban, 1n]);
  }
});

test('generated times rise with the ids, and some records were changed later', () => {
  const products = createSandbox({ records: { products: 500 } }).store.products.all();
  const created = products.map(({ createdAt }) => String(createdAt));
  expect(created).toEqual([...created].sort());
  expect(products.every(({ createdAt, updatedAt }) => String(updatedAt) >= String(createdAt))).toBe(true);
  const changed = products.filter(({ createdAt, updatedAt }) => createdAt !== updatedAt).length;
  expect(changed).toBeGreaterThan(100);
  expect(changed).toBeLessThan(400);
});

test('a million records are there at once, and the last page is read as the first', async () => {
  const sandbox = createSandbox({ records: 1_000_000 });
  const { accounts } = sandbox.store;
  const last = String(accounts.count);
  expect(accounts.get(last)).toMatchObject({ id: last });
  accounts.update(last, { name: 'changed' });
  accounts.delete('1');
  const lastPage = Math.ceil(accounts.count / 30);
  const response = await sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/accounts?_page=${lastPage}`, {
    headers: { 'X-AUTH-TOKEN': sandbox.keys.full },
  });
  const page = (await response.json()) as { id: string; name: string }[];
  expect(page.at(-1)).toMatchObject({ id: last, name: 'changed' });
  expect([...page].sort((a, b) => compareIds(a.id, b.id))).toEqual(page);
});
