import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct } from './support/call.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

describe('problemType', () => {
  test('api-platform sends the violated constraints and the status, never the error', async () => {
    const sandbox = createSandbox({ problemType: 'api-platform', requiredFields: ['name', 'brand'] });
    const one = await createProduct(sandbox, { name: 'Desk' });
    const two = await createProduct(sandbox, {});
    const missing = await call(sandbox, '/products/1');
    const forbidden = await call(sandbox, '/accounts', { key: sandbox.keys.forbidden });
    const unknownKey = await call(sandbox, '/accounts', { key: sandbox.keys.revoked });

    expect([one.status, one.record.type]).toEqual([
      422,
      expect.stringMatching(new RegExp(`^/validation_errors/${UUID}$`)),
    ]);
    expect(one.record.violations).toEqual([
      {
        propertyPath: 'brand',
        message: expect.any(String),
        code: String(one.record.type).replace('/validation_errors/', ''),
      },
    ]);
    expect(two.record.type).toMatch(new RegExp(`^/validation_errors/0=${UUID};1=${UUID}$`));
    expect([missing.status, missing.record.type]).toEqual([404, '/errors/404']);
    expect([forbidden.status, forbidden.record.type]).toEqual([403, '/errors/403']);
    expect([unknownKey.status, Object.keys(unknownKey.record)]).toEqual([401, ['message']]);
    expect(unknownKey.headers.get('content-type')).toBe('application/json');
  });

  test('api-platform-3.1 has a URL of RFC 2616 and no status', async () => {
    const sandbox = createSandbox({ problemType: 'api-platform-3.1', requiredFields: ['name'] });
    const type = 'https://tools.ietf.org/html/rfc2616#section-10';
    const invalid = await createProduct(sandbox, {});
    const missing = await call(sandbox, '/products/1');
    expect([invalid.status, invalid.record.type]).toEqual([422, type]);
    expect(invalid.record.violations).toHaveLength(1);
    expect([missing.status, missing.record.type, missing.record.status]).toEqual([404, type, undefined]);
  });
});

describe('formats', () => {
  const ask = (sandbox: ReturnType<typeof createSandbox>, path: string, accept: string) =>
    call(sandbox, path, { headers: { Accept: accept } });

  test.each([
    ['jsonld', 'application/json', 406],
    ['jsonld', 'application/json, application/ld+json;q=0.9', 'application/ld+json'],
    ['jsonld', '*/*', 'application/ld+json'],
    ['jsonld', 'application/*;q=0.1', 'application/ld+json'],
    ['json', 'text/html', 'application/json'],
  ] as const)('formats %s respond to Accept %s with %s', async (formats, accept, expected) => {
    const sandbox = createSandbox({ formats, records: { boms: 1 } });
    for (const path of ['/boms', '/boms/1']) {
      const response = await ask(sandbox, path, accept);
      if (expected === 406) expect([response.status, response.record.type]).toEqual([406, 'not_acceptable']);
      else expect([response.status, response.headers.get('content-type')]).toEqual([200, expected]);
    }
  });

  test.each([
    [undefined, 'member', 'Collection'],
    ['hydra:member', 'hydra:member', 'hydra:Collection'],
  ] as const)('jsonld with listBody %s gives records @id and @type', async (listBody, member, type) => {
    const sandbox = createSandbox({ formats: 'jsonld', listBody, records: { accountAddresses: 1 } });
    const list = await call(sandbox, '/account-addresses');
    expect(list.record['@type']).toBe(type);
    expect(list.record[member]).toMatchObject([
      { '@id': '/api/public/v1/account-addresses/1', '@type': 'AccountAddress', id: '1' },
    ]);
    const one = await call(sandbox, '/account-addresses/1');
    expect(one.record).toMatchObject({ '@context': '/contexts/AccountAddress', '@type': 'AccountAddress' });
    expect(await createProduct(sandbox, { name: 'Desk' })).toMatchObject({
      status: 201,
      record: { '@id': '/api/public/v1/products/1', '@type': 'Product', name: 'Desk' },
    });
  });
});

