import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';

describe('lists', () => {
  test('order sorts every page, those of a filter too', async () => {
    const sandbox = createSandbox({ order: 'id-desc', pageSize: 3, records: { boms: 11 } });
    expect(ids(await call(sandbox, '/boms'))).toEqual(['11', '10', '9']);
    expect(ids(await call(sandbox, '/boms?_page=4'))).toEqual(['2', '1']);
    expect(ids(await call(sandbox, '/boms?id[gt]=5&_page=2'))).toEqual(['8', '7', '6']);
  });

  test('afterLastPage: not_found responds with 404 to a page behind the last one, but not to an empty first one', async () => {
    const sandbox = createSandbox({ afterLastPage: 'not_found' });
    expect((await call(sandbox, '/boms')).json).toEqual([]);
    expect((await call(sandbox, '/boms?_page=2')).record.type).toBe('not_found');
    for (const _ of Array(30)) sandbox.store.boms.insert({});
    expect((await call(sandbox, '/boms')).list).toHaveLength(30);
    expect((await call(sandbox, '/boms?_page=2')).record.type).toBe('not_found');
  });

  test('hiddenRecords leaves records out after the list was divided into pages', async () => {
    const hiddenRecords = ['2', '3', '6'];
    const sandbox = createSandbox({ hiddenRecords, pageSize: 3, records: { boms: 7 } });
    expect(ids(await call(sandbox, '/boms'))).toEqual(['1']);
    expect(ids(await call(sandbox, '/boms?_page=2'))).toEqual(['4', '5']);
    expect(ids(await call(sandbox, '/boms?id[gt]=1'))).toEqual(['4']);
    expect((await call(sandbox, '/boms/2')).status).toBe(200);
  });

  test('hiddenRecords as a fraction hides about that many, the same each time', async () => {
    const shown = async () => {
      const sandbox = createSandbox({ hiddenRecords: 0.2, pageSize: 1_000, records: { boms: 1_000 } });
      return ids(await call(sandbox, '/boms'));
    };
    expect((await shown()).length).toBeGreaterThan(740);
    expect((await shown()).length).toBeLessThan(860);
    expect(await shown()).toEqual(await shown());
  });

  test.each([
    ['int4', '2147483647', '2147483648'],
    ['int8', '9223372036854775807', '9223372036854775808'],
  ] as const)(
    'idColumn %s responds with 500 to a bound that it cannot store',
    async (idColumn, most, beyond) => {
      const sandbox = createSandbox({ idColumn, records: { boms: 3 } });
      expect(ids(await call(sandbox, `/boms?id[lte]=${most}`))).toEqual(['1', '2', '3']);
      expect((await call(sandbox, `/boms?id[between]=1..${beyond}`)).status).toBe(500);
      const unbounded = createSandbox({ records: { boms: 3 } });
      expect(ids(await call(unbounded, `/boms?id[lte]=${beyond}`))).toHaveLength(3);
    },
  );

  test.each(['id[gt]=', 'id[between]=1..2..3', 'updatedSince=2026-02-30T25:00:00Z'])(
    'invalidFilter decides whether %s is ignored or rejected',
    async (query) => {
      const sandbox = createSandbox({ records: { boms: 3 } });
      expect(ids(await call(sandbox, `/boms?${query}`))).toEqual(['1', '2', '3']);
      const strict = createSandbox({ invalidFilter: 'reject' });
      expect((await call(strict, `/boms?${query}`)).status).toBe(400);
    },
  );
});

