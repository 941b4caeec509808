import {
  type ClientOptions,
  changes,
  createClient,
  type Listeners,
  memoryStore,
  type ResponseMeta,
  reconcile,
  sync,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught, thrown } from '../../support/caught.ts';
import { CANARIES } from '../../support/echoes.ts';
import { leaks } from '../../support/leaks.ts';
import { everyKindOfResponse } from '../../support/provocations.ts';
import { scriptedServer } from '../../support/scripted-server.ts';

/** Every event there is: the type holds the list complete. */
const EVENTS: Readonly<Record<keyof Listeners, true>> = {
  request: true,
  response: true,
  deprecated: true,
  retry: true,
  wait: true,
  error: true,
  end: true,
  invalidRecord: true,
};
const eventNames = Object.keys(EVENTS).sort();

let events: { name: string; event: unknown }[] = [];
const on: Listeners = Object.fromEntries(
  eventNames.map((name) => [name, (event: unknown) => void events.push({ name, event })]),
);

const onCheckpoint = (event: unknown) => void events.push({ name: 'checkpoint', event });

beforeEach(() => {
  events = [];
});
afterEach(() => {
  vi.restoreAllMocks();
});

const options = (apiKey: string, own: ClientOptions = {}) => ({
  apiKey,
  rateLimiter: false as const,
  retry: { baseDelayMs: 1, maxDelayMs: 5 },
  validation: 'report' as const,
  schemas: { accounts: z.looseObject({ id: z.string(), name: z.string().optional() }) },
  on,
  ...own,
});

async function everythingHappens(url: string, canary: string, own: ClientOptions = {}): Promise<void> {
  const client = createClient({ baseUrl: url, ...options(canary, own) });
  const run = { store: memoryStore(), tenant: 'acme', pagination: 'page', onCheckpoint } as const;
  for await (const _ of changes(client.accounts, run));
  await caught(client.accounts.get('1'));
}

test.each(CANARIES)('every event is emitted, and none shows the key: %s', async (canary) => {
  await using server = await scriptedServer(...everyKindOfResponse(canary));
  await everythingHappens(server.url, canary);
  expect([...new Set(events.map(({ name }) => name))].sort()).toEqual([...eventNames, 'checkpoint'].sort());
  for (const { event } of events) {
    // An invalid row is the company's data and is passed on unchanged.
    expect(leaks({ ...(event as object), record: undefined }, canary)).toEqual([]);
  }
  expect(server.requests.every(({ headers }) => headers['x-auth-token'] === canary)).toBe(true);
});

test.each(CANARIES)('no line of a logger or of ACCOUNTING_LOG shows the key: %s', async (canary) => {
  const lines: string[] = [];
  const write = (...parts: unknown[]) => void lines.push(parts.map(String).join(' '));
  vi.spyOn(console, 'error').mockImplementation(write);
  vi.stubEnv('ACCOUNTING_LOG', 'debug');
  await using server = await scriptedServer(...everyKindOfResponse(canary));
  await everythingHappens(server.url, canary);
  const before = lines.length;
  expect(before).toBeGreaterThan(10);
  await using again = await scriptedServer(...everyKindOfResponse(canary));
  await everythingHappens(again.url, canary, { logger: { debug: write, info: write, warn: write } });
  expect(lines.length - before).toBeGreaterThan(10);
  expect(leaks(lines, canary)).toEqual([]);
});

test('what a sync hands out and keeps shows no key', async () => {
  await using sandbox = createSandbox({ records: 40 });
  await sandbox.listen();
  const canary = sandbox.keys.full;
  const client = createClient({ ...sandbox.clientOptions, on });
  const store = memoryStore();
  const kept: unknown[] = [];
  const report = await sync(client, {
    store: {
      get: store.get,
      set: (key, value) => {
        kept.push(key, value);
        return store.set(key, value);
      },
    },
    tenant: 'acme',
    onBatch: (batch) => void kept.push(batch),
    onProgress: (progress) => void kept.push(progress),
  });
  const reconciled = await reconcile(client.accounts, {
    localIds: () => [],
    onDelete: () => undefined,
    onRepair: () => undefined,
  });
  const source = changes(client.accounts, { store, tenant: 'other' });
  const metas: ResponseMeta[] = [];
  await client.accounts.list().toArray({ limit: 1 });
  await client.accounts.find('1', { onResponse: (meta) => void metas.push(meta) });
  expect(kept.length).toBeGreaterThan(20);
  expect(metas).toHaveLength(1);
  expect(sandbox.requests[0]).toBeDefined();
  for (const thing of [report, reconciled, source, store, ...kept, ...metas, metas[0]?.headers, events]) {
    expect(leaks(thing, canary)).toEqual([]);
  }
  for (const thing of [sandbox.requests, sandbox.journal, client, client.withOptions({ timeoutMs: 5 })]) {
    expect(leaks(thing, canary)).toEqual([]);
  }
});

test.each([
  'https://KEY@x.example',
  'https://user:KEY@x.example',
  'https://x.example?key=KEY',
  'https://x.example/#KEY',
  'http://KEY.example',
  'ftp://x.example/KEY',
  'KEY://x.example',
  '//KEY',
  'KEY',
  'https://[KEY]',
  'https://x.example:KEY',
  'https://x.example:99999/KEY',
  'data:KEY',
  'javascript:KEY',
  'blob:https://x.example/KEY',
  'https://KEY%zz',
  'https://x y/KEY',
  '\u0000KEY',
])('the error for the base URL %j does not quote it', (form) => {
  const canary = CANARIES[0];
  const baseUrl = form.replaceAll('KEY', canary);
  const error = thrown(() => createClient({ baseUrl, apiKey: canary }));
  expect(error).toMatchObject({ code: 'invalid_input', argument: 'baseUrl', outcome: 'not_sent' });
  expect(leaks(error, canary)).toEqual([]);
});

const badValues = [
  'KEY\r\nx-evil: 1',
  'KEY\n',
  '\rKEY',
  'KEY\0',
  'KEY\u0080',
  'KEYé',
  'KEY😀',
  '\ud800KEY',
  'KEY\x7f',
];

test.each(badValues)('no error for the header value %j quotes it', async (form) => {
  const canary = CANARIES[0];
  const value = form.replaceAll('KEY', canary);
  const client = createClient({ baseUrl: 'https://x.example', apiKey: 'k', fetch: () => Promise.reject() });
  const errors = [
    thrown(() => createClient({ baseUrl: 'https://x.example', apiKey: value })),
    thrown(() => createClient({ baseUrl: 'https://x.example', apiKey: 'k', appInfo: { name: value } })),
    await caught(client.accounts.get('1', { headers: { 'x-trace': value } })),
    await caught(client.accounts.get('1', { headers: { [value]: 'x' } })),
    await caught(client.products.create({}, { idempotencyKey: value })),
    await caught(createClient({ baseUrl: 'https://x.example', apiKey: () => value }).accounts.get('1')),
  ];
  for (const error of errors) {
    expect(error).toMatchObject({ code: 'invalid_input', outcome: 'not_sent' });
    expect(leaks(error, canary)).toEqual([]);
  }
});
