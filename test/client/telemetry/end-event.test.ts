import { type CallEvent, createClient, type EndEvent, type Listeners } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

/** A client whose events are kept, by name. */
function listening(sandbox: Sandbox, more: Listeners = {}) {
  const events: string[] = [];
  const ends: EndEvent[] = [];
  const keep = (name: string) => (event: CallEvent) => void events.push(`${name} ${event.call}`);
  const on: Listeners = {
    request: keep('request'),
    error: keep('error'),
    ...more,
    end: (event) => {
      keep('end')(event);
      ends.push(event);
    },
  };
  const client = createClient({ ...sandbox.clientOptions, on, retry: { baseDelayMs: 1 } });
  return { client, events, ends, names: () => events.map((line) => line.split(' ')[0]) };
}

test('the client emits end once, after every other event, for a call that succeeds', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const { client, ends, names } = listening(sandbox);
  await client.products.get('1');
  expect(names()).toEqual(['request', 'end']);
  expect(ends[0]).toMatchObject({
    method: 'GET',
    basePath: '/api/public/v1',
    path: '/products/1',
    template: '/products/{id}',
    attempt: 1,
    result: 'ok',
    waitedMs: 0,
  });
  expect(ends[0]?.durationMs).toBeGreaterThanOrEqual(0);
});

test('the client emits end after the error event for a call that fails', async () => {
  const { client, ends, names } = listening(createSandbox());
  await expect(client.products.get('1')).rejects.toThrow();
  expect(names()).toEqual(['request', 'error', 'end']);
  expect(ends[0]).toMatchObject({ result: 'error', attempt: 1 });
});

test('the client emits end, but no error event, for an aborted call', async () => {
  const sandbox = createSandbox();
  const controller = new AbortController();
  const { client, ends, names } = listening(sandbox, {
    request: () => queueMicrotask(() => controller.abort('enough')),
  });
  sandbox.faults.next({ kind: 'stall' });
  await expect(client.products.get('1', { signal: controller.signal })).rejects.toBe('enough');
  expect(names()).toEqual(['end']);
  expect(ends[0]?.result).toBe('aborted');
});

test('the client emits end for a call that is aborted while it waits for a retry', async () => {
  const sandbox = createSandbox();
  const controller = new AbortController();
  const { client, ends } = listening(sandbox, { retry: () => controller.abort('enough') });
  sandbox.faults.next({ kind: 'lost-response', committed: false });
  const call = client.products.get('1', { signal: controller.signal, retry: { baseDelayMs: 60_000 } });
  await expect(call).rejects.toBe('enough');
  expect(ends.map(({ result }) => result)).toEqual(['aborted']);
});

test('the client emits end for a call whose signal had fired before', async () => {
  const { client, ends, names } = listening(createSandbox());
  await expect(client.products.get('1', { signal: AbortSignal.abort('never') })).rejects.toBe('never');
  expect(names()).toEqual(['end']);
  expect(ends[0]).toMatchObject({ result: 'aborted', attempt: 0 });
});

test('the end event reports the result error even if an error listener aborts the call', async () => {
  const controller = new AbortController();
  const { client, ends } = listening(createSandbox(), { error: () => controller.abort() });
  await expect(client.products.get('1', { signal: controller.signal })).rejects.toThrow('not_found');
  expect(ends[0]?.result).toBe('error');
});

test('the end event counts the time that a call waited', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const waits: number[] = [];
  const { client, ends } = listening(sandbox, { retry: ({ waitMs }) => void waits.push(waitMs) });
  sandbox.faults.next({ kind: 'status', status: 503 });
  await client.products.get('1');
  expect(waits).toHaveLength(1);
  // Clocks count whole milliseconds.
  expect(ends[0]?.waitedMs).toBeGreaterThanOrEqual((waits[0] ?? 0) - 1);
});
