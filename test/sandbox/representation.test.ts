import { createSandbox } from 'accounting-data-sdk/testing';
import { describe, expect, test } from 'vitest';
import { call, createProduct, send } from './support/call.ts';
import { play } from './support/play.ts';

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

test.each([
  ['jsonld', 'application/json', 406],
  ['jsonld', 'application/json, application/ld+json;q=0.9', 'application/ld+json'],
  ['jsonld', 'application/*;q=0.1', 'application/ld+json'],
  ['json', 'text/html', 'application/json'],
] as const)('formats %s respond to Accept %s with %s', async (formats, Accept, expected) => {
  const sandbox = createSandbox({ formats, records: { boms: 1 } });
  for (const path of ['/boms', '/boms/1']) {
    const response = await call(sandbox, path, { headers: { Accept } });
    if (expected === 406) expect([response.status, response.record.type]).toEqual([406, 'not_acceptable']);
    else expect([response.status, response.headers.get('content-type')]).toEqual([200, expected]);
  }
});

test.each([
  [undefined, 'member', 'Collection'],
  ['hydra:member', 'hydra:member', 'hydra:Collection'],
] as const)('jsonld with listBody %s gives records @id and @type', async (listBody, member, type) => {
  const sandbox = createSandbox({ formats: 'jsonld', listBody, records: { accountAddresses: 1 } });
  const [path, name] = ['/api/public/v1/account-addresses/1', 'AccountAddress'];
  await play(sandbox, [
    ['GET /account-addresses', { '@type': type, [member]: [{ '@id': path, '@type': name, id: '1' }] }],
    ['GET /account-addresses/1', { '@context': `/contexts/${name}`, '@type': name }],
    ['POST k', { '@id': '/api/public/v1/products/1', '@type': 'Product', name: 'Desk' }, { name: 'Desk' }],
  ]);
});

test.each([
  ['id', '1', '1'],
  ['iri', '/api/public/v1/accounts/1', '/api/public/v1/products/1'],
] as const)(
  'relations %s: references to other collections are %s',
  async (relations, accountId, productId) => {
    const records = { accounts: 1, accountAddresses: 1, boms: 1, products: 1 };
    await play(createSandbox({ records, relations }), [
      ['GET /account-addresses/1', { accountId }],
      ['GET /boms/1', { productId }],
    ]);
  },
);

test('nullFields omitted leaves fields without a value out of every response', async () => {
  const sandbox = createSandbox({ nullFields: 'omitted', deleteStatus: 200 });
  const fieldsOf = (record: object = {}) => Object.keys(record).toSorted().join(' ');
  const send = (method: string, body?: object) => call(sandbox, '/products/1', { method, body });
  sandbox.store.products.insert({ name: 'Desk', salePrice: '129.0000' });
  const own = 'createdAt id name salePrice updatedAt';
  expect(fieldsOf((await call(sandbox, '/products')).list[0])).toBe(own);
  expect(fieldsOf((await send('GET')).record)).toBe(own);
  const cleared = own.replace('salePrice ', '');
  expect(fieldsOf((await send('PATCH', { salePrice: null })).record)).toBe(cleared);
  expect(sandbox.store.products.get('1')).toMatchObject({ salePrice: null });
  expect(fieldsOf((await send('DELETE')).record)).toBe(cleared);
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
