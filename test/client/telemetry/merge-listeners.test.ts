import { createClient, type Listeners } from 'accounting-data-sdk';
import { mergeListeners, telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { record } from './support/recorder.ts';

const quiet = () => ({ debug: vi.fn(), info: vi.fn(), warn: vi.fn() });

test("tells telemetry and the caller's own listeners of the same events, in order", async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const recorded = record();
  const told: string[] = [];
  const client = createClient({
    ...sandbox.clientOptions,
    on: mergeListeners({ request: () => void told.push('first') }, telemetryListeners(recorded.options), {
      request: () => void told.push('last'),
      error: undefined,
    }),
  });
  await client.products.get('1');
  expect(told).toEqual(['first', 'last']);
  expect(await recorded.spans()).toHaveLength(2);
});

test('tells every listener though one throws, and lets the client report that', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const logger = quiet();
  const last = vi.fn();
  const bad: Listeners = {
    request: () => {
      throw new Error('bad listener');
    },
  };
  const client = createClient({
    ...sandbox.clientOptions,
    logger,
    on: mergeListeners(bad, { request: last }),
  });
  await client.products.get('1');
  expect(last).toHaveBeenCalledOnce();
  expect(logger.warn).toHaveBeenCalledWith(
    'accounting-data-sdk: the listener on.request threw Error: bad listener',
  );
});

test('lets the client report an async listener that fails', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const logger = quiet();
  const on = mergeListeners({ request: async () => Promise.reject(new Error('late')) });
  const client = createClient({ ...sandbox.clientOptions, logger, on });
  await client.products.get('1');
  await vi.waitFor(() => expect(logger.warn).toHaveBeenCalledOnce());
});

test('has no listener for an event that nobody listens to', () => {
  expect(Object.keys(mergeListeners({ error: undefined }, { end: () => {} }))).toEqual(['end']);
});
