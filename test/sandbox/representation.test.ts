import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { call, createProduct, send } from './support/call.ts';
import { play } from './support/play.ts';

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';

test.each([
  ['bare', 'not_found'],
  ['path', '/errors/not_found'],
  ['url', 'https://docs.example.com/errors#not_found'],
  ['urn', 'urn:accounting:error:not_found'],
  ['about:blank', 'about:blank'],
  ['rfc-url', 'https://datatracker.ietf.org/doc/html/rfc9110#section-15.5'],
  ['status', '/errors/404'],
  ['absent', undefined],
] as const)('problemType %s sends the type %s', async (problemType, type) => {
  const { record } = await call(createSandbox({ problemType }), '/products/1');
  expect([record.type, record.status]).toEqual([type, 404]);
});

test('problemType api-platform sends the violated constraints and the status, never the error', async () => {
  const sandbox = createSandbox({ problemType: 'api-platform', requiredFields: ['name', 'brand'] });
  const one = (await createProduct(sandbox, { name: 'Desk' })).expectStatus(422).record;
  const code = String(one.type).replace('/validation_errors/', '');
  expect(code).toMatch(new RegExp(`^${UUID}$`));
  expect(one.violations).toEqual([{ propertyPath: 'brand', message: expect.any(String), code }]);
  const two = (await createProduct(sandbox, {})).record;
  expect(two.detail).toBe(
    ['name', 'brand'].map((field) => `${field}: This value should not be blank.`).join('\n'),
  );
  expect(two.type).toMatch(new RegExp(`^/validation_errors/0=${UUID};1=${UUID}$`));
  await play(sandbox, [['GET 1', { type: '/errors/404', status: 404 }]]);
  const forbidden = await call(sandbox, '/accounts', { key: sandbox.keys.forbidden });
  expect(forbidden.expectStatus(403).record.type).toBe('/errors/403');
  const unknownKey = await call(sandbox, '/accounts', { key: sandbox.keys.revoked });
  expect(Object.keys(unknownKey.expectStatus(401).record)).toEqual(['message']);
});

test('problemType api-platform-3.1 has a URL of RFC 2616 and no status', async () => {
  const sandbox = createSandbox({ problemType: 'api-platform-3.1', requiredFields: ['name'] });
  const type = 'https://tools.ietf.org/html/rfc2616#section-10';
  const invalid = await createProduct(sandbox, {});
  expect(invalid.expectStatus(422).record).toMatchObject({ type, violations: [{}] });
  const missing = await call(sandbox, '/products/1');
  expect([missing.expectStatus(404).record.type, missing.record.status]).toEqual([type, undefined]);
  const unknownKey = await call(sandbox, '/accounts', { key: sandbox.keys.revoked });
  expect(Object.keys(unknownKey.expectStatus(401).record)).toEqual(['message']);
});

test.each([
  ['jsonld', 'application/json', 406],
  ['jsonld', 'application/json, application/ld+json;q=0.9', 'application/ld+json'],
  ['jsonld', 'application/*;q=0.1', 'application/ld+json'],
  ['json', 'text/html', 'application/json'],
  ['both', 'application/json, application/ld+json', 'application/json'],
  ['both', 'application/ld+json, application/json', 'application/ld+json'],
  ['both', '*/*', 'application/ld+json'],
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
  const sandbox = createSandbox({
    formats: 'jsonld',
    listBody,
    records: { accountAddresses: 1, bankPayerMemories: 1 },
  });
  const [path, name] = ['/api/public/v1/account-addresses/1', 'AccountAddress'];
  await play(sandbox, [
    ['GET /account-addresses', { '@type': type, [member]: [{ '@id': path, '@type': name, id: '1' }] }],
    ['GET /bank-payer-memories/1', { '@type': 'BankPayerMemory' }],
    ['GET /account-addresses/1', { '@context': `/contexts/${name}`, '@type': name }],
    ['POST k', { '@id': '/api/public/v1/products/1', '@type': 'Product', name: 'Desk' }, { name: 'Desk' }],
  ]);
});

test.each([
  ['id', '1', '1'],
  ['iri', '/api/public/v1/accounts/1', '/api/public/v1/products/1'],
] as const)('relations %s: references are %s', async (relations, accountId, productId) => {
  const records = { accounts: 1, accountAddresses: 1, boms: 1, products: 1 };
  // As a pull from a service with IRIs wrote it.
  const bomId = '/api/public/v1/boms/1';
  await play(createSandbox({ records, relations, fixtures: { bomLines: [{ bomId }] } }), [
    ['GET /account-addresses/1', { accountId }],
    ['GET /boms/1', { productId }],
    ['GET /bom-lines/1', { bomId }],
  ]);
});

test('nullFields omitted leaves fields without a value out of every response', async () => {
  const sandbox = createSandbox({ nullFields: 'omitted', deleteStatus: 200 });
  const send = (method: string, body?: object) => call(sandbox, '/products/1', { method, body });
  sandbox.store.products.insert({ name: 'Desk', salePrice: '129.0000' });
  const fields = async (response: Promise<{ record: object }>) =>
    Object.keys((await response).record)
      .sort()
      .join(' ');
  const own = 'createdAt id name salePrice updatedAt';
  expect(
    Object.keys((await call(sandbox, '/products')).list[0] ?? {})
      .sort()
      .join(' '),
  ).toBe(own);
  expect(await fields(send('GET'))).toBe(own);
  expect(await fields(send('PATCH', { salePrice: null }))).toBe(own.replace('salePrice ', ''));
  expect(await fields(send('DELETE'))).toBe(own.replace('salePrice ', ''));
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
