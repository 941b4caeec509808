// The service, a proxy and the caller's own code put the API key wherever they can: nothing that this package says shows it.

import { DatabaseSync } from 'node:sqlite';
import {
  type Client,
  type ClientOptions,
  changes,
  createClient,
  type InvalidRecord,
  memoryStore,
  push,
  sync,
} from 'accounting-data-sdk';
import { discover, probe } from 'accounting-data-sdk/explore';
import { sqliteTarget } from 'accounting-data-sdk/targets';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught, thrown } from '../../support/caught.ts';
import { provocations } from '../../support/provocations.ts';
import { json, problem } from '../../support/responses.ts';
import {
  type FetchResponse,
  jsonResponse,
  networkError,
  scriptedClient,
  scriptedFetch,
} from '../../support/scripted-fetch.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { CANARIES, echoHeaders, echoMembers, encodings, leaks, shown } from '../../support/secrets.ts';
import { eventNames, openSinks } from '../../support/sinks.ts';

/** Looks different in a URL and in JSON. Errors with a plain key are in test/client/errors.test.ts. */
const [, KEY] = CANARIES;
const ECHO = echoHeaders(KEY);
const echoing = (status: number, type?: string, more: object = {}) =>
  problem(status, { ...echoMembers(KEY), ...more, type }, { ...ECHO, 'retry-after': '0' });

const PROBLEM = { 'content-type': 'application/problem+json' };

type Sinks = ReturnType<typeof openSinks>;

/** Does something with the key. Resolves to everything that its caller gets, except records. */
type Scenario = (sinks: Sinks) => Promise<readonly unknown[]>;

const clientOf = (baseUrl: string, own: ClientOptions = {}): Client =>
  createClient({
    baseUrl,
    apiKey: KEY,
    rateLimiter: false,
    retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 5 },
    maxBodyBytes: 2 ** 20,
    ...own,
  });

/** Every event of a client, the errors and metadata of its calls, and a sync that stops. */
async function everyEvent(own: ClientOptions, onCheckpoint?: Sinks['onCheckpoint']) {
  const limited = echoing(429, 'rate_limited');
  const rows = json([{ id: '1' }, { id: KEY, name: 7, [KEY]: KEY }], 200, ECHO);
  const ends = [json([], 200, ECHO), json([], 200, ECHO), echoing(403, 'forbidden')];
  await using server = await scriptedServer(echoing(503), limited, limited, rows, ...ends);
  const client = clientOf(server.url, { validation: 'report', pagination: 'page', ...own });
  const run = { store: memoryStore(), tenant: 'acme', onCheckpoint };
  const metas: unknown[] = [];
  for await (const _ of changes(client.products, run));
  expect(server.requests[0]?.headers['x-auth-token']).toBe(KEY);
  const onResponse = (meta: object) => void metas.push(meta, { ...meta });
  return [
    await caught(client.products.get('1', { onResponse })),
    await caught(sync(client, { ...run, onBatch: () => {}, signal: AbortSignal.abort() })),
    ...metas,
  ];
}

/** A record whose id, values and member names are the key. */
const keyAsRecord: Scenario = async ({ options }) => {
  const record = { id: KEY, name: KEY, [KEY]: KEY };
  const found = [json(record, 201, ECHO), json([record], 200, ECHO)];
  await using server = await scriptedServer(...found, echoing(503), echoing(404, 'not_found'));
  const client = clientOf(server.url, options);
  const { id } = await client.products.create({ name: 'Desk' });
  expect(await client.products.list().toArray({ limit: 1 })).toEqual([record]);
  const errors = [
    await caught(client.products.get(id)),
    await caught(client.products.update(id, { name: 'Desk' })),
    await caught(client.request({ path: [KEY, 'x'] })),
    await caught(client.request({ path: ['products', id] })),
  ];
  expect(server.requests.at(-1)?.url).toBe(`/api/public/v1/products/${encodeURIComponent(KEY)}`);
  const path = expect.stringContaining('/[redacted]');
  for (const error of errors) expect(error).toMatchObject({ code: 'not_found', path });
  return errors;
};

