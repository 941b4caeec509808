import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, ids } from './support/call.ts';

describe('lists', () => {
  test('pageSize is the most records of a page', async () => {
    const sandbox = createSandbox({ pageSize: 2, records: { boms: 5 } });
    expect(ids(await call(sandbox, '/boms?_page=3'))).toEqual(['5']);
  });

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
    const sandbox = createSandbox({ hiddenRecords: 0.2, pageSize: 1_000, records: { boms: 1_000 } });
    const shown = ids(await call(sandbox, '/boms'));
    expect(shown.length).toBeGreaterThan(740);
    expect(shown.length).toBeLessThan(860);
    const again = createSandbox({ hiddenRecords: 0.2, pageSize: 1_000, records: { boms: 1_000 } });
    expect(ids(await call(again, '/boms'))).toEqual(shown);
  });

  test.each([
    ['int4', '2147483647', '2147483648'],
    ['int8', '9223372036854775807', '9223372036854775808'],
  ] as const)(
    'idColumn %s responds with 500 to a bound that it cannot store',
    async (idColumn, most, beyond) => {
      const sandbox = createSandbox({ idColumn, records: { boms: 3 } });
      expect(ids(await call(sandbox, `/boms?id[lte]=${most}`))).toEqual(['1', '2', '3']);
      expect((await call(sandbox, `/boms?id[gt]=${beyond}`)).status).toBe(500);
      expect((await call(sandbox, `/boms?id[between]=1..${beyond}`)).status).toBe(500);
      expect(
        ids(await call(createSandbox({ records: { boms: 3 } }), `/boms?id[lte]=${beyond}`)),
      ).toHaveLength(3);
    },
  );

  test.each(['member', 'hydra:member'] as const)(
    'listBody %s wraps the records in JSON-LD',
    async (listBody) => {
      const sandbox = createSandbox({ listBody, records: { boms: 1 } });
      const response = await call(sandbox, '/boms');
      expect(response.headers.get('content-type')).toBe('application/ld+json');
      expect(response.record[listBody]).toMatchObject([{ id: '1' }]);
      expect(Object.keys(response.record)).not.toContain('totalItems');
    },
  );

  test('betweenSeparator splits the bounds of between', async () => {
    const sandbox = createSandbox({ betweenSeparator: ',', records: { boms: 9 } });
    expect(ids(await call(sandbox, '/boms?id[between]=3,4'))).toEqual(['3', '4']);
    expect(ids(await call(sandbox, '/boms?id[between]=3..4'))).toHaveLength(9);
  });

  test.each(['ignore', 'reject'] as const)(
    'textIdBounds: ignore ignores bounds on UUIDs under invalidFilter: %s',
    async (invalidFilter) => {
      const sandbox = createSandbox({
        ids: { form: 'uuid' },
        textIdBounds: 'ignore',
        invalidFilter,
        records: { boms: 5 },
      });
      const all = sandbox.store.boms.ids();
      for (const query of [`id[gt]=${all[2]}`, `id[lte]=${all[2]}`, `id[between]=${all[1]}..${all[2]}`]) {
        expect(ids(await call(sandbox, `/boms?${query}`))).toEqual(all);
      }
      const numeric = createSandbox({ textIdBounds: 'ignore', records: { boms: 5 } });
      expect(ids(await call(numeric, '/boms?id[gt]=3'))).toEqual(['4', '5']);
    },
  );

  test.each([
    'id[gt]=',
    'id[between]=1..2..3',
    'id[lte]=-1',
    'updatedSince=2026-02-30T25:00:00Z',
    'updatedSince=now',
  ])('invalidFilter decides whether %s is ignored or rejected', async (query) => {
    const records = { boms: 3 };
    expect(ids(await call(createSandbox({ records }), `/boms?${query}`))).toEqual(['1', '2', '3']);
    expect((await call(createSandbox({ records, invalidFilter: 'reject' }), `/boms?${query}`)).status).toBe(
      400,
    );
  });
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

  test('start and gap give sparse ascending ids, each of which is found', async () => {
    const sandbox = createSandbox({ ids: { start: 500, gap: 20 }, records: { accounts: 100 } });
    const all = sandbox.store.accounts.ids().map(Number);
    const gaps = all.slice(1).map((id, i) => id - (all[i] ?? 0));
    expect(all[0]).toBeGreaterThanOrEqual(500);
    expect(all[0]).toBeLessThan(520);
    expect(Math.min(...gaps)).toBeGreaterThan(0);
    expect(new Set(gaps).size).toBeGreaterThan(10);
    expect((all.at(-1) ?? 0) - (all[0] ?? 0)).toBeGreaterThan(98 * 20);
    for (const id of all) expect(sandbox.store.accounts.get(String(id))?.id).toBe(String(id));
  });
});

describe('problem documents', () => {
  test.each([
    ['bare', 'not_found'],
    ['path', '/errors/not_found'],
    ['url', 'https://docs.example.com/errors#not_found'],
    ['urn', 'urn:accounting:error:not_found'],
    ['about:blank', 'about:blank'],
    ['rfc-url', 'https://datatracker.ietf.org/doc/html/rfc9110#section-15.5'],
    ['status', '/errors/404'],
    ['absent', undefined],
  ] as const)('problemType %s decides the form of type', async (problemType, type) => {
    const response = await call(createSandbox({ problemType }), '/accounts/1');
    expect([response.record.type, response.record.status]).toEqual([type, 404]);
  });

  test.each(['application/json', 'application/ld+json'] as const)(
    'problemContentType %s is sent to a key that is known and has quota left',
    async (problemContentType) => {
      const sandbox = createSandbox({ problemContentType, rateLimit: { limit: 2 }, clock: 0 });
      const type = async (key: string) =>
        (await call(sandbox, '/accounts/1', { key })).headers.get('content-type');
      expect(await type(sandbox.keys.full)).toBe(problemContentType);
      expect(await type(sandbox.keys.forbidden)).toBe(problemContentType);
      expect(await type(sandbox.keys.revoked)).toBe('application/problem+json');
      await type(sandbox.keys.full);
      expect(await type(sandbox.keys.full)).toBe('application/problem+json');
    },
  );
});

