import { type CollectionName, collectionNames, createClient } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { REFERENCES } from '../support/generated-fields.ts';
import { productFields } from './contract/specification.ts';

const names = [...collectionNames];

/** The values of a field such as `boms.productId` in all records. */
const valuesOf = ({ store }: Sandbox, path: string) => {
  const [name = '', field = ''] = path.split('.');
  return store[name as CollectionName].all().map((record) => (record as Record<string, unknown>)[field]);
};

test('generates exactly so many records over all collections, or those of each count, with other ids in the other company', () => {
  const sandbox = createSandbox({ records: 500, otherRecords: 300 });
  const counts = names.map((name) => sandbox.store[name].count);
  expect([counts.reduce((sum, count) => sum + count), Math.min(...counts) > 0]).toEqual([500, true]);
  for (const name of names) {
    const own = new Set(sandbox.store[name].ids());
    expect(sandbox.otherStore[name].ids().some((id) => own.has(id))).toBe(false);
  }
  const { boms, products } = createSandbox({ records: { boms: 2 } }).store;
  expect([boms.all(), products.count]).toMatchObject([[{ productId: null }, { productId: null }], 0]);
});

test('generates the same records from the same seed, and others from another seed', () => {
  const generated = (seed: number) => {
    const { store } = createSandbox({ seed, records: 300 });
    return names.map((name) => store[name].all());
  };
  const [seven, eight] = [generated(7), generated(8)];
  expect(generated(7)).toEqual(seven);
  for (const [at, records] of seven.entries()) expect(records).not.toEqual(eight[at]);
});

test('refers only to records that exist', () => {
  const sandbox = createSandbox({ seed: 3, records: 800, ids: { gap: 4 } });
  for (const [path, target] of Object.entries(REFERENCES)) {
    const existing = new Set(sandbox.store[target].ids());
    const named = valuesOf(sandbox, path);
    expect([path, named.filter((id) => !existing.has(String(id)))]).toEqual([path, []]);
    expect(new Set(named).size).toBeGreaterThan(1);
    // Neighbours share a parent.
    const groups = named.filter((id, at) => id !== named[at - 1]).length;
    if (path !== 'bomLines.productId') expect([path, groups]).toEqual([path, new Set(named).size]);
  }
});

test('numbers have the check digits that connectors verify, and budget lines the year of their budget', () => {
  const sandbox = createSandbox({ records: 500 });
  const { budgetLines, budgets, products } = sandbox.store;
  const sumOf = (digits: string) =>
    [...digits].reverse().reduce((sum, digit, at) => sum + Number(digit) * (at % 2 === 0 ? 1 : 3), 0);
  for (const { ean, upcCode } of products.all())
    for (const number of [ean, upcCode]) expect([number, sumOf(number ?? '1') % 10]).toEqual([number, 0]);
  const letters = (text: string) => text.replaceAll(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  const bank = (iban: string) => BigInt(letters(iban.slice(4) + iban.slice(0, 4))) % 97n;
  for (const path of ['bankFeedAccounts.iban', 'bankPayerMemories.payerIban'])
    for (const iban of valuesOf(sandbox, path)) expect([iban, bank(String(iban))]).toEqual([iban, 1n]);
  for (const { period, budgetId } of budgetLines.all() as { period?: string; budgetId?: string }[])
    expect(period).toMatch(new RegExp(`^${budgets.get(budgetId ?? '')?.fiscalYear}-\\d\\d$`));
});

test('a client accepts every generated product, and every documented field has a value in some product', async () => {
  const { products } = createClient(createSandbox({ records: { products: 300 } }).clientOptions);
  const seen = await products.list().toArray({ limit: Infinity });
  const fields = Object.keys(seen[0] ?? {});
  expect([seen.length, fields.toSorted()]).toEqual([300, productFields.map(({ name }) => name).toSorted()]);
  const empty = fields.filter((field) => seen.every((product) => Reflect.get(product, field) === null));
  expect(empty).toEqual(['stockDescription']);
});

test('gives later ids later timestamps, and changes some records after their creation', () => {
  const products = createSandbox({ records: { products: 500 } }).store.products.all();
  const created = products.map(({ createdAt }) => String(createdAt));
  expect(created).toEqual([...created].sort());
  const later = products.filter(({ createdAt, updatedAt }) => String(updatedAt) > String(createdAt)).length;
  const equal = products.filter(({ createdAt, updatedAt }) => updatedAt === createdAt).length;
  expect(later + equal).toBe(500);
  expect(later).toBeGreaterThan(100);
  expect(equal).toBeGreaterThan(100);
});
