import { context, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { createClient, memoryStore, push, sync } from 'accounting-data-sdk';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterEach, expect, test } from 'vitest';
import { record, recordedClient, type SeenSpan } from './support/recorder.ts';

/** The spans of calls and runs, without those of a test. */
const callsOf = (spans: readonly SeenSpan[]) => spans.filter(({ name }) => name.startsWith('accounting '));

afterEach(() => context.disable());

test('telemetryListeners makes a span of each call, whose attributes have the names of the conventions', async () => {
  const { sandbox, client, recorded } = recordedClient();
  await client.products.get('2');

  const spans = await recorded.spans();
  expect(spans).toMatchObject([{ name: 'accounting GET /products/{id}', kind: 'INTERNAL', failed: false }]);
  expect(spans[0]?.attributes).toEqual({
    'http.request.method': 'GET',
    'server.address': new URL(sandbox.baseUrl).hostname,
    'server.port': 443,
    'url.scheme': 'https',
    'url.template': '/api/public/v1/products/{id}',
    'http.response.status_code': 200,
    'accounting.rate_limit.limit': expect.any(Number),
    'accounting.rate_limit.remaining': expect.any(Number),
    'accounting.call.attempts': 1,
    'accounting.call.requests': 1,
    'accounting.call.waited': 0,
  });
});

test.each([
  ['http://[::1]:4010', '::1', 4010],
  ['http://127.0.0.1', '127.0.0.1', 80],
])(
  'the address of a service at %s is in a span, without brackets: %s, port %i',
  async (origin, address, port) => {
    const { client, recorded } = recordedClient({ origin });
    await client.products.get('2');
    const [call] = await recorded.spans();
    expect(call?.attributes).toMatchObject({
      'server.address': address,
      'server.port': port,
      'url.scheme': 'http',
    });
  },
);

test('telemetryListeners counts attempts and requests of a call, and makes an event of each wait', async () => {
  const { sandbox, client, recorded } = recordedClient();
  sandbox.faults.next({ kind: 'lost-response', committed: true });
  sandbox.faults.next({ kind: 'status', status: 503 });
  await client.products.create({ name: 'Desk' });
  sandbox.faults.next({ kind: 'status', status: 429, retryAfter: 0 });
  await client.products.get('1');

  const [create, read] = await recorded.spans();
  expect(create?.failed).toBe(false);
  expect(create?.attributes).toMatchObject({
    'http.response.status_code': 201,
    'accounting.call.attempts': 3,
    'accounting.call.requests': 3,
  });
  const wait = { name: 'accounting.wait', attributes: { 'accounting.wait.reason': 'retry' } };
  expect(create?.events).toMatchObject([wait, wait]);
  const [waits] = await recorded.points('accounting.client.wait.duration');
  const waited = Number(create?.attributes['accounting.call.waited']);
  // In seconds, as the metric.
  expect(waits?.value).toMatchObject({ sum: expect.closeTo(waited, 1) });
  // A 429 costs no attempt.
  expect(read?.attributes).toMatchObject({ 'accounting.call.attempts': 1, 'accounting.call.requests': 2 });
});

test('telemetryListeners marks the span of a call as failed that ends with an error of another program', async () => {
  const error = Object.assign(new Error('no-store fetch'), { digest: 'DYNAMIC_SERVER_USAGE' });
  const { client, recorded } = recordedClient({}, { fetch: () => Promise.reject(error) });
  await expect(client.products.get('1')).rejects.toBe(error);
  expect(await recorded.spans()).toMatchObject([{ failed: true, attributes: { 'error.type': '_OTHER' } }]);
});

test('telemetryListeners marks the span of a rejected call as failed, with its code, its outcome and the id of its request', async () => {
  const { sandbox, client, recorded } = recordedClient();
  const headers = { 'X-Request-Id': 'req-7' };
  sandbox.faults.next({ kind: 'rewrite', status: 422, headers, body: '{"type":"validation_failed"}' });
  await expect(client.products.update('1', { status: 'lost' })).rejects.toThrow();

  const [call] = await recorded.spans();
  expect(call).toMatchObject({
    failed: true,
    attributes: {
      'http.response.status_code': 422,
      'accounting.request_id': 'req-7',
      'error.type': 'validation_failed',
      'accounting.call.outcome': 'rejected',
    },
  });
});

test('telemetryListeners ends the span of a call that is aborted in flight', async () => {
  const { sandbox, client, recorded } = recordedClient();
  sandbox.faults.add({ kind: 'stall' }, { method: 'GET', times: 1 });
  const controller = new AbortController();
  const stalled = client.products.get('1', { signal: controller.signal });
  await expect.poll(() => sandbox.count()).toBe(1);
  controller.abort();
  await expect(stalled).rejects.toThrow();
  expect(recorded.open()).toBe(0);
  expect(await recorded.spans()).toMatchObject([{ attributes: { 'error.type': 'aborted' } }]);
});

