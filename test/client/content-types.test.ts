import { type ClientOptions, createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

const MERGE = 'application/merge-patch+json';

/** A service that accepts an update only under some content types. */
function patching(accepted: readonly string[]) {
  const types: (string | null)[] = [];
  const fetch = async (_: string, init: RequestInit) => {
    const type = new Headers(init.headers).get('content-type');
    types.push(type);
    if (!accepted.includes(type ?? '')) return jsonResponse({ title: 'Unsupported' }, 415);
    return jsonResponse({ id: '7' });
  };
  return {
    types,
    client: (own = {}) => createClient({ baseUrl: 'https://x.example', apiKey: 'k', fetch, ...own }),
  };
}

test('the client sends an update that gets a 415 once more as merge-patch, and every later one at once', async () => {
  const service = patching([MERGE]);
  const client = service.client();
  await client.products.update('7', { name: 'Desk' });
  await client.products.update('7', { name: null });
  expect(service.types).toEqual(['application/json', MERGE, MERGE]);
});

test('the client begins with JSON again after a 415 to a merge-patch', async () => {
  const service = patching([]);
  const client = service.client();
  for (let n = 0; n < 2; n += 1)
    expect(await caught(client.products.update('7', { name: 'Desk' }))).toMatchObject({ status: 415 });
  expect(service.types).toEqual(['application/json', MERGE, 'application/json', MERGE]);
});

test('the client sends no merge-patch if a value is an object, or if contentTypes or contentType decide', async () => {
  const service = patching([MERGE]);
  const patch = (client: ReturnType<typeof service.client>, body: object, contentType?: string) =>
    caught(client.request({ method: 'PATCH', path: '/products/7', body, contentType }));
  await patch(service.client(), { size: { width: 1 } });
  await patch(service.client({ contentTypes: { update: 'application/json' } }), { name: 'Desk' });
  await patch(service.client(), { name: 'Desk' }, 'application/json');
  expect(service.types).toEqual(['application/json', 'application/json', 'application/json']);
});

test('a request sends its body with the content type that it names', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '7' }));
  const client = scriptedClient(fetch);
  const update = { method: 'PATCH', path: '/products/7', body: { name: null } } as const;
  await client.request({ ...update, contentType: MERGE });
  for (const contentType of ['json', '', 'application/json; charset=utf-8', 'a/b\r\nx: y']) {
    const error = await caught(client.request({ ...update, contentType }));
    expect(error).toMatchObject({ argument: 'contentType' });
  }
  expect(fetch.requests.map(({ headers }) => headers.get('content-type'))).toEqual([MERGE]);
});

const LD = 'application/ld+json';

/** A sandbox that accepts one content type for creates and another for updates, and a client of it. */
function strictService(options: ClientOptions = {}) {
  const sandbox = createSandbox({ formats: 'jsonld', contentTypes: { create: [LD], update: [MERGE] } });
  return { sandbox, client: createClient({ ...sandbox.clientOptions, ...options }) };
}

test('contentTypes are those of creates and updates, through request() too', async () => {
  const { sandbox, client } = strictService({ contentTypes: { create: LD, update: MERGE } });
  const { id } = await client.products.create({ name: 'Desk' });
  await client.products.update(id, { name: 'Table', brand: 'Oak' });
  await client.request({ method: 'PATCH', path: ['products', id], body: { brand: null } });
  await client.request({ method: 'POST', path: '/products', body: { name: 'Chair' } });
  expect(sandbox.store.products.all()).toMatchObject([{ name: 'Table', brand: null }, { name: 'Chair' }]);
  await client.products.delete(id);
  expect(sandbox.requests.at(-1)?.headers).not.toHaveProperty('content-type');
});

test('a 415 names Content-Type and the option contentTypes', async () => {
  const { sandbox, client } = strictService();
  sandbox.store.products.insert({ id: '1' });
  for (const [call, option] of [
    [client.products.create({ name: 'Desk' }), 'contentTypes.create'],
    [client.request({ method: 'PATCH', path: '/products/1', body: { size: {} } }), 'contentTypes.update'],
  ] as const) {
    const message = expect.stringMatching(`Content-Type.*${option}`);
    expect(await caught(call)).toMatchObject({ status: 415, outcome: 'rejected', message });
  }
});

test('the content type of creates is not that of updates, and the other way round', async () => {
  const json = 'application/json';
  const types = [json, 'application/ld+json', 'application/vnd.api+json'] as const;
  for (const contentTypes of [
    { create: types[1] },
    { update: types[2] },
    { create: types[1], update: types[2] },
  ]) {
    const service = patching(types);
    const { products } = service.client({ contentTypes });
    await products.create({ name: 'Desk' });
    await products.update('7', { name: 'Table' });
    const { create = json, update = json } = contentTypes as { create?: string; update?: string };
    expect(service.types).toEqual([create, update]);
  }
});
