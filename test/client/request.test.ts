import type { RawRequest } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { caught, thrown } from '../support/caught.ts';
import { jsonResponse, problemResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

const done = () => scriptedFetch(jsonResponse({ id: '7', total: '1.0000' }));

test('a request goes out under the API with key, query and body', async () => {
  const fetch = done();
  const value = await scriptedClient(fetch).request({
    method: 'POST',
    path: ['invoices', 'a/b', 'send'],
    query: { copy: true, to: 'a@b.c', n: 0, none: undefined },
    body: { note: 'x' },
    idempotencyKey: 'invoice:7',
  });
  expect(value).toEqual({ id: '7', total: '1.0000' });
  const [{ url, init, headers } = { url: new URL('x:'), init: {}, headers: new Headers() }] = fetch.requests;
  expect(`${url.pathname}${url.search}`).toBe('/api/public/v1/invoices/a%2Fb/send?copy=true&to=a%40b.c&n=0');
  expect([init.method, init.body, init.redirect]).toEqual(['POST', '{"note":"x"}', 'manual']);
  expect(headers.get('idempotency-key')).toBe('invoice:7');
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('x-auth-token')).toBe('key-of-the-company');
});

test('a request is a GET by default, and only a POST carries an Idempotency-Key', async () => {
  const fetch = done();
  const methods = ['GET', 'POST', 'PATCH', 'DELETE'] as const;
  for (const method of [undefined, ...methods.slice(1)])
    await scriptedClient(fetch).request({ method, path: '/invoices/7' });
  expect(fetch.requests.map(({ init }) => init.method)).toEqual(methods);
  const keyed = fetch.requests.map(({ headers }) => headers.has('idempotency-key'));
  expect(keyed).toEqual([false, true, false, false]);
  expect(fetch.requests.some(({ headers }) => headers.has('content-type'))).toBe(false);
});

test('a response without a body is undefined', async () => {
  for (const response of [new Response(null, { status: 204 }), new Response('', { status: 200 })]) {
    expect(await scriptedClient(scriptedFetch(response)).request({ path: '/invoices/7' })).toBeUndefined();
  }
});

test('a response that contains the key is as sent, and without it if redactKey says so', async () => {
  const key = 'key-of-the-company';
  const sent = { id: '7', note: `for ${key}`, [key]: [{ a: key }], total: '1.0000' };
  const client = scriptedClient(scriptedFetch(jsonResponse(sent)));
  expect(await client.request({ path: '/invoices/7' })).toEqual(sent);
  expect(await client.request({ path: '/invoices/7', redactKey: true })).toEqual({
    ...{ id: '7', note: 'for [redacted]', total: '1.0000' },
    '[redacted]': [{ a: '[redacted]' }],
  });
  const schema = z.object({ note: z.string() });
  const read = client.request({ path: '/invoices/7', redactKey: true, schema });
  expect(await read).toEqual({ note: 'for [redacted]' });
});

test('a schema types and checks what comes', async () => {
  const schema = z.object({ id: z.string(), total: z.string().transform((text) => text.length) });
  expect(await scriptedClient(done()).request({ path: '/invoices/7', schema })).toEqual({
    id: '7',
    total: 6,
  });
  const invalid = scriptedClient(done()).request({
    method: 'POST',
    path: '/invoices',
    schema: z.object({ id: z.number() }),
  });
  expect(await caught(invalid)).toMatchObject({
    code: 'unexpected_response',
    reason: 'wrong_shape',
    outcome: 'applied',
    recordId: '7',
    idempotencyKey: expect.any(String),
  });
});

const rejectedQueries = [
  ...['', 'a\nb', Number.NaN, null, { a: 1 }].map((q) => ({ q })),
  ...[{ '\ud800': 'a' }, { '': 'a' }, { 'a\nb': 'a' }, 'a=b', ['a']],
];

