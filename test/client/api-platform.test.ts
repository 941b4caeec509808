import { type AnyApiError, type ClientOptions, createClient, idFromIri } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';

/** A sandbox on a real port, and a client for it. */
async function service(options: SandboxOptions, clientOptions: ClientOptions = {}) {
  const sandbox = createSandbox(options);
  await sandbox.listen();
  return {
    sandbox,
    client: createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 1 }, ...clientOptions }),
  };
}

test.each(['member', 'hydra:member'] as const)(
  'a client reads a service that has JSON-LD only (%s)',
  async (listBody) => {
    const { sandbox, client } = await service({ formats: 'jsonld', listBody, records: { accounts: 65 } });
    await using _ = sandbox;
    for (const pagination of ['page', 'keyset'] as const) {
      const accounts = await client.accounts.list({}, { pagination }).toArray({ limit: Infinity });
      expect(accounts).toHaveLength(65);
    }
    const account = await client.accounts.get('7');
    expect(account).toMatchObject({ '@id': '/api/public/v1/accounts/7', id: '7' });
  },
);

test('a client asks a service that has both formats for JSON', async () => {
  const { sandbox, client } = await service({ formats: 'both', records: { accounts: 1 } });
  await using _ = sandbox;
  expect(await client.accounts.get('1')).not.toHaveProperty('@id');
});

test('a 406 names the Accept header', async () => {
  const { sandbox, client } = await service({ formats: 'jsonld' });
  await using _ = sandbox;
  const error = await caught(client.accounts.get('1', { headers: { accept: 'text/csv' } }));
  expect(error).toMatchObject({ code: 'unknown_problem', status: 406 });
  expect((error as Error).message).toContain('Accept header');
});

const sandboxOptions = {
  formats: 'jsonld',
  contentTypes: { create: ['application/ld+json'], update: ['application/merge-patch+json'] },
} as const;

test('contentTypes are those of creates and updates, through request() too', async () => {
  const contentTypes = { create: 'application/ld+json', update: 'application/merge-patch+json' };
  const { sandbox, client } = await service(sandboxOptions, { contentTypes });
  await using _ = sandbox;
  const { id } = await client.products.create({ name: 'Desk' });
  await client.products.update(id, { name: 'Table', brand: 'Oak' });
  await client.request({ method: 'PATCH', path: ['products', id], body: { brand: null } });
  await client.request({ method: 'POST', path: '/products', body: { name: 'Chair' } });
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Table', brand: null }, { name: 'Chair' }]);
  await client.products.delete(id);
  expect(sandbox.requests.at(-1)?.headers).not.toHaveProperty('content-type');
});

test('a 415 names Content-Type and the option contentTypes', async () => {
  const { sandbox, client } = await service(sandboxOptions);
  await using _ = sandbox;
  sandbox.store.products.insert({ id: '1' });
  for (const [call, option] of [
    [client.products.create({ name: 'Desk' }), 'contentTypes.create'],
    [client.request({ method: 'PATCH', path: '/products/1', body: { size: {} } }), 'contentTypes.update'],
  ] as const) {
    const error = await caught(call);
    expect(error).toMatchObject({ code: 'unknown_problem', status: 415, outcome: 'rejected' });
    expect((error as Error).message).toContain('Content-Type');
    expect((error as Error).message).toContain(option);
  }
});

test.each([
  [{ update: 'text/plain' }, 'contentTypes.update'],
  [{ update: 'application/json-patch+json' }, 'contentTypes.update'],
  [{ create: 'application/json\r\nx: y' }, 'contentTypes.create'],
  [{ create: 7 }, 'contentTypes.create'],
  [{ patch: 'application/json' }, 'contentTypes.patch'],
  ['application/json', 'contentTypes'],
])('contentTypes that cannot be right are rejected: %j', (contentTypes, argument) => {
  const options = { baseUrl: 'https://books.example.com', apiKey: 'k', contentTypes } as ClientOptions;
  expect(() => createClient(options)).toThrow(expect.objectContaining({ code: 'invalid_input', argument }));
});

test('a service that ignores Idempotency-Key keeps one record under retry.creates: false', async () => {
  for (const [creates, records] of [
    [true, 2],
    [false, 1],
  ] as const) {
    const { sandbox, client } = await service(
      { idempotency: { replay: 'ignored' } },
      { retry: { baseDelayMs: 1, creates } },
    );
    await using _ = sandbox;
    sandbox.faults.next({ kind: 'lost-response', committed: true });
    const outcome = await client.products.create({ name: 'Desk' }).then(
      () => 'created',
      (error: AnyApiError) => error.outcome,
    );
    expect([outcome, sandbox.store.products.count]).toEqual([creates ? 'created' : 'unknown', records]);
  }
});

test('idFromIri reads the references of a service that sends IRIs', async () => {
  const records = { accounts: 5, accountAddresses: 9 };
  const { sandbox, client } = await service({ relations: 'iri', records });
  await using _ = sandbox;
  const addresses = await client.accountAddresses.list().toArray({ limit: Infinity });
  expect(addresses).toHaveLength(9);
  for (const { accountId } of addresses as unknown as { accountId: string }[]) {
    expect(accountId).toMatch(/^\/api\/public\/v1\/accounts\//);
    expect(await client.accounts.find(idFromIri(accountId))).toMatchObject({ id: expect.any(String) });
  }
});

test.each(['html', 'json', 'empty'] as const)(
  'a 404 without a problem document does not say that a record is missing: %s',
  async (notFoundBody) => {
    const { sandbox, client } = await service({ notFoundBody });
    await using _ = sandbox;
    for (const call of [client.accounts.get('7'), client.accounts.find('7')]) {
      const error = await caught(call);
      expect(error).toMatchObject({ code: 'not_found', missing: false });
      expect((error as Error).message).toContain('baseUrl');
    }
    const trusting = createClient({ ...sandbox.clientOptions, bareNotFound: 'missing' });
    expect(await trusting.accounts.find('7')).toBeUndefined();
    expect(await caught(trusting.accounts.get('7'))).toMatchObject({ code: 'not_found', missing: true });
  },
);

test('an HTML 404 after the last page is the end of the list', async () => {
  const { sandbox, client } = await service(
    { notFoundBody: 'html', afterLastPage: 'not_found', records: { accounts: 31 } },
    { afterLastPage: 'not_found' },
  );
  await using _ = sandbox;
  expect(await client.accounts.list().toArray({ limit: Infinity })).toHaveLength(31);
});

test.each([423, 500])(
  'the type not_found under status %i says neither that a record is missing nor that a list has ended',
  async (status) => {
    const { sandbox, client } = await service(
      { afterLastPage: 'not_found', records: { accounts: 31, products: 1 } },
      { afterLastPage: 'not_found' },
    );
    await using _ = sandbox;
    const body = '{"type":"not_found","title":"Not found"}';
    sandbox.faults.add({ kind: 'rewrite', status, body }, { path: /\/products\/1$/, times: Infinity });
    sandbox.faults.add(
      { kind: 'rewrite', status, body },
      { when: ({ query }) => query.includes('_page=2'), times: Infinity },
    );
    const read = client.accounts.list({}, { pagination: 'page' }).toArray({ limit: Infinity });
    expect(await caught(read)).toMatchObject({ code: 'not_found', status, missing: false });
    expect(await caught(client.products.find('1'))).toMatchObject({
      code: 'not_found',
      status,
      missing: false,
    });
  },
);
