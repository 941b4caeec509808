import { type AnyAccountingError, createClient, type ResponseMeta } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { html, json, misbehave, problem } from '../../support/responses.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

const retry = { baseDelayMs: 1, maxDelayMs: 5 };

test('a create whose response is lost after the commit creates one record under one key', async () => {
  await using sandbox = createSandbox();
  await sandbox.listen();
  sandbox.faults.next({ kind: 'lost-response', committed: true });
  const client = createClient({ ...sandbox.clientOptions, retry });

  const desk = await client.products.create({ name: 'Desk', salePrice: '129.0000' });

  expect(sandbox.store.products.all()).toHaveLength(1);
  expect(desk).toMatchObject({ id: sandbox.store.products.all()[0]?.id, salePrice: '129.0000' });
  expect(sandbox.requests).toHaveLength(2);
  expect(new Set(sandbox.requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
});

test('a create that fails after a lost response can be repeated with the key of its error', async () => {
  await using sandbox = createSandbox();
  await sandbox.listen();
  sandbox.faults.add({ kind: 'lost-response', committed: true }, { times: 2 });
  const client = createClient({ ...sandbox.clientOptions, retry: { ...retry, maxAttempts: 2 } });

  const draft = { name: 'Desk' };
  const error = (await caught(client.products.create(draft))) as AnyAccountingError;
  expect(error).toMatchObject({
    code: 'connection_failed',
    outcome: 'unknown',
    attempts: 2,
    retryable: true,
  });

  const desk = await client.products.create(draft, { idempotencyKey: error.idempotencyKey });
  expect(sandbox.store.products.all().map(({ id }) => id)).toEqual([desk.id]);
});

test.each([
  [401, 'unauthenticated', 'unauthenticated'],
  [409, 'stale', 'unknown_problem'],
  [422, 'validation_failed', 'validation_failed'],
  [429, 'rate_limited', 'rate_limited'],
] as const)(
  'a create that gets %i after a lost response is never reported as rejected',
  async (status, type, code) => {
    await using sandbox = createSandbox();
    await sandbox.listen();
    sandbox.faults.next({ kind: 'lost-response', committed: true });
    sandbox.faults.add(
      { kind: 'status', status, type, retryAfter: 3_600 },
      { times: Number.POSITIVE_INFINITY },
    );
    const client = createClient({ ...sandbox.clientOptions, retry });

    const error = await caught(client.products.create({ name: 'Desk' }, { idempotencyKey: 'order:1' }));

    expect(error).toMatchObject({ code, status, outcome: 'unknown', idempotencyKey: 'order:1' });
    expect(sandbox.requests.map(({ idempotencyKey }) => idempotencyKey)).toEqual(['order:1', 'order:1']);
    expect(sandbox.store.products.all()).toHaveLength(1);
  },
);

test('a create that gets a 409 of any type after a lost response is repeated under the same key', async () => {
  await using server = await scriptedServer(
    misbehave.close,
    problem(409, { type: 'stale' }),
    json({ id: '1' }, 201),
  );
  await expect(quickClient(server.url).products.create({ name: 'Desk' })).resolves.toEqual({ id: '1' });
  expect(server.requests).toHaveLength(3);
  expect(new Set(server.requests.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
});

test('a create that must not be repeated is not retryable after a lost response', async () => {
  await using sandbox = createSandbox();
  const client = createClient({ ...sandbox.clientOptions, retry: { creates: false } });
  sandbox.faults.next({ kind: 'lost-response', committed: true });
  expect(await caught(client.products.create({ name: 'Desk' }))).toMatchObject({
    outcome: 'unknown',
    retryable: false,
  });
});

test.each([404, 410])('a delete that gets %i after a lost response succeeds', async (status) => {
  await using server = await scriptedServer(misbehave.close, problem(status));
  await expect(quickClient(server.url).products.delete('42')).resolves.toBeUndefined();
  expect(server.requests).toHaveLength(2);
});

test.each([404, 410])(
  'a delete that gets %i with a page after a lost response is not a success',
  async (status) => {
    await using server = await scriptedServer(misbehave.close, html(status));
    const error = await caught(quickClient(server.url).products.delete('42'));
    expect(error).toMatchObject({ status, outcome: 'unknown', missing: false });
  },
);

test.each([400, 401, 403, 409, 422, 501])(
  'a delete that gets %i after a lost response is not a success',
  async (status) => {
    await using server = await scriptedServer(misbehave.close, problem(status));
    const error = await caught(quickClient(server.url).products.delete('42'));
    expect(error).toMatchObject({ status, outcome: 'unknown' });
  },
);

test('an update that gets 404 after a lost response is not a success', async () => {
  await using server = await scriptedServer(misbehave.close, problem(404));
  const request = { method: 'PATCH', path: ['products', '42'], body: { name: 'Desk' } } as const;
  const error = await caught(quickClient(server.url).request(request));
  expect(error).toMatchObject({ code: 'not_found', outcome: 'unknown' });
});

test('a create that was applied stays so, even if its next response is lost', async () => {
  await using server = await scriptedServer(misbehave.closeInBody, misbehave.close);
  const client = quickClient(server.url, { retry: { ...retry, maxAttempts: 2 } });
  const error = await caught(client.products.create({ name: 'Desk' }));
  expect(error).toMatchObject({ code: 'connection_failed', outcome: 'applied', attempts: 2 });
});

test('a delete that gets 404 after a rejected attempt is an error', async () => {
  await using server = await scriptedServer(problem(425), problem(404));
  const error = await caught(quickClient(server.url).products.delete('42'));
  expect(error).toMatchObject({ code: 'not_found', outcome: 'rejected', attempts: 2 });
});

test('a delete whose response is lost after the commit succeeds and deletes once', async () => {
  await using sandbox = createSandbox();
  await sandbox.listen();
  const { id } = sandbox.store.products.insert({ name: 'Desk' });
  sandbox.faults.next({ kind: 'lost-response', committed: true });
  const client = createClient({ ...sandbox.clientOptions, retry });

  await client.products.delete(id);
  expect(await client.products.find(id)).toBeUndefined();
  expect(await caught(client.products.delete(id))).toMatchObject({ code: 'not_found', outcome: 'rejected' });
  expect(sandbox.journal.map(({ action }) => action)).toEqual(['delete']);
});

test('an update that gets 204 returns the updated record', async () => {
  await using sandbox = createSandbox({ updateStatus: 204 });
  await sandbox.listen();
  const { id } = sandbox.store.products.insert({ name: 'Desk', brand: 'Oak & Co' });
  const client = createClient({ ...sandbox.clientOptions, retry });

  const responses: unknown[] = [];
  const onResponse = ({ status, attempts }: ResponseMeta) => void responses.push([status, attempts]);
  const updated = await client.products.update(id, { name: 'Standing desk', brand: null }, { onResponse });

  // Called only for the update: the caller did not request the read.
  expect(responses).toEqual([[204, 1]]);
  expect(updated).toMatchObject({ id, name: 'Standing desk', brand: null });
  expect(sandbox.requests.map(({ method }) => method)).toEqual(['PATCH', 'GET']);
});

test('an update that gets 204 has outcome applied if the record cannot be read', async () => {
  await using server = await scriptedServer((request, wire) =>
    request.method === 'PATCH'
      ? void wire.response.writeHead(204).end()
      : problem(404, { type: 'not_found' })(request, wire),
  );
  const error = await caught(quickClient(server.url).products.update('42', { name: 'Desk' }));
  expect(error).toMatchObject({
    code: 'unexpected_response',
    reason: 'empty',
    method: 'PATCH',
    outcome: 'applied',
  });
});

test('an update that may have been applied is not sent again under retry.updates: false', async () => {
  await using server = await scriptedServer(misbehave.close);
  const client = quickClient(server.url, { retry: { baseDelayMs: 1, maxDelayMs: 5, updates: false } });
  const error = await caught(client.products.update('42', { name: 'Desk' }));
  expect(error).toMatchObject({ code: 'connection_failed', outcome: 'unknown', attempts: 1 });
  expect(server.requests).toHaveLength(1);
});

test.each(METHODS)('%s survives a reset of the reused connection', async (method) => {
  // The second request goes out on the connection of the first, which then breaks without a response.
  await using server = await scriptedServer(
    ...[1, 2].map((n) => (n === 1 ? problem(404, { type: 'not_found' }) : misbehave.reset)),
    (request, wire) =>
      request.method === 'DELETE'
        ? void wire.response.writeHead(204).end()
        : void wire.response.writeHead(200, { 'content-type': 'application/json' }).end('{"id":"42"}'),
  );
  const client = quickClient(server.url);
  expect(await client.accounts.find('1')).toBeUndefined();
  await callWith(client, method);
  expect(server.requests).toHaveLength(3);
  expect(server.connections).toBe(2);
});