test.each<[string, object]>([
  ...['', 'invoices', 'https://evil.example/invoices', [], ['invoices', ''], ['invoices', '..'], 7].map(
    (path): [string, object] => ['path', { path }],
  ),
  ['path', { path: '/invoices/../../admin' }],
  ['method', { path: '/x', method: 'PUT' }],
  ['schema', { path: '/x', schema: {} }],
  ...rejectedQueries.map((query): [string, object] => [
    typeof query === 'object' && 'q' in query ? 'query.q' : 'query',
    { path: '/x', query },
  ]),
  ['body', { path: '/x', body: {} }],
  ['idempotencyKey', { path: '/x', method: 'POST', idempotencyKey: 'a b' }],
  ['idempotencyKey', { path: '/x', method: 'PATCH', idempotencyKey: 'k' }],
])('%s: %j is rejected before anything is sent (%#)', async (argument, request) => {
  const fetch = done();
  const error = await caught(scriptedClient(fetch).request(request as RawRequest));
  expect(error).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
  expect(fetch.requests).toHaveLength(0);
});

const cycle: { self?: object } = {};
cycle.self = cycle;

test.each<[string, () => unknown]>([
  ['NaN', () => Number.NaN],
  ['a cycle', () => cycle],
  ['a function', () => () => 1],
  ['a promise', () => Promise.resolve({ name: 'Desk' })],
  ['a Map', () => new Map([['name', 'Desk']])],
  ['undefined in a list', () => [undefined]],
])('%s is rejected before anything is sent, because JSON would replace or drop it', async (_, make) => {
  const fetch = done();
  const client = scriptedClient(fetch);
  const whole = make() as object;
  const drafts = [make(), [make()], { deep: [{ n: make() }] }].map((value) => ({ fromTomorrow: value }));
  for (const call of [
    client.request({ method: 'POST', path: '/x', body: [make()] }),
    ...[whole, ...drafts].flatMap((draft) => [
      client.products.create(draft),
      client.products.update('1', draft),
    ]),
  ]) {
    expect(await caught(call)).toMatchObject({ code: 'invalid_input' });
  }
  for (const draft of drafts) {
    const argument = 'draft.fromTomorrow';
    expect(await caught(client.products.create({ name: 'Desk', ...draft }))).toMatchObject({ argument });
  }
  expect(fetch.requests).toHaveLength(0);
});

test('a collection that this version does not know has list, get and find', async () => {
  const record = { id: '7', total: '1.00' };
  const fetch = scriptedFetch(
    jsonResponse(record),
    problemResponse(404, { type: 'not_found' }),
    jsonResponse([record]),
    jsonResponse([]),
  );
  const schema = z.object({ id: z.string(), total: z.string() });
  const invoices = scriptedClient(fetch).collection('sales-invoices_2', { schema });
  expect(await invoices.get('7')).toEqual(record);
  expect(await invoices.find('8')).toBeUndefined();
  expect(await invoices.list({}, { pagination: 'page' }).toArray({ limit: 9 })).toEqual([record]);
  expect(fetch.requests[0]?.url.pathname).toBe('/api/public/v1/sales-invoices_2/7');
  expect('create' in invoices).toBe(false);
});

test.each(['', 'boms/1', '../boms', 'boms?a=b', ' boms', 'b%6fms', 7])(
  'collection rejects the segment %j, which is no path segment of letters, digits, "-" and "_"',
  (segment) => {
    const client = scriptedClient(done());
    const error = thrown(() => client.collection(segment as string));
    expect(error).toMatchObject({ code: 'invalid_input', argument: 'segment' });
  },
);

test('collection returns the collection of the client by its name, and an unknown one by any other segment', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '1', salePrice: 7 }));
  const client = scriptedClient(fetch);
  expect(client.collection('accountAddresses')).toBe(client.accountAddresses);
  expect(client.collection('products')).toBe(client.products);
  for (const segment of ['account-addresses', 'constructor', 'toString']) {
    expect(client.collection(segment).segment).toBe(segment);
  }
  // A schema of its own is not mixed with that of the client.
  expect(client.collection('products', {})).not.toBe(client.products);
  expect(await client.collection('products', {}).get('1')).toMatchObject({ salePrice: 7 });
});
