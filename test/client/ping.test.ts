import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';

test('ping accepts a key that may read accounts, with one request, whatever the schema of the caller says', async () => {
  await using sandbox = createSandbox({ records: { accounts: 90 } });
  const schemas = { accounts: z.looseObject({ id: z.string(), notThere: z.number() }) };
  expect(await createClient({ ...sandbox.clientOptions, schemas }).ping()).toEqual({
    ok: true,
    readable: true,
  });
  expect(sandbox.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/public/v1/accounts',
  ]);
});

test('ping accepts a key without rights, and says that it cannot read', async () => {
  await using sandbox = createSandbox();
  for (const apiKey of [sandbox.keys.forbidden, sandbox.keys.productsOnly]) {
    const client = createClient({ ...sandbox.clientOptions, apiKey });
    expect(await client.ping()).toEqual({ ok: true, readable: false });
  }
});

test('ping sends its request with the options of the call', async () => {
  await using sandbox = createSandbox();
  const client = createClient(sandbox.clientOptions);
  await client.ping({ headers: { 'X-Run': '7' } });
  expect(sandbox.requests[0]?.headers).toMatchObject({ 'x-run': '7' });
  await expect(client.ping({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough');
});

test('ping rejects a wrong path with NotFoundError', async () => {
  await using sandbox = createSandbox();
  const baseUrl = `${sandbox.baseUrl}/other`;
  const client = createClient({ ...sandbox.clientOptions, baseUrl });
  await expect(client.ping()).rejects.toMatchObject({ code: 'not_found' });
  // Where a list may end with a 404, a wrong path looks like an empty list.
  const mayEnd = client.withOptions({ afterLastPage: 'not_found' });
  await expect(mayEnd.ping()).rejects.toMatchObject({ code: 'not_found' });
  await expect(client.accounts.get('1')).rejects.toMatchObject({
    hint: 'The company of this key has no such record: check the id. If every id fails, check baseUrl: client.ping() then fails too.',
  });
});

test('ping rejects a page that is not the service', async () => {
  await using sandbox = createSandbox();
  sandbox.faults.next({ kind: 'status', status: 200, body: '<h1>Oops</h1>' });
  await expect(createClient(sandbox.clientOptions).ping()).rejects.toMatchObject({ reason: 'wrong_content' });
});

test("ping rejects a list of what are no records, with validation: 'report' too", async () => {
  await using sandbox = createSandbox();
  sandbox.faults.next({ kind: 'rewrite', body: '[{"name":"no id"}]' });
  const client = createClient({ ...sandbox.clientOptions, validation: 'report' });
  await expect(client.ping()).rejects.toMatchObject({ reason: 'wrong_shape' });
});