describe('writing', () => {
  test('createStatus, updateStatus and deleteStatus are the statuses of writes', async () => {
    const sandbox = createSandbox({ createStatus: 200, updateStatus: 204, deleteStatus: 200 });
    const created = await createProduct(sandbox, { name: 'Desk' });
    const updated = await call(sandbox, '/products/1', { method: 'PATCH', body: { name: 'Table' } });
    const deleted = await call(sandbox, '/products/1', { method: 'DELETE' });
    expect([created.status, updated.status, updated.json, deleted.status]).toEqual([
      200,
      204,
      undefined,
      200,
    ]);
    expect(deleted.record).toMatchObject({ id: '1', name: 'Table' });
  });

  test('idempotency decides what a repeat gets: replay, differentBody and lifetimeMs', async () => {
    const conflict = createSandbox({ idempotency: { replay: 'conflict' } });
    await createProduct(conflict, {}, { idempotencyKey: 'k' });
    expect((await createProduct(conflict, {}, { idempotencyKey: 'k' })).status).toBe(409);

    const lenient = createSandbox({ idempotency: { differentBody: 'stored' } });
    await createProduct(lenient, { name: 'a' }, { idempotencyKey: 'k' });
    expect((await createProduct(lenient, { name: 'b' }, { idempotencyKey: 'k' })).record.name).toBe('a');

    const short = createSandbox({ idempotency: { lifetimeMs: 1000 }, clock: 0 });
    await createProduct(short, {}, { idempotencyKey: 'k' });
    short.clock.advance(999);
    expect((await createProduct(short, {}, { idempotencyKey: 'k' })).record.id).toBe('1');
    short.clock.advance(1);
    expect((await createProduct(short, {}, { idempotencyKey: 'k' })).record.id).toBe('2');
  });

  test('a key of one company is unused in the other, and a rejected create leaves its key unused', async () => {
    const sandbox = createSandbox();
    const rejected = await createProduct(sandbox, { salePrice: 5 }, { idempotencyKey: 'k' });
    const first = await createProduct(sandbox, {}, { idempotencyKey: 'k' });
    const other = await createProduct(sandbox, {}, { idempotencyKey: 'k', key: sandbox.keys.otherCompany });
    expect([rejected.status, first.status, other.status]).toEqual([422, 201, 201]);
    expect([sandbox.store.products.count, sandbox.otherStore.products.count]).toEqual([1, 1]);
  });

  test('idempotency.storeRejections returns a 422 again under its key, even after its cause is gone', async () => {
    const options = { unknownFields: 'reject', idempotency: { storeRejections: true } } as const;
    const sandbox = createSandbox({ ...options, clock: 0 });
    const rejected = await createProduct(sandbox, { colour: 'oak' }, { idempotencyKey: 'k' });
    const again = await createProduct(sandbox, { colour: 'oak' }, { idempotencyKey: 'k' });
    expect([again.status, again.json]).toEqual([422, rejected.json]);

    const corrected = await createProduct(sandbox, { color: 'oak' }, { idempotencyKey: 'k' });
    expect(corrected.record.violations).toMatchObject([{ propertyPath: 'Idempotency-Key' }]);
    expect((await createProduct(sandbox, { color: 'oak' }, { idempotencyKey: 'k2' })).status).toBe(201);
    sandbox.clock.advance(86_400_000);
    expect((await createProduct(sandbox, { color: 'oak' }, { idempotencyKey: 'k' })).status).toBe(201);

    const lenient = createSandbox({
      ...options,
      idempotency: { storeRejections: true, differentBody: 'stored' },
    });
    await createProduct(lenient, { colour: 'oak' }, { idempotencyKey: 'k' });
    expect((await createProduct(lenient, { color: 'oak' }, { idempotencyKey: 'k' })).status).toBe(422);
    expect([sandbox.store.products.count, lenient.store.products.count]).toEqual([2, 0]);
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
    [undefined, '12.123456', '12.123456'],
    [undefined, '-3', '-3.0000'],
    [2, '12', '12.00'],
    [0, '12', '12'],
    ['as-sent', '12.5', '12.5'],
  ] as const)('moneyDigits %j: %s is stored as %s', async (moneyDigits, sent, stored) => {
    const sandbox = createSandbox({ moneyDigits });
    expect((await createProduct(sandbox, { salePrice: sent })).record.salePrice).toBe(stored);
  });

  test.each([
    [undefined, 413, 'request_too_large'],
    [400, 400, 'malformed_request'],
    [422, 422, 'validation_failed'],
  ] as const)('maxRequestBytes with tooLargeStatus %j', async (tooLargeStatus, status, type) => {
    await using sandbox = createSandbox({ maxRequestBytes: 100, tooLargeStatus });
    const large = { name: 'x'.repeat(200) };
    const response = await createProduct(sandbox, large);
    expect([response.status, response.record.type]).toEqual([status, type]);
    await sandbox.listen();
    expect((await createProduct(sandbox, large)).status).toBe(status);
    expect((await createProduct(sandbox, { name: 'x' })).status).toBe(201);
  });
});
