import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, send } from './support/call.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

describe('problemType', () => {
  test('api-platform sends the violated constraints and the status, never the error', async () => {
    const sandbox = createSandbox({ problemType: 'api-platform', requiredFields: ['name', 'brand'] });
    const one = await createProduct(sandbox, { name: 'Desk' });
    const two = await createProduct(sandbox, {});
    const missing = await call(sandbox, '/products/1');
    const forbidden = await call(sandbox, '/accounts', { key: sandbox.keys.forbidden });
    const unknownKey = await call(sandbox, '/accounts', { key: sandbox.keys.revoked });

    const type = expect.stringMatching(new RegExp(`^/validation_errors/${UUID}$`));
    expect([one.status, one.record.type]).toEqual([422, type]);
    const code = String(one.record.type).replace('/validation_errors/', '');
    expect(one.record.violations).toEqual([{ propertyPath: 'brand', message: expect.any(String), code }]);
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

test('relations iri: references to other collections are IRIs', async () => {
  const records = { accounts: 1, accountAddresses: 1, bankPayerMemories: 1, boms: 1, products: 1 };
  const ids = createSandbox({ records });
  const iris = createSandbox({ records, relations: 'iri' });
  expect((await call(ids, '/account-addresses/1')).record.accountId).toBe('1');
  expect((await call(iris, '/account-addresses/1')).record.accountId).toBe('/api/public/v1/accounts/1');
  expect((await call(iris, '/boms')).list).toMatchObject([{ productId: '/api/public/v1/products/1' }]);
});

test('nullFields omitted leaves fields without a value out of every response', async () => {
  const sandbox = createSandbox({ nullFields: 'omitted', deleteStatus: 200 });
  const path = '/products/1';
  sandbox.store.products.insert({ name: 'Desk', salePrice: '129.0000' });
  const listed = (await call(sandbox, '/products')).list[0];
  const own = 'createdAt id name salePrice updatedAt';
  for (const shown of [listed, (await call(sandbox, path)).record])
    expect(
      Object.keys(shown ?? {})
        .toSorted()
        .join(' '),
    ).toBe(own);
  const patched = await call(sandbox, path, { method: 'PATCH', body: { salePrice: null } });
  expect(Object.keys(patched.record)).not.toContain('salePrice');
  expect(sandbox.store.products.get('1')).toMatchObject({ salePrice: null });
  const deleted = await call(sandbox, path, { method: 'DELETE' });
  expect(Object.keys(deleted.record)).not.toContain('salePrice');
});

test.each([
  ['<h1>Not Found</h1>', 'text/html; charset=utf-8', '<h1>Not Found</h1>'],
  [{ message: 'Not Found' }, 'application/json', '{"message":"Not Found"}'],
  ['', null, ''],
] as const)('an error of a gateway has the body %j', async (body, type, sent) => {
  const gateway = createSandbox({ records: { boms: 1 } });
  gateway.faults.add({ kind: 'status', status: 404, body }, { times: 2 });
  for (const sandbox of [createSandbox({ notFoundBody: body }), gateway]) {
    const response = await send(sandbox, '/boms/1');
    expect([response.status, response.headers.get('content-type')]).toEqual([404, type]);
    expect(await response.text()).toBe(sent);
  }
});
