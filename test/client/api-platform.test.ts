import { type ClientOptions, createClient } from 'accounting-data-sdk';
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
