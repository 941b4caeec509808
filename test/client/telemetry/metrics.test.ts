import { type ClientOptions, memoryStore, sync } from 'accounting-data-sdk';
import { checkpointCounter, telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import type { SandboxOptions } from 'accounting-data-sdk/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { record, recordedClient } from './support/recorder.ts';

const measured = (sandboxOptions: SandboxOptions = {}, options: ClientOptions = {}) =>
  recordedClient(sandboxOptions, options, { tenant: '42' });

/** What each event of a call has. */
const EVENT = {
  ...{ call: 1, method: 'GET', origin: 'https://books.example.com', basePath: '/api/public/v1' },
  ...{ path: '/products/1', template: '/products/{id}', query: undefined, attempt: 1 },
} as const;

afterEach(() => void vi.useRealTimers());

test('telemetryListeners measures each call in seconds, by its template and the code of its error, and the quota', async () => {
  const { sandbox, client, recorded } = measured({ rateLimit: { limit: 100, kind: 'fixed-from-first' } });
  await client.products.get('1');
  await client.products.get('2');
  await expect(client.products.get('99')).rejects.toThrow();

  const metric = (await recorded.metrics()).get('accounting.client.call.duration');
  expect(metric?.descriptor).toMatchObject({ unit: 's', type: 'HISTOGRAM' });
  const bounds = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60, 120];
  expect(metric?.dataPoints[0]?.value).toMatchObject({ buckets: { boundaries: bounds } });
  const service = {
    tenant: '42',
    'server.address': new URL(sandbox.baseUrl).hostname,
    'server.port': 443,
    'url.scheme': 'https',
  };
  const template = '/api/public/v1/products/{id}';
  const attributes = { ...service, 'http.request.method': 'GET', 'url.template': template };
  expect(await recorded.points('accounting.client.call.duration')).toEqual([
    { attributes, value: expect.objectContaining({ count: 2 }) },
    {
      attributes: { ...attributes, 'error.type': 'not_found' },
      value: expect.objectContaining({ count: 1 }),
    },
  ]);
  const limit = await recorded.points('accounting.rate_limit.limit');
  expect(limit).toEqual([{ attributes: service, value: 100 }]);
  expect(await recorded.points('accounting.rate_limit.remaining')).toEqual([
    { attributes: service, value: 97 },
  ]);
});

test('telemetryListeners measures a call once, whatever number of requests it took, and counts the retries', async () => {
  const { sandbox, client, recorded } = measured();
  sandbox.faults.add({ kind: 'status', status: 503 }, { times: 2 });
  await client.products.get('1');

  const calls = await recorded.points('accounting.client.call.duration');
  expect(calls.map(({ value }) => value)).toEqual([expect.objectContaining({ count: 1 })]);
  const retries = await recorded.points('accounting.client.retries');
  expect(retries).toMatchObject([{ attributes: { 'error.type': '503', tenant: '42' }, value: 2 }]);
  const waits = await recorded.points('accounting.client.wait.duration');
  expect(waits).toMatchObject([{ attributes: { 'accounting.wait.reason': 'retry' }, value: { count: 2 } }]);
});

test('telemetryListeners measures a wait for the quota apart from the one before a retry that it follows', async () => {
  const recorded = record();
  const { request, retry, wait, end } = telemetryListeners(recorded.options);
  request?.({ ...EVENT, idempotencyKey: undefined });
  retry?.({ ...EVENT, reason: 'status 503', waitMs: 1_500 });
  wait?.({ ...EVENT, waitMs: 250 });
  request?.({ ...EVENT, attempt: 2, idempotencyKey: undefined });
  end?.({ ...EVENT, attempt: 2, result: 'ok', durationMs: 2, waitedMs: 2 });
  const waits = await recorded.points('accounting.client.wait.duration');
  expect(waits.map(({ attributes, value }) => [attributes['accounting.wait.reason'], value])).toEqual([
    ['retry', expect.objectContaining({ count: 1 })],
    ['rate_limit', expect.objectContaining({ count: 1 })],
  ]);
  const calls = await recorded.points('accounting.client.call.duration');
  expect(calls).toMatchObject([{ value: { count: 1, sum: 0.002 } }]);
  const [span] = await recorded.spans();
  expect(span?.events.map(({ attributes }) => attributes)).toEqual([
    { 'accounting.wait.reason': 'retry', 'accounting.wait.expected': 1.5 },
    { 'accounting.wait.reason': 'rate_limit', 'accounting.wait.expected': 0.25 },
  ]);
  // Nothing is kept of a call that has ended.
  request?.({ ...EVENT, idempotencyKey: undefined });
  expect(recorded.open()).toBe(1);
});

test('telemetryListeners measures the wait in which a call ends', async () => {
  const recorded = record();
  const { wait, end } = telemetryListeners(recorded.options);
  wait?.({ ...EVENT, waitMs: 250 });
  end?.({ ...EVENT, result: 'aborted', durationMs: 2, waitedMs: 2 });
  const waits = await recorded.points('accounting.client.wait.duration');
  expect(waits).toMatchObject([
    { attributes: { 'accounting.wait.reason': 'rate_limit' }, value: { count: 1 } },
  ]);
});

test('telemetryListeners counts the invalid records of each collection', async () => {
  const { sandbox, client, recorded } = measured({ records: { products: 3 } }, { validation: 'report' });
  sandbox.faults.add({
    kind: 'rewrite',
    body: (text) => text.replaceAll(/"salePrice":"([\d.]+)"/g, '"salePrice":$1'),
  });
  await client.products.list().toArray({ limit: 12 });
  const attributes = { tenant: '42', 'accounting.collection': 'products' };
  expect(await recorded.points('accounting.client.invalid_records')).toEqual([{ attributes, value: 3 }]);
});

test('checkpointCounter counts the checkpoints that a sync has written', async () => {
  const { client, recorded } = measured({ records: { products: 3, boms: 1 }, pageSize: 2 });
  const onCheckpoint = checkpointCounter({ ...recorded.options, attributes: { tenant: '42' } });
  const collections = ['products', 'boms'] as const;
  const run = { store: memoryStore(), tenant: '42', onBatch: () => {} };
  await sync(client.withOptions({ pagination: 'page' }), { ...run, collections, onCheckpoint });

  const counts = (await recorded.points('accounting.sync.checkpoints')).map(({ attributes, value }) => [
    attributes['accounting.collection'],
    value,
    attributes.tenant,
  ]);
  // One for each page, and one at the end.
  expect(counts.sort()).toEqual([
    ['boms', 2, '42'],
    ['products', 3, '42'],
  ]);
});