describe('ids', () => {
  test.each([
    ['uuid', /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
    ['ulid', /^[0-9A-HJKMNP-TV-Z]{26}$/],
  ] as const)('of the form %s ascend, and each is found', async (form, pattern) => {
    const sandbox = createSandbox({ ids: { form }, records: { accounts: 40 } });
    const all = sandbox.store.accounts.ids();
    const made = sandbox.store.accounts.insert({});
    expect([...all, made.id].every((id) => pattern.test(id))).toBe(true);
    expect([...all, made.id]).toEqual([...new Set([...all, made.id])].sort());
    expect(ids(await call(sandbox, `/accounts?id[gt]=${all[29]}`))).toEqual([...all.slice(30), made.id]);
    for (const id of all) expect((await call(sandbox, `/accounts/${id}`)).record.id).toBe(id);
    expect((await call(sandbox, '/accounts/7')).status).toBe(404);
  });

  test('start and gap give sparse ascending ids, each of which is found', () => {
    const { accounts } = createSandbox({ ids: { start: 500, gap: 20 }, records: { accounts: 100 } }).store;
    const all = accounts.ids().map(Number);
    const gaps = all.slice(1).map((id, i) => id - (all[i] ?? 0));
    expect([all[0], Math.min(...gaps) > 0, new Set(gaps).size > 10]).toEqual([500, true, true]);
    expect((all.at(-1) ?? 0) - 500).toBeGreaterThan(98 * 20);
    for (const id of accounts.ids()) expect(accounts.get(id)?.id).toBe(id);
  });
});

describe('writing', () => {
  test('idempotency decides what a repeat within 24 hours gets: replay and differentBody', async () => {
    const conflict = createSandbox({ idempotency: { replay: 'conflict' } });
    await createProduct(conflict, {}, { idempotencyKey: 'k' });
    expect((await createProduct(conflict, {}, { idempotencyKey: 'k' })).status).toBe(409);

    const lenient = createSandbox({ idempotency: { differentBody: 'stored' } });
    await createProduct(lenient, { name: 'a' }, { idempotencyKey: 'k' });
    expect((await createProduct(lenient, { name: 'b' }, { idempotencyKey: 'k' })).record.name).toBe('a');

    const ignoring = createSandbox({ idempotency: { replay: 'ignored' } });
    expect((await call(ignoring, '/products', { method: 'POST', body: {} })).status).toBe(201);

    const forgetting = createSandbox({ clock: 0 });
    await createProduct(forgetting, {}, { idempotencyKey: 'k' });
    forgetting.clock.advance(86_399_999);
    expect((await createProduct(forgetting, {}, { idempotencyKey: 'k' })).record.id).toBe('1');
    forgetting.clock.advance(1);
    expect((await createProduct(forgetting, {}, { idempotencyKey: 'k' })).record.id).toBe('2');
  });

  test('a key of one company is unused in the other, and a rejected create leaves its key unused', async () => {
    const sandbox = createSandbox();
    const rejected = await createProduct(sandbox, { salePrice: 5 }, { idempotencyKey: 'k' });
    const first = await createProduct(sandbox, {}, { idempotencyKey: 'k' });
    const other = await createProduct(sandbox, {}, { idempotencyKey: 'k', key: sandbox.keys.otherCompany });
    expect([rejected.status, first.status, other.status]).toEqual([422, 201, 201]);
    expect([sandbox.store.products.count, sandbox.otherStore.products.count]).toEqual([1, 1]);
  });

  test('requiredFields rejects missing, blank and cleared fields, but not a patch without them', async () => {
    const sandbox = createSandbox({ requiredFields: ['name'] });
    for (const body of [{}, { name: '' }, { name: null }]) {
      expect((await createProduct(sandbox, body)).record.violations).toMatchObject([
        { propertyPath: 'name' },
      ]);
    }
    expect((await createProduct(sandbox, { name: 'Desk' })).status).toBe(201);
    const patch = (body: object) => call(sandbox, '/products/1', { method: 'PATCH', body });
    expect((await patch({ brand: 'Oak' })).status).toBe(200);
    expect((await patch({ name: null })).status).toBe(422);
  });

  test('allowedStatuses and unknownFields: reject reject a create by its fields', async () => {
    const sandbox = createSandbox({ allowedStatuses: ['active'], unknownFields: 'reject' });
    expect((await createProduct(sandbox, { status: 'active' })).status).toBe(201);
    expect((await createProduct(sandbox, { status: null })).status).toBe(201);
    const rejected = await createProduct(sandbox, { status: 'gone', salesPrice: '1.00' });
    expect(rejected.record.violations).toMatchObject([
      { propertyPath: 'status' },
      { propertyPath: 'salesPrice' },
    ]);

    const lenient = await createProduct(createSandbox(), { status: 'gone', salesPrice: '1.00' });
    expect([lenient.status, 'salesPrice' in lenient.record]).toEqual([201, false]);
  });

  test.each([
    [undefined, '12.5', '12.5000'],
    [undefined, '-12.123456', '-12.123456'],
    [0, '12', '12'],
  ] as const)('moneyDigits %j: %s is stored as %s', async (moneyDigits, sent, stored) => {
    const sandbox = createSandbox({ moneyDigits });
    expect((await createProduct(sandbox, { salePrice: sent })).record.salePrice).toBe(stored);
  });
});

test.each([
  ['id-asc', true, true],
  ['each-page', true, false],
  ['each-response', false, false],
] as const)(
  'ties %s: a page is the same again: %s, the pages have every record: %s',
  async (ties, same, all) => {
    const sandbox = createSandbox({ ties, order: 'updated-asc', clock: 0, pageSize: 20 });
    for (const _ of Array(60)) sandbox.store.boms.insert({});
    const read = async () =>
      (await Promise.all([1, 2, 3].map((page) => call(sandbox, `/boms?_page=${page}`)))).flatMap(ids);
    const first = await read();
    expect([new Set(first).size === 60, (await read()).join() === first.join()]).toEqual([all, same]);
    // Records that differ in the field of the order keep it.
    const { ids: sorted } = createSandbox({ ties, order: 'created-asc', records: { boms: 25 } }).store.boms;
    expect(sorted().map(Number)).toEqual(Array.from({ length: 25 }, (_, i) => i + 1));
  },
);

test('pageSizeParameter is the only parameter with a page size', async () => {
  const sandbox = createSandbox({ pageSizeParameter: 'itemsPerPage', records: { boms: 40 } });
  expect(ids(await call(sandbox, '/boms?itemsPerPage=15'))).toHaveLength(15);
  expect(ids(await call(sandbox, '/boms?itemsPerPage=15&_page=3'))).toHaveLength(10);
  expect(ids(await call(sandbox, '/boms?itemsPerPage=0'))).toHaveLength(30);
  const without = createSandbox({ records: { boms: 40 } });
  expect(ids(await call(without, '/boms?itemsPerPage=15'))).toHaveLength(30);
});

test('a list that is not paginated is whole on every page', async () => {
  const sandbox = createSandbox({ paginated: false, records: { boms: 400 } });
  for (const query of ['', '?_page=2', '?_page=0']) {
    expect(ids(await call(sandbox, `/boms${query}`))).toHaveLength(400);
  }
});

test('hiddenRecords and lockedRecords take ids, or a function of the record', async () => {
  const sandbox = createSandbox({
    hiddenRecords: ({ name }) => name === 'hidden',
    lockedRecords: ({ status }) => status === 'archived',
  });
  sandbox.store.load({ products: [{ name: 'hidden' }, { status: 'archived' }, { status: 'active' }] });
  expect(ids(await call(sandbox, '/products'))).toEqual(['2', '3']);
  const patch = (id: string) =>
    call(sandbox, `/products/${id}`, { method: 'PATCH', body: { status: 'archived' } });
  const locked = await patch('2');
  expect([locked.status, locked.record.type, (await patch('3')).status]).toEqual([403, 'forbidden', 200]);
  const byId = createSandbox({ lockedRecords: ['2'], records: { products: 3 } });
  const gone = async (id: string) => (await call(byId, `/products/${id}`, { method: 'DELETE' })).status;
  expect([await gone('1'), await gone('2')]).toEqual([204, 403]);
});

test('uniqueFields rejects a value in use but not an empty one, and sees writes that readers do not see yet', async () => {
  const sandbox = createSandbox({ uniqueFields: ['ean'], commitDelayMs: 60_000, clock: 0 });
  const patch = (id: string) => call(sandbox, `/products/${id}`, { method: 'PATCH', body: { ean: '1' } });
  expect((await createProduct(sandbox, { ean: '1' })).status).toBe(201);
  const repeated = await createProduct(sandbox, { ean: '1' });
  expect([repeated.status, repeated.record.violations]).toMatchObject([422, [{ propertyPath: 'ean' }]]);
  for (const _ of Array(2)) expect((await createProduct(sandbox, {})).status).toBe(201);
  expect([(await patch('1')).status, (await patch('2')).status]).toEqual([200, 422]);
  await call(sandbox, '/products/1', { method: 'DELETE' });
  expect((await createProduct(sandbox, { ean: '1' })).status).toBe(201);
});

test('lost-response with a marker leaves the key in progress until its lifetime is over', async () => {
  for (const committed of [true, false]) {
    const sandbox = createSandbox({ clock: 0 });
    sandbox.faults.next({ kind: 'lost-response', committed, marker: true });
    await expect(createProduct(sandbox, {}, { idempotencyKey: 'k' })).rejects.toThrow();
    sandbox.clock.advance(86_399_999);
    const again = await createProduct(sandbox, {}, { idempotencyKey: 'k' });
    expect([again.status, again.record.type]).toEqual([409, 'request_in_progress']);
    expect(sandbox.store.products.count).toBe(committed ? 1 : 0);
    sandbox.clock.advance(1);
    expect((await createProduct(sandbox, {}, { idempotencyKey: 'k' })).status).toBe(201);
  }
});
