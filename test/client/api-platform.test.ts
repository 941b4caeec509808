import { createClient } from 'accounting-data-sdk';
import { createSandbox, type SandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

/** A sandbox on a real port, and a client for it. */
async function service(options: SandboxOptions) {
  const sandbox = createSandbox(options);
  await sandbox.listen();
  return { sandbox, client: createClient({ ...sandbox.clientOptions, retry: { baseDelayMs: 1 } }) };
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
