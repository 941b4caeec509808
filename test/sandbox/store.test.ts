import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';
import { play } from './support/play.ts';

describe('sandbox.store', () => {
  test('a record that a test stores is seen at once, also under the id of one that a request created', async () => {
    const sandbox = createSandbox({ clock: 0, newRecords: { listedAfterMs: 5_000, foundAfterMs: 5_000 } });
    const { id } = (await createProduct(sandbox, { name: 'Desk' })).record;
    (await call(sandbox, `/products/${id}`)).expectNotFound();
    sandbox.store.products.clear();
    sandbox.store.products.insert({ id: String(id), name: 'Chair' });
    expect((await call(sandbox, `/products/${id}`)).record).toMatchObject({ name: 'Chair' });
    expect(ids(await call(sandbox, '/products'))).toEqual([id]);
  });

  test('inserts under the next id, or the one given, and never twice under one', () => {
    const { accounts } = createSandbox().store;
    expect(accounts.insert({ name: 'a' })).toEqual({ id: '1', name: 'a' });
    expect(accounts.insert({ id: '41' }).id).toBe('41');
    expect(accounts.insert({}).id).toBe('42');
    accounts.delete('42');
    expect(accounts.insert({}).id).toBe('43');
    expect(() => accounts.insert({ id: '1' })).toThrow('accounts: 1 already exists');
    expect(() => accounts.insert({ id: '' })).toThrow(TypeError);
    accounts.insert({ id: '43b' }, { visibleAfterMs: 60_000 });
    expect(() => accounts.insert({ id: '43b' })).toThrow('accounts: 43b already exists');
    accounts.delete('43b');
    expect(accounts.ids()).toEqual(['1', '41', '43']);
    const { boms } = createSandbox({ ids: { form: 'text', prefix: 'b' } }).store;
    boms.insert({ id: 'b0000000041' });
    expect(boms.insert({}).id).toBe('b0000000042');
  });

  test('completes a product, keeps unknown fields and rejects a number for money', () => {
    const { products } = createSandbox().store;
    const made = products.insert({ name: 'Desk', salePrice: '5', colour: 'oak', brand: undefined });
    expect(made).toMatchObject({ name: 'Desk', salePrice: '5.0000', colour: 'oak', brand: null });
    // @ts-expect-error Money is a decimal string.
    expect(() => products.insert({ salePrice: 5 })).toThrow('salePrice is money');
    expect(products.count).toBe(1);
  });

  test('stores the timestamps given for a record that shows them', async () => {
    const sandbox = createSandbox();
    sandbox.store.products.insert({ updatedAt: '2021-01-01T00:00:00Z' });
    sandbox.store.products.insert({});
    await play(sandbox, [
      ['GET /products?updatedSince=2021-01-01', '1 2'],
      ['GET /products?updatedSince=2021-01-02', '2'],
    ]);
    sandbox.store.products.update('2', { updatedAt: '2020-01-01T00:00:00Z' });
    await play(sandbox, [['GET /products?updatedSince=2021-01-01', '1']]);
    expect(() => sandbox.store.products.insert({ createdAt: 'someday' })).toThrow(RangeError);
    // In a collection without them it is a field as any other.
    expect(sandbox.store.accounts.insert({ createdAt: 'someday' }).createdAt).toBe('someday');
  });

  test('updates the fields given, and no record that does not exist', () => {
    const { products } = createSandbox().store;
    products.insert({ name: 'Desk', brand: 'Oak' });
    const cleared = products.update('1', { brand: null, name: undefined });
    expect(cleared).toMatchObject({ name: 'Desk', brand: null });
    expect(products.update('1', { id: '9' }).id).toBe('1');
    expect(() => products.update('2', {})).toThrow('products: there is no record 2');
    expect(products.delete('2')).toBe(false);
    expect(products.get('2')).toBeUndefined();
  });

  test('returns and stores copies', async () => {
    const sandbox = createSandbox();
    const tags = ['a'];
    const made = sandbox.store.products.insert({ tags });
    tags.push('b');
    made.tags?.push('c');
    sandbox.store.products.get('1')?.tags?.push('d');
    sandbox.store.products.update('1', { tags: made.tags }).tags?.splice(1);
    made.tags?.splice(1);
    sandbox.store.products.all()[0]?.tags?.push('e');
    expect((await call(sandbox, '/products/1')).record.tags).toEqual(['a', 'c']);
  });

  test('loads fixtures, which readers see at once', () => {
    const { store } = createSandbox({ commitDelayMs: 60_000 });
    store.load({ accounts: [{ id: '5', name: 'a' }, { name: 'b' }], boms: [{}, {}] });
    expect([store.accounts.ids(), store.boms.count]).toEqual([['5', '6'], 2]);
    store.accounts.clear();
    expect([store.accounts.count, store.boms.count]).toEqual([0, 2]);
    store.clear();
    expect(store.boms.count).toBe(0);
    expect(() => store.load({ unknown: [] } as object)).toThrow('There is no collection unknown');
    expect(() => store.load({ accounts: [{ id: 7 }] } as object)).toThrow(TypeError);
  });

  test.each(['numeric', 'uuid'] as const)('gives each new record a new %s id', (form) => {
    const boms = () => createSandbox({ ids: { form }, records: { boms: 3 } }).store.boms;
    const [one, other] = [boms(), boms()];
    const first = one.insert({}).id;
    one.delete(first);
    expect(one.insert({}).id).not.toBe(first);
    // Not even one that a test has stored.
    other.insert({ id: first });
    expect(other.insert({}).id).not.toBe(first);
  });
});

test('ids.start and ids.gap give sparse ascending ids', () => {
  const { accounts } = createSandbox({ ids: { start: 500, gap: 20 }, records: { accounts: 100 } }).store;
  const all = accounts.ids().map(Number);
  const gaps = all.slice(1).map((id, i) => id - (all[i] ?? 0));
  expect(all[0]).toBe(500);
  expect(Math.min(...gaps)).toBeGreaterThan(0);
  expect(new Set(gaps).size).toBeGreaterThan(10);
  expect((all.at(-1) ?? 0) - 500).toBeGreaterThan(98 * 20);
});

test('a list in no order moves a changed record', async () => {
  const sandbox = createSandbox({ order: 'none', clock: '2026-01-31', records: { boms: 30 } });
  const places = new Set<number>();
  for (let change = 0; change < 9; change += 1) {
    sandbox.clock.advance(1000);
    sandbox.store.boms.update('7', { name: `changed ${change}` });
    places.add(ids(await call(sandbox, '/boms')).indexOf('7'));
  }
  expect(places.size).toBeGreaterThan(3);
});
