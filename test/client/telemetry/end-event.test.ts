import { type CallEvent, createClient, type EndEvent, type Listeners } from 'accounting-data-sdk';
import { createSandbox, type Sandbox } from 'accounting-data-sdk/testing';
import { expect, test } from 'vitest';

/** A client whose events are kept, by name. */
function listening(sandbox: Sandbox, more: Listeners = {}) {
  const told: string[] = [];
  const ends: EndEvent[] = [];
  const keep = (name: string) => (event: CallEvent) => void told.push(`${name} ${event.call}`);
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
  return { client, told, ends, names: () => told.map((line) => line.split(' ')[0]) };
}

test('tells that a call has ended well, once, after everything else', async () => {
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

test('tells that a call has ended in an error, after the error', async () => {
  const { client, ends, names } = listening(createSandbox());
  await expect(client.products.get('1')).rejects.toThrow();
  expect(names()).toEqual(['request', 'error', 'end']);
  expect(ends[0]).toMatchObject({ result: 'error', attempt: 1 });
});

test('tells of the end of an aborted call, whose only last word it is', async () => {
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

test('tells of the end of a call that is aborted while it waits to be retried', async () => {
  const sandbox = createSandbox();
  const controller = new AbortController();
  const { client, ends } = listening(sandbox, { retry: () => controller.abort('enough') });
  sandbox.faults.next({ kind: 'lost-response', committed: false });
  const call = client.products.get('1', { signal: controller.signal, retry: { baseDelayMs: 60_000 } });
  await expect(call).rejects.toBe('enough');
  expect(ends.map(({ result }) => result)).toEqual(['aborted']);
});

test('tells of the end of a call whose signal had fired before', async () => {
  const { client, ends, names } = listening(createSandbox());
  await expect(client.products.get('1', { signal: AbortSignal.abort('never') })).rejects.toBe('never');
  expect(names()).toEqual(['end']);
  expect(ends[0]).toMatchObject({ result: 'aborted', attempt: 0 });
});

test('tells of an error as an error where a listener aborts the others on it', async () => {
  const controller = new AbortController();
  const { client, ends } = listening(createSandbox(), { error: () => controller.abort() });
  await expect(client.products.get('1', { signal: controller.signal })).rejects.toThrow('not_found');
  expect(ends[0]?.result).toBe('error');
});

test('tells of two calls where an update is read again, both ended well', async () => {
  const sandbox = createSandbox({ records: { products: 1 }, updateStatus: 204 });
  const { client, ends } = listening(sandbox);
  await client.products.update('1', { name: 'Desk' });
  expect(ends.map(({ method, result }) => [method, result])).toEqual([
    ['GET', 'ok'],
    ['PATCH', 'ok'],
  ]);
});

test('tells of a delete that a retry finds done as of one that has ended well', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const { client, ends, names } = listening(sandbox);
  sandbox.faults.next({ kind: 'lost-response', committed: true });
  await client.products.delete('1');
  expect(names()).toEqual(['request', 'request', 'end']);
  expect(ends[0]).toMatchObject({ result: 'ok', attempt: 2 });
});

test('counts the time that a call waited', async () => {
  const sandbox = createSandbox({ records: { products: 1 } });
  const waits: number[] = [];
  const { client, ends } = listening(sandbox, { retry: ({ waitMs }) => void waits.push(waitMs) });
  sandbox.faults.next({ kind: 'status', status: 503 });
  await client.products.get('1');
  expect(waits).toHaveLength(1);
  // Clocks count whole milliseconds.
  expect(ends[0]?.waitedMs).toBeGreaterThanOrEqual((waits[0] ?? 0) - 1);
});
