import {
  type CheckpointEvent,
  type ClientOptions,
  changes,
  createClient,
  memoryStore,
  type ResponseMeta,
  reconcile,
  sync,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught, thrown } from '../../../support/caught.ts';
import { CANARIES } from '../../../support/echoes.ts';
import { leaks } from '../../../support/leaks.ts';
import { everyKindOfResponse } from '../../../support/provocations.ts';
import { scriptedServer } from '../../../support/scripted-server.ts';
import { eventNames, openSinks } from '../../../support/sinks.ts';

const options = (apiKey: string, own: ClientOptions = {}) => ({
  apiKey,
  rateLimiter: false as const,
  retry: { baseDelayMs: 1, maxDelayMs: 5 },
  validation: 'report' as const,
  schemas: { accounts: z.looseObject({ id: z.string(), name: z.string().optional() }) },
  ...own,
});

/** A service that sends each kind of response, and a client that meets them all. */
async function everythingHappens(
  canary: string,
  own: ClientOptions = {},
  onCheckpoint?: (event: CheckpointEvent) => void,
): Promise<void> {
  await using server = await scriptedServer(...everyKindOfResponse(canary));
  const client = createClient({ baseUrl: server.url, ...options(canary, own) });
  const run = { store: memoryStore(), tenant: 'acme', pagination: 'page', onCheckpoint } as const;
  for await (const _ of changes(client.accounts, run));
  await caught(client.accounts.get('1'));
  await caught(sync(client, { ...run, onBatch: () => {}, signal: AbortSignal.abort() }));
  expect(server.requests.every(({ headers }) => headers['x-auth-token'] === canary)).toBe(true);
}

test.each(CANARIES)('no event, log line, span or measurement shows the key: %s', async (canary) => {
  const sinks = openSinks();
  await everythingHappens(canary, sinks.options, sinks.onCheckpoint);
  expect(new Set(sinks.events.map(({ name }) => name))).toEqual(new Set([...eventNames, 'checkpoint']));
  expect(sinks.lines.length).toBeGreaterThan(10);
  expect([...(await sinks.recorder.metrics()).keys()]).toEqual(
    expect.arrayContaining(['accounting.client.invalid_records', 'accounting.sync.checkpoints']),
  );
  expect(await sinks.leaks(canary)).toEqual([]);
});

test.each(CANARIES)('no line of ACCOUNTING_LOG shows the key: %s', async (canary) => {
  const lines: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((...parts) => void lines.push(parts));
  vi.stubEnv('ACCOUNTING_LOG', 'debug');
  await everythingHappens(canary);
  expect(lines.length).toBeGreaterThan(10);
  expect(leaks(lines, canary)).toEqual([]);
});

test('what a sync hands out and keeps shows no key', async () => {
  await using sandbox = createSandbox({ records: 40 });
  await sandbox.listen();
  const canary = sandbox.keys.full;
  const sinks = openSinks();
  const client = createClient({ ...sandbox.clientOptions, ...sinks.options });
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
  const own = [sandbox.requests, sandbox.journal, client, client.withOptions({ timeoutMs: 5 })];
  const all = [report, reconciled, source, store, ...kept, ...metas, metas[0]?.headers, ...own];
  expect(await sinks.leaks(canary, ...all)).toEqual([]);
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
