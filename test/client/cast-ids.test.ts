import { createClient } from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { quirky } from '../support/quirks.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

/** A service that casts ids to integers, with products 1 to 3. */
function castingService() {
  const sandbox = createSandbox({ records: { products: 3 } });
  const fetch = quirky(sandbox.fetch, { castsIds: true });
  return { sandbox, ...createClient({ ...sandbox.clientOptions, fetch }) };
}

test.each(['2abc', '02', '2.json', '2-A'])(
  'a write by the id %j is not sent if the service casts it to 2',
  async (id) => {
    const { sandbox, products } = castingService();
    const before = sandbox.store.products.all();
    for (const act of [() => products.update(id, { name: 'Desk' }), () => products.delete(id)]) {
      const rejected = { argument: 'id', outcome: 'not_sent', message: expect.stringContaining('"2"') };
      expect(await caught(act())).toMatchObject(rejected);
    }
    expect(sandbox.store.products.all()).toEqual(before);
    expect(sandbox.requests.map(({ method }) => method)).toEqual(['GET', 'GET']);
  },
);

test('get and find reject a record with another id than the one requested', async () => {
  const { products } = castingService();
  for (const act of [() => products.get('2abc'), () => products.find('2abc')]) {
    expect(await caught(act())).toMatchObject({ reason: 'wrong_record', recordId: '2', outcome: 'applied' });
  }
});

test('checkIds: false accepts a stub that returns one fixed record for every id', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '1', name: 'Desk' }));
  const { products } = scriptedClient(fetch, { checkIds: false });
  expect(await products.get('42')).toEqual({ id: '1', name: 'Desk' });
  expect(await products.find('7-A')).toEqual({ id: '1', name: 'Desk' });
  expect(await products.update('7-A', { name: 'Table' })).toEqual({ id: '1', name: 'Desk' });
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(['GET', 'GET', 'PATCH']);
});

test('a client checks only the first id of a collection, also for clients of withOptions', async () => {
  const fetch = scriptedFetch(({ url }) => jsonResponse({ id: url.pathname.split('/').at(-1) }));
  const client = scriptedClient(fetch);
  const onResponse = vi.fn();
  await client.products.update('3f-a', { name: 'Desk' }, { onResponse });
  await client.withOptions({ timeoutMs: 9_000 }).products.update('4f-b', { name: 'Desk' });
  await client.products.delete('5f-c');
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(['GET', 'PATCH', 'PATCH', 'DELETE']);
  expect(onResponse).toHaveBeenCalledTimes(1);
});

test.each([
  ...[' 2', '+2', '2_0', '010', '-0', '\u3000\u0662', '\u0662', '\uff12', '\u0968', '\u{1d7da}', '+\u06f2'],
  ...['\u00b2', '\u2461', '\u2161', '\u200b2', '\u22122', '\uff0b2', '.2', '%32', '/2', '"2"'],
  '9007199254740993',
  '99999999999999999999',
])('a write by the id %j is not sent if the service returns record 2', async (id) => {
  const fetch = scriptedFetch(jsonResponse({ id: '2' }));
  const { products } = scriptedClient(fetch);
  for (const act of [() => products.delete(id), () => products.update(id, { name: 'Desk' })])
    expect(await caught(act())).toMatchObject({ argument: 'id', outcome: 'not_sent' });
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(['GET', 'GET']);
});

test('an id that the service returned for a create is a match, though not for large numbers', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '01jb5-x' }));
  const { products } = scriptedClient(fetch);
  await products.create({ name: 'Desk' });
  await products.update('01jb5-x', { name: 'Table' });
  expect(await caught(products.delete('9007199254740993'))).toMatchObject({ argument: 'id' });
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(['POST', 'PATCH', 'GET']);
});

test('a large number that matches does not prove that ids are compared as strings', async () => {
  const fetch = scriptedFetch(({ url }) => jsonResponse({ id: url.pathname.split('/').at(-1) }));
  const { products } = scriptedClient(fetch);
  for (const id of ['9007199254740993', '9007199254740995', '2-A', '42']) await products.delete(id);
  expect(fetch.requests.map(({ init }) => init.method)).toEqual([
    ...['GET', 'DELETE', 'DELETE'],
    ...['GET', 'DELETE', 'DELETE'],
  ]);
});

test('an id in another case is the same id', async () => {
  const { products } = scriptedClient(scriptedFetch(jsonResponse({ id: '3F-A' })));
  expect(await products.get('3f-a')).toEqual({ id: '3F-A' });
  expect(await products.update('3f-a', { name: 'Desk' })).toEqual({ id: '3F-A' });
});

test('an update that returns another record has an unknown outcome, and the id of that record', async () => {
  const { products } = scriptedClient(scriptedFetch(jsonResponse({ id: '9' })));
  expect(await caught(products.update('8', { name: 'Desk' }))).toMatchObject({
    code: 'unexpected_response',
    reason: 'wrong_record',
    outcome: 'unknown',
    recordId: '9',
  });
});

test('a record that cannot be read before a write ends the write', async () => {
  const missing = createClient(createSandbox().clientOptions).products;
  expect(await caught(missing.delete('5f-c'))).toMatchObject({ code: 'not_found' });

  const fetch = scriptedFetch(jsonResponse({ id: 5 }));
  expect(await caught(scriptedClient(fetch).products.delete('5f-c'))).toMatchObject({
    code: 'unexpected_response',
    method: 'GET',
  });
  expect(fetch.requests).toHaveLength(1);
});