/** An invalid row, reported to the listener and on its page, and an error of the call that gets it alone. */
const invalidRow: Scenario = async ({ options, events }) => {
  const row = { id: `r-${KEY}`, name: KEY, [KEY]: `${KEY}!` };
  await using server = await scriptedServer(json([row], 200, ECHO), json([]), json([]), json(row, 200, ECHO));
  // The issues of a schema of the caller may name members and values.
  const quoting = z.looseObject({ id: z.string() }).superRefine((record, context) => {
    for (const [name, value] of Object.entries(record))
      context.addIssue({ code: 'custom', path: [name], message: `${name} is ${String(value)}` });
  });
  const client = clientOf(server.url, { ...options, validation: 'report', schemas: { products: quoting } });
  const seen: InvalidRecord[] = [];
  for await (const page of client.products.list().pages()) seen.push(...page.invalid);
  for (const { name, event } of events) if (name === 'invalidRecord') seen.push(event as InvalidRecord);
  expect(seen.map(({ id }) => id)).toEqual(['r-[redacted]', 'r-[redacted]']);
  for (const { record, issues } of seen) {
    expect(issues.length).toBeGreaterThan(0);
    expect(Object.keys(record as object)).toContain('[redacted]');
  }
  return [...seen, await caught(client.products.get('1'))];
};

/** A `fetch` that quotes the key in its errors. */
const quotingFetch: Scenario = async ({ options }) => {
  const cause = Object.assign(new Error(`X-AUTH-TOKEN: ${KEY}`), { code: `E_${KEY}`, headers: { KEY } });
  const named = Object.assign(new TypeError(`invalid "${KEY}"`, { cause }), { name: `Error of ${KEY}` });
  const fetches = [named, networkError(KEY)].map((error) => scriptedFetch(error));
  const failed = fetches.map((fetch) =>
    caught(clientOf('https://x.example', { ...options, fetch }).accounts.get('1')),
  );
  return await Promise.all(failed);
};

/** Wherever a record can hold the key: as its id, a value, a timestamp, the name of a member, deep inside. */
const rows = Array.from({ length: 30 }, (_, n) => ({
  id: n === 3 ? KEY : `r${n}-${KEY}`,
  ...{ token: KEY, accountId: KEY, salePrice: KEY, createdAt: KEY },
  [KEY]: { [KEY]: [KEY, { key: KEY }] },
  ...(n % 2 === 0 ? { status: `is ${KEY}` } : {}),
}));