test('contentTypes rejects any other content type with 415', async () => {
  const sandbox = createSandbox({
    contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] },
  });
  const send = (method: string, path: string, type: string) =>
    call(sandbox, path, {
      method,
      body: { name: 'Desk' },
      idempotencyKey: type,
      headers: { 'Content-Type': type },
    });
  expect((await send('POST', '/products', 'application/json')).status).toBe(415);
  expect((await send('POST', '/products', 'application/ld+json; charset=utf-8')).status).toBe(201);
  expect((await send('PATCH', '/products/1', 'application/json')).status).toBe(415);
  expect((await send('PATCH', '/products/1', 'application/merge-patch+json')).status).toBe(200);
  expect(sandbox.store.products.count).toBe(1);
});

test('idempotency.replay ignored creates a second record under the same key, and requires no key', async () => {
  const sandbox = createSandbox({ idempotency: { replay: 'ignored' } });
  await createProduct(sandbox, { name: 'a' }, { idempotencyKey: 'k' });
  await createProduct(sandbox, { name: 'a' }, { idempotencyKey: 'k' });
  expect((await call(sandbox, '/products', { method: 'POST', body: {} })).status).toBe(201);
  expect(sandbox.store.products.count).toBe(3);
});

test('relations iri: references to other collections are IRIs', async () => {
  const records = { accounts: 1, accountAddresses: 1, bankPayerMemories: 1, boms: 1, products: 1 };
  const ids = createSandbox({ records });
  const iris = createSandbox({ records, relations: 'iri' });
  expect((await call(ids, '/account-addresses/1')).record.accountId).toBe('1');
  expect((await call(iris, '/account-addresses/1')).record.accountId).toBe('/api/public/v1/accounts/1');
  expect((await call(iris, '/boms')).list).toMatchObject([{ productId: '/api/public/v1/products/1' }]);
});

describe('nullFields', () => {
  test('omitted leaves fields without a value out of every response', async () => {
    const sandbox = createSandbox({ nullFields: 'omitted', deleteStatus: 200 });
    const { id } = sandbox.store.products.insert({ name: 'Desk', salePrice: '129.0000' });
    const full = { name: 'Desk', salePrice: '129.0000' };
    const [listed] = (await call(sandbox, '/products')).json as object[];
    expect(listed).toMatchObject(full);
    for (const shown of [listed, (await call(sandbox, `/products/${id}`)).record]) {
      expect(Object.keys(shown ?? {}).toSorted()).toEqual([
        'createdAt',
        'id',
        'name',
        'salePrice',
        'updatedAt',
      ]);
    }
    const patched = await call(sandbox, `/products/${id}`, { method: 'PATCH', body: { salePrice: null } });
    expect(Object.keys(patched.record)).not.toContain('salePrice');
    expect(sandbox.store.products.get(id)).toMatchObject({ salePrice: null });
    const deleted = await call(sandbox, `/products/${id}`, { method: 'DELETE' });
    expect(Object.keys(deleted.record)).not.toContain('salePrice');
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

test.each([
  ['<h1>Not Found</h1>', 'text/html; charset=utf-8', '<h1>Not Found</h1>'],
  [{ message: 'Not Found' }, 'application/json', '{"message":"Not Found"}'],
  ['', null, ''],
] as const)('an error of a gateway has the body %j', async (body, type, sent) => {
  const gateway = createSandbox({ records: { boms: 1 } });
  gateway.faults.add({ kind: 'status', status: 404, body }, { times: 2 });
  for (const sandbox of [createSandbox({ notFoundBody: body }), gateway]) {
    const response = await sandbox.fetch(`${sandbox.baseUrl}/api/public/v1/boms/1`, {
      headers: { 'X-AUTH-TOKEN': sandbox.keys.full },
    });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, type]);
    expect(await response.text()).toBe(sent);
  }
});
