// What runtimes other than Node lack: pages over http, jsdom as an environment of tests, Windows.

import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changes, createClient, memoryStore, newIdempotencyKey, push, sync } from 'accounting-data-sdk';
import { fileStore } from 'accounting-data-sdk/node';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, onTestFinished, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { startVirtualClock, stopVirtualClock } from '../support/virtual-clock.ts';

const ENTRIES = ['', '/schemas', '/testing', '/explore', '/targets', '/opentelemetry'] as const;

test.each(ENTRIES)('accounting-data-sdk%s loads where no Web API exists yet', async (entry) => {
  const lacking =
    'TextDecoder TextEncoder structuredClone fetch Request Response Headers ReadableStream crypto';
  for (const name of [...lacking.split(' '), 'AbortSignal', 'AbortController'])
    vi.stubGlobal(name, undefined);
  vi.resetModules();
  const loaded: unknown = await import(/* @vite-ignore */ `accounting-data-sdk${entry}`);
  expect(Object.keys(loaded as object).length).toBeGreaterThan(0);
});

/** A page over http that is not on this machine has neither. */
const insecure = () => ({ getRandomValues: crypto.getRandomValues.bind(crypto) });

test('ids are random UUIDs without crypto.randomUUID', () => {
  vi.stubGlobal('crypto', insecure());
  const ids = Array.from({ length: 200 }, newIdempotencyKey);
  for (const id of ids)
    expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  expect(new Set(ids).size).toBe(200);
});

test('a push that needs crypto.subtle says so before it sends anything, and calls do not need it', async () => {
  vi.stubGlobal('crypto', insecure());
  const sandbox = createSandbox({ records: { accounts: 3 } });
  const client = createClient(sandbox.clientOptions);
  expect(await client.accounts.list().toArray({ limit: 9 })).toHaveLength(3);
  const sent = sandbox.requests.length;
  const run = { tenant: 'acme', store: memoryStore() };
  const error = await caught(push(client.products, { ...run, key: 'name', rows: [{ name: 'Desk' }] }));
  const cause = { code: 'invalid_input', argument: 'crypto.subtle', outcome: 'not_sent' };
  expect(error).toMatchObject({ code: 'push_failed', cause });
  expect((error as Error).message).toContain('serve the page over https or from localhost');
  expect(sandbox.requests.length).toBe(sent);
  expect(await sync(client, { ...run, onBatch: () => {}, collections: ['accounts'] })).toMatchObject({
    records: 3,
  });
  let records = 0;
  for await (const batch of changes(client.accounts, { ...run, tenant: 'other' }))
    records += batch.records.length;
  expect(records).toBe(3);
});

/** A file store whose renames fail so many times, on a platform. */
async function heldStore(platform: string, code: string, times: number) {
  const folder = await fs.mkdtemp(join(tmpdir(), 'held-'));
  const { rename } = fs;
  let failed = 0;
  const held: typeof rename = async (from, to) => {
    if (failed++ < times)
      throw Object.assign(new Error(`${code}: operation not permitted, rename`), { code });
    await rename(from, to);
  };
  const put = (value: typeof rename) => {
    fs.rename = value;
    syncBuiltinESMExports();
  };
  const { platform: own } = process;
  Object.defineProperty(process, 'platform', { value: platform });
  put(held);
  onTestFinished(async () => {
    put(rename);
    Object.defineProperty(process, 'platform', { value: own });
    await fs.rm(folder, { recursive: true });
  });
  return { store: fileStore(folder), failures: () => failed };
}

test.each(['EPERM', 'EACCES', 'EBUSY'])(
  'fileStore on Windows waits for a program that holds a file: %s',
  async (code) => {
    const { store, failures } = await heldStore('win32', code, 3);
    await store.set('key', 'value');
    expect([await store.get('key'), failures()]).toEqual(['value', 4]);
  },
);

test.each([
  ['win32', 'ENOSPC'],
  ['linux', 'EACCES'],
])('fileStore on %s does not wait after %s', async (platform, code) => {
  const { store, failures } = await heldStore(platform, code, 1);
  expect(await caught(Promise.resolve(store.set('key', 'value')))).toMatchObject({ code });
  expect(failures()).toBe(1);
});

test('fileStore on Windows gives up after two seconds', async () => {
  const { store } = await heldStore('win32', 'EBUSY', Number.POSITIVE_INFINITY);
  startVirtualClock();
  onTestFinished(stopVirtualClock);
  let error: unknown;
  void caught(Promise.resolve(store.set('key', 'value'))).then((thrown) => {
    error = thrown;
  });
  for (let steps = 0; error === undefined; steps += 1) {
    expect(steps).toBeLessThan(10_000);
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10);
  }
  expect(error).toMatchObject({ code: 'EBUSY' });
});
