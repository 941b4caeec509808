import { type AnyApiError, type ClientOptions, createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';

/** A sandbox, and a client for it. */
function service(options: SandboxOptions, clientOptions: ClientOptions = {}) {
  const sandbox = createSandbox(options);
  return {
    sandbox,
    client: createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 1 }, ...clientOptions }),
  };
}

test.each(['member', 'hydra:member'] as const)(
  'a client reads a service that has JSON-LD only (%s)',
  async (listBody) => {
    const { client } = service({ formats: 'jsonld', listBody, records: { accounts: 65 } });
    for (const pagination of ['page', 'keyset'] as const) {
      const accounts = await client.accounts.list({}, { pagination }).toArray({ limit: Infinity });
      expect(accounts).toHaveLength(65);
    }
    const account = await client.accounts.get('7');
    expect(account).toMatchObject({ '@id': '/api/public/v1/accounts/7', id: '7' });
    // It belongs to the document, and a list has it once for all of its records.
    const desk = await client.products.create({ name: 'Desk' });
    const renamed = await client.products.update(desk.id, { name: 'Oak' });
    for (const read of [account, await client.accounts.find('7'), desk, renamed])
      expect(read).not.toHaveProperty('@context');
  },
);

test('a 406 says what the client understands', async () => {
  const { client } = service({ formats: 'jsonld' });
  const error = await caught(client.accounts.get('1', { headers: { accept: 'text/csv' } }));
  expect(error).toMatchObject({ code: 'unknown_problem', status: 406 });
  expect((error as Error).message).toMatch(/This client understands JSON and JSON-LD\.$/);
});

test('a service that ignores Idempotency-Key keeps one record under retry.creates: false', async () => {
  for (const [creates, records] of [
    [true, 2],
    [false, 1],
  ] as const) {
    const { sandbox, client } = service(
      { idempotency: { replay: 'ignored' } },
      { retry: { baseDelayMs: 1, creates } },
    );
    sandbox.faults.next({ kind: 'lost-response', committed: true });
    const outcome = await client.products.create({ name: 'Desk' }).then(
      () => 'created',
      (error: AnyApiError) => error.outcome,
    );
    expect([outcome, sandbox.store.products.count]).toEqual([creates ? 'created' : 'unknown', records]);
  }
});

test.each(['<h1>Not Found</h1>', { message: 'Not Found' }, ''])(
  'a 404 without a problem document does not say that a record is missing: %j',
  async (notFoundBody) => {
    const { sandbox, client } = service({ notFoundBody });
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
  const { client } = service(
    { notFoundBody: '<h1>Not Found</h1>', afterLastPage: 'not_found', records: { accounts: 31 } },
    { afterLastPage: 'not_found' },
  );
  expect(await client.accounts.list().toArray({ limit: Infinity })).toHaveLength(31);
});

test.each([423, 500])(
  'the type not_found under status %i says neither that a record is missing nor that a list has ended',
  async (status) => {
    const { sandbox, client } = service(
      { afterLastPage: 'not_found', records: { accounts: 31, products: 1 } },
      { afterLastPage: 'not_found' },
    );
    const body = '{"type":"not_found","title":"Not found"}';
    sandbox.faults.add({ kind: 'rewrite', status, body }, { path: /\/products\/1$/ });
    sandbox.faults.add({ kind: 'rewrite', status, body }, { when: ({ query }) => query.includes('_page=2') });
    const read = client.accounts.list({}, { pagination: 'page' }).toArray({ limit: Infinity });
    expect(await caught(read)).toMatchObject({ code: 'not_found', status, missing: false });
    expect(await caught(client.products.find('1'))).toMatchObject({
      code: 'not_found',
      status,
      missing: false,
    });
  },
);