test('telemetryListeners shows no part of a query but the page and the bounds of ids', async () => {
  const { client, recorded } = recordedClient();
  const pagination = { first: { page: 1, parameters: { cursor: 'Smith' } }, next: () => undefined };
  const query = { updatedSince: '2000-01-01', id: { lte: '9' } };
  await client.products.list(query, { pagination }).toArray({ limit: 12 });
  const [span] = await recorded.spans();
  expect(span?.attributes).toMatchObject({ 'accounting.call.query': '_page=1&id[lte]=9' });
  expect(JSON.stringify(span)).not.toMatch(/2000-01-01|Smith/);
});

test('telemetryListeners puts the spans of a call below the one that is active when the call is made', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const { client, recorded } = recordedClient({ records: { products: 12 }, pageSize: 5 });
  await recorded.tracerProvider.getTracer('test').startActiveSpan('nightly pull', async (span) => {
    for await (const _ of client.products.list()) await Promise.resolve();
    span.end();
  });
  const spans = await recorded.spans();
  const outer = spans.find(({ name }) => name === 'nightly pull');
  expect(callsOf(spans).length).toBeGreaterThan(3);
  expect(new Set(callsOf(spans).map(({ parent }) => parent))).toEqual(new Set([outer?.id]));
});

test('telemetryListeners uses the provider that is registered when the first call is made', async () => {
  const { sandbox } = recordedClient();
  const client = createClient({ ...sandbox.clientOptions, on: telemetryListeners() });
  const recorded = record();
  trace.setGlobalTracerProvider(recorded.tracerProvider);
  try {
    await client.products.get('1');
    expect(await recorded.spans()).toHaveLength(1);
  } finally {
    trace.disable();
  }
});

test('telemetryListeners names the prefix of a base URL', async () => {
  const recorded = record();
  const books = createSandbox({ records: { products: 1 } });
  const prefixed = createClient({
    apiKey: books.keys.full,
    baseUrl: `${books.baseUrl}/tenants/7`,
    fetch: (url, init) => books.fetch(url.replace('/tenants/7', ''), init),
    on: telemetryListeners(recorded.options),
  });
  await prefixed.products.get('1');
  expect((await recorded.spans())[0]?.attributes).toMatchObject({
    'url.template': '/tenants/7/api/public/v1/products/{id}',
  });
});

const run = {
  tenant: 'acme',
  store: memoryStore(),
  collections: ['products', 'accounts'],
  onBatch: () => {},
} as const;

test('the span of a run has the calls of a sync below it', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  const options = { records: { products: 12 }, pageSize: 5 };
  const { client, recorded } = recordedClient(options, {}, { region: 'eu' });
  const { records } = await sync(client, run);

  const spans = await recorded.spans();
  const [outer, ...others] = callsOf(spans).filter(({ parent }) => parent === undefined);
  expect(others).toEqual([]);
  expect(outer).toMatchObject({ name: 'accounting sync', failed: false });
  expect(outer?.attributes).toEqual({
    'accounting.tenant': 'acme',
    'accounting.collections': ['products', 'accounts'],
    region: 'eu',
    'accounting.sync.statuses': ['done'],
    'accounting.sync.records': records,
  });
  const calls = callsOf(spans).filter((span) => span !== outer);
  expect(calls.length).toBeGreaterThan(4);
  expect(new Set(calls.map(({ parent }) => parent))).toEqual(new Set([outer?.id]));
});

test('the span of a push says how many rows it read', async () => {
  const { client, recorded } = recordedClient();
  const rows = [{ name: 'A' }, { name: '' }];
  await push(client.products, { rows, key: 'name', tenant: 'acme', store: memoryStore() });
  const outer = (await recorded.spans()).find(({ name }) => name === 'accounting push');
  expect(outer?.attributes).toEqual({
    'accounting.tenant': 'acme',
    'accounting.collections': ['products'],
    'accounting.push.rows': 2,
  });
});

test.for([
  ['sync_failed', 'fails', {}],
  ['aborted', 'is aborted', { signal: AbortSignal.abort() }],
  ['aborted', 'is out of time', { signal: AbortSignal.abort(new DOMException('late', 'TimeoutError')) }],
  ['_OTHER', 'is stopped by an error of another program', { signal: AbortSignal.abort(new Error('stop')) }],
] as const)('the span of a run says %s if the run %s', async ([errorType, _, options]) => {
  const { client, recorded } = recordedClient({}, { apiKey: 'a-revoked-key' });
  await expect(sync(client, { ...run, ...options })).rejects.toThrow();
  const outer = (await recorded.spans()).find(({ name }) => name === 'accounting sync');
  expect(outer).toMatchObject({ failed: true, attributes: { 'error.type': errorType } });
  const statuses = outer?.attributes['accounting.sync.statuses'];
  expect(statuses).toEqual(errorType === 'sync_failed' ? expect.arrayContaining(['failed']) : undefined);
});
