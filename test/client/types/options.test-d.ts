// Options that are none: each line compiled once, and most of them were ignored at run time.

import { changes, createClient, memoryStore, push, sync, toMoney } from 'accounting-data-sdk';
import { createSandbox, faultyFetch } from 'accounting-data-sdk/testing';
import { test } from 'vitest';

declare const controller: AbortController;
const client = createClient();
const { signal } = controller;
const run = { tenant: 'acme', store: memoryStore(), onBatch: () => {} };

test('anything but an object of options does not compile', () => {
  // @ts-expect-error
  client.accounts.get('1', signal);
  // @ts-expect-error
  client.accounts.find('1', signal);
  // @ts-expect-error
  client.accounts.list({}, signal);
  // @ts-expect-error
  client.accounts.list(signal);
  // @ts-expect-error
  client.accounts.list(new Date());
  // @ts-expect-error
  client.accounts.list('2026-01-01');
  // @ts-expect-error
  client.accounts.list({ id: '5' });
  // @ts-expect-error
  client.products.create({ name: 'x' }, 'key-1');
  // @ts-expect-error
  client.products.create({ name: 'x' }, signal);
  // @ts-expect-error
  client.products.update('1', {}, signal);
  // @ts-expect-error
  client.products.delete('1', signal);
  // @ts-expect-error
  client.withOptions(signal);
  // @ts-expect-error
  client.withOptions(3);
  // @ts-expect-error
  client.ping(signal);
  // @ts-expect-error
  client.request({ path: '/x' }, signal);
  // @ts-expect-error
  createClient({ retry: 3 });
  // @ts-expect-error
  createClient({ retry: true });
  // @ts-expect-error
  createClient(signal);
  // @ts-expect-error
  createClient({ appInfo: 'shop' });
  // @ts-expect-error
  createClient({ contentTypes: 'application/json' });
  // @ts-expect-error
  createClient({ on: () => {} });
  // @ts-expect-error
  sync(client, { ...run, stopAfter: 30_000 });
  // @ts-expect-error
  sync(client, { ...run, retry: 3 });
  // @ts-expect-error
  changes(client.accounts, { ...run, id: '5' });
  // @ts-expect-error
  push(client.products, { tenant: 'a', key: 'productNumber', rows: [], store: memoryStore(), retry: 3 });
  // @ts-expect-error
  toMoney({} as never, 2);
  // @ts-expect-error
  createSandbox(500);
  // @ts-expect-error
  createSandbox({}).listen(4010);
  // @ts-expect-error
  createSandbox({}).faults.add({ kind: 'stall' }, () => true);
  // @ts-expect-error
  createSandbox({}).faults.next({ kind: 'stall' }, () => true);
  // @ts-expect-error
  faultyFetch(fetch, { kind: 'stall' });
});

test('a list that is awaited does not compile', async () => {
  // @ts-expect-error: "for await (const record of list), or await list.toArray({ limit })"
  await client.products.list();
  await client.products.list().toArray({ limit: 5 });
  await client.products.list().first();
  // @ts-expect-error: an array needs a limit
  await client.products.list().toArray();
});

test('a table by collection does not compile if it names no collection of the client', () => {
  createClient({ pagination: { budgetLines: 'none', accounts: undefined } });
  // @ts-expect-error
  createClient({ pagination: { account: 'page' } });
  // @ts-expect-error
  createClient({ pagination: { 'account-addresses': 'page' } });
  // @ts-expect-error
  createClient().withOptions({ pagination: { invoices: 'none' } });
  // @ts-expect-error
  createSandbox({ records: { account: 5 } });
  // @ts-expect-error
  createSandbox({ fixtures: { account: [] } });
  // @ts-expect-error
  createSandbox({}).store.load({ account: [] });
  // @ts-expect-error
  createClient({ schemas: { account: undefined } });
});