/** Lists succeed, writes and reads of one record are rejected; every response echoes the key. */
const books: ScriptedResponse = (request, wire) => {
  const isRead = request.method === 'GET';
  const type = isRead ? `https://errors.example/${KEY}` : 'validation_failed';
  if (!isRead || /v1\/\w+\//.test(request.url))
    return echoing(isRead ? 404 : 422, type, { [KEY]: KEY })(request, wire);
  const headers = { ...ECHO, 'content-type': `application/json; key=${KEY}` };
  return json(/_page=[2-9]/.test(request.url) ? [] : rows, 200, headers)(request, wire);
};

const collections = ['accounts', 'products'] as const;

const probing: Scenario = async ({ options }) => {
  await using server = await scriptedServer(books);
  const seen: unknown[] = [];
  const see = (thing: unknown) => void seen.push(thing);
  const write = { draft: { remark: KEY } };
  const on = { onPlan: see, onProgress: see, onLeftBehind: see };
  const report = await probe(clientOf(server.url, options), { collections, write, ...on });
  expect(report.collections.map(({ access }) => access)).toEqual(['readable', 'readable']);
  expect(JSON.stringify(report)).toContain('[redacted]');
  return [report, ...seen];
};

const discovering: Scenario = async ({ options }) => {
  await using server = await scriptedServer(books);
  const seen: unknown[] = [];
  const onProgress = (progress: unknown) => void seen.push(progress);
  const found = await discover(clientOf(server.url, options), { collections, onProgress });
  expect(found.collections.map(({ records }) => records)).toEqual([30, 30]);
  expect(found.source).toContain("'[redacted]'");
  return [found, ...seen];
};

test.each<[string, Scenario]>([
  ['a row that is invalid by a schema that quotes values', invalidRow],
  ['a record that is the key', keyAsRecord],
  ['a fetch that quotes the key', quotingFetch],
  ['probe', probing],
  ['discover', discovering],
  ...provocations.map(({ what, provoke }): [string, Scenario] => {
    // Wrapped in another error too, as loggers and test runners do.
    const wrapped = (error: unknown) => [error, new AggregateError([error], 'outer', { cause: error })];
    return [what, async ({ options }) => wrapped(await provoke(KEY, options))];
  }),
])('no error, event, log line, span or measurement of it shows the key: %s', async (_, scenario) => {
  const sinks = openSinks();
  const seen = await scenario(sinks);
  expect(seen.length).toBeGreaterThan(0);
  expect(await sinks.leaks(KEY, ...seen)).toEqual([]);
});

test('no event, log line, span or measurement of any kind shows the key', async () => {
  const sinks = openSinks();
  const seen = await everyEvent(sinks.options, sinks.onCheckpoint);
  expect(await sinks.leaks(KEY, ...seen)).toEqual([]);
  expect(new Set(sinks.events.map(({ name }) => name))).toEqual(new Set([...eventNames, 'checkpoint']));
  const spans = await sinks.recorder.spans();
  expect(sinks.lines.length).toBeGreaterThan(10);
  expect(spans.length).toBeGreaterThan(3);
  expect(spans.filter(({ statusMessage }) => statusMessage !== undefined)).toEqual([]);
  const measured = ['accounting.client.invalid_records', 'accounting.sync.checkpoints'];
  expect([...(await sinks.recorder.metrics()).keys()]).toEqual(expect.arrayContaining(measured));
});

test('the code of an error that fetch throws does not show the key', async () => {
  const apiKey = 'k3y_0123456789';
  const fetch = scriptedFetch(Object.assign(new TypeError('fetch failed'), { code: `E${apiKey}` }));
  const error = await caught(clientOf('https://x.example', { apiKey, fetch }).accounts.get('1'));
  expect(String(error)).toContain('E[redacted]');
});

test('no line of ACCOUNTING_LOG shows the key', async () => {
  const lines: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((...parts) => void lines.push(parts));
  vi.stubEnv('ACCOUNTING_LOG', 'debug');
  await everyEvent({});
  expect(lines.length).toBeGreaterThan(10);
  expect(leaks(lines, KEY)).toEqual([]);
});

/** Responses and failures that say a text where services and proxies do. */
const echoes: Readonly<Record<string, (said: string) => FetchResponse>> = {
  'the detail of a problem': (said) => jsonResponse({ type: 'forbidden', detail: said }, 403, PROBLEM),
  'the message of another error': (said) => jsonResponse({ code: 403, message: said }, 403),
  'a JSON error that is not escaped twice': (said) =>
    new Response(`{"code":500,"message":"Invalid token ${said}"}`, {
      status: 500,
      headers: { 'content-type': 'application/json' },
    }),
  'a page': (said) => new Response(`<p>${said}</p>`, { headers: { 'content-type': 'text/html' } }),
  'a 200 that is no list': (said) => jsonResponse({ success: false, [said]: said }),
  'a header': (said) => jsonResponse({ type: 'forbidden' }, 403, { ...PROBLEM, 'x-request-id': said }),
  'a redirect': (said) => new Response(null, { status: 302, headers: { location: `/login?from=${said}` } }),
  'an error of fetch': (said) => new TypeError('fetch failed', { cause: new Error(`header "${said}"`) }),
};

test.each(Object.entries(echoes))(
  '%s shows no key in any encoding, and none that was rotated away',
  async (_, echo) => {
    const sinks = openSinks();
    const keys = ['rotated+away/7f3a==', KEY];
    const quoted = keys.flatMap((key) => Object.values(encodings).map((encode) => encode(key)));
    const fetch = scriptedFetch(jsonResponse({ id: '1' }), echo(quoted.join(' ')));
    const apiKey = () => keys[Math.min(fetch.requests.length, 1)] ?? '';
    const client = scriptedClient(fetch, { ...sinks.options, apiKey, retry: false });
    await client.accounts.get('1');
    const database = new DatabaseSync(':memory:');
    const results: unknown[] = [];
    const pushOptions = {
      tenant: 'acme',
      store: memoryStore(),
      key: 'name',
      rows: [{ name: 'Desk' }],
    } as const;
    const onResult = (result: unknown) => void results.push(result);
    const errors = [
      await caught(client.products.create({ name: 'Desk' })),
      await caught(sync(client, { tenant: 'acme', target: sqliteTarget(database), maxOutageMs: 0 })),
      await caught(push(client.products, { ...pushOptions, maxOutageMs: 0, visibleAfterMs: 0, onResult })),
    ];
    const statuses = database.prepare('SELECT * FROM sync_status').all();
    expect(statuses.filter(({ last_error }) => last_error !== null).length).toBeGreaterThan(0);
    for (const key of keys) expect(await sinks.leaks(key, ...errors, ...results, ...statuses)).toEqual([]);
  },
);

const BASE_URLS = ['https://user:KEY@x.example', 'https://x.example?key=KEY', 'KEY://x.example', 'KEY'];
const HEADER_VALUES = ['KEY\r\nx-evil: 1', 'KEYé', '\ud800KEY'];

test('a key in the place of a base URL, a header or an idempotency key is rejected and not shown', async () => {
  const [canary] = CANARIES;
  const baseUrl = 'https://x.example';
  const of = (form: string) => form.replaceAll('KEY', canary);
  const seen = BASE_URLS.map((form) => thrown(() => createClient({ baseUrl: of(form), apiKey: canary })));
  const { accounts, products } = createClient({ baseUrl, apiKey: 'k', fetch: () => Promise.reject() });
  for (const value of HEADER_VALUES.map(of)) {
    seen.push(
      thrown(() => createClient({ baseUrl, apiKey: value })),
      thrown(() => createClient({ baseUrl, apiKey: 'k', appInfo: { name: value } })),
      await caught(accounts.get('1', { headers: { 'x-trace': value } })),
      await caught(accounts.get('1', { headers: { [value]: 'x' } })),
      await caught(products.create({}, { idempotencyKey: value })),
      await caught(createClient({ baseUrl, apiKey: () => value }).accounts.get('1')),
    );
  }
  for (const error of seen) {
    expect(error).toMatchObject({ code: 'invalid_input', outcome: 'not_sent' });
    expect(leaks(error, canary)).toEqual([]);
  }
});

test('no object that a client, a list, a sync or a sandbox hands out shows the key', async () => {
  await using sandbox = createSandbox({ records: 40 });
  await sandbox.listen();
  const sinks = openSinks();
  const client = createClient({ ...sandbox.clientOptions, ...sinks.options });
  const seen: unknown[] = [];
  const see = (...things: readonly unknown[]) => void seen.push(...things);
  const memory = memoryStore();
  const store = { get: memory.get, set: (...pair: [string, string]) => [see(pair), memory.set(...pair)] };
  see(await sync(client, { store, tenant: 'acme', onBatch: see, onProgress: see }));
  await client.accounts.find('1', { onResponse: (meta) => see(meta, meta.headers) });
  const list = client.accounts.list();
  const pages = list.pages();
  see((await pages.next()).value, list, pages, list[Symbol.asyncIterator]());
  await pages.return?.();
  const { accounts, products, request } = client;
  see(client, client.withOptions({ timeoutMs: 5 }), client.rateLimit, accounts, products, request);
  see(accounts.get, client.collection('x'), sandbox.requests, sandbox.journal, store);
  expect(seen.length).toBeGreaterThan(40);
  see(changes(accounts, { store, tenant: 'other' }));
  expect(await sinks.leaks(sandbox.keys.full, ...seen)).toEqual([]);
});

test('spans, measurements and errors show no body of a request, and spans no query and no text of an error', async () => {
  const { recorder, options } = openSinks();
  const said = { type: 'validation_failed', title: 'books-1', detail: 'books-2', instance: '/books-3' };
  const violations = [{ propertyPath: 'books4', message: 'books-5', code: 'books-6' }];
  await using server = await scriptedServer(problem(422, { ...said, violations }), json([{ id: 'books-7' }]));
  const client = clientOf(server.url, options);
  expect(shown(await caught(client.products.create({ name: 'books-8' })))).not.toContain('books-8');
  await client.products.list({ updatedSince: '2026-01-31' }).toArray({ limit: 1 });
  expect(server.requests[1]?.url).toContain('2026-01-31');
  const measured = JSON.stringify([await recorder.spans(), ...(await recorder.metrics()).values()]);
  expect(measured).toContain('accounting ');
  expect(measured).not.toMatch(/books-?\d|2026-01-31/);
});

test('client.request returns what the service sent, unredacted, as lists do', async () => {
  await using server = await scriptedServer(books);
  const client = clientOf(server.url, { pagination: 'page' });
  expect(await client.request({ path: '/accounts' })).toEqual(rows);
  expect(await client.accounts.list().toArray({ limit: 30 })).toEqual(rows);
});

test('discover does not redact a key of one letter from its findings', async () => {
  await using server = await scriptedServer(json([{ id: '1', bank: 'kept' }]), json([]));
  const client = clientOf(server.url, { apiKey: 'k' });
  const { source } = await discover(client, { collections: ['accounts'] });
  expect(source).toContain('bank: ');
  expect(source).not.toContain('[redacted]');
});
