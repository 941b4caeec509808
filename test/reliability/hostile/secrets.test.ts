// The service, a proxy and the caller's own code put the API key wherever they can: nothing that this package says shows it.

import {
  type Client,
  type ClientOptions,
  changes,
  createClient,
  type InvalidRecord,
  memoryStore,
  type ResponseMeta,
  sync,
} from 'accounting-data-sdk';
import { discover, probe } from 'accounting-data-sdk/explore';
import { createSandbox } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { caught, thrown } from '../../support/caught.ts';
import { CANARIES, echoHeaders, echoMembers } from '../../support/echoes.ts';
import { leaks } from '../../support/leaks.ts';
import { everyKindOfResponse, provocations } from '../../support/provocations.ts';
import { json, problem } from '../../support/responses.ts';
import { networkError, scriptedFetch } from '../../support/scripted-fetch.ts';
import { type ScriptedResponse, scriptedServer } from '../../support/scripted-server.ts';
import { shown } from '../../support/shown.ts';
import { eventNames, openSinks } from '../../support/sinks.ts';

const ODD_CANARY = CANARIES[1];

type Sinks = ReturnType<typeof openSinks>;

/** Does something with a key. Resolves to everything that its caller gets, except records. */
type Scenario = (canary: string, sinks: Sinks) => Promise<readonly unknown[]>;

const clientOf = (baseUrl: string, apiKey: string, own: ClientOptions = {}): Client =>
  createClient({
    baseUrl,
    apiKey,
    rateLimiter: false,
    retry: { maxAttempts: 2, baseDelayMs: 1, maxDelayMs: 5 },
    maxBodyBytes: 2_000,
    ...own,
  });

/** Every event of a client, the errors and metadata of its calls, and a sync that stops. */
async function everyEvent(
  canary: string,
  own: ClientOptions,
  onCheckpoint?: Sinks['onCheckpoint'],
): Promise<readonly unknown[]> {
  await using server = await scriptedServer(...everyKindOfResponse(canary));
  const client = clientOf(server.url, canary, { validation: 'report', pagination: 'page', ...own });
  const run = { store: memoryStore(), tenant: 'acme', onCheckpoint };
  const metas: unknown[] = [];
  const onResponse = (meta: ResponseMeta) => void metas.push(meta, { ...meta });
  for await (const _ of changes(client.products, run));
  expect(server.requests[0]?.headers['x-auth-token']).toBe(canary);
  return [
    await caught(client.products.get('1', { onResponse })),
    await caught(sync(client, { ...run, onBatch: () => {}, signal: AbortSignal.abort() })),
    ...metas,
  ];
}

/** A record whose id, values and member names are the key. */
const keyAsRecord: Scenario = async (canary, sinks) => {
  const record = { id: canary, name: canary, [canary]: canary };
  const notFound = problem(404, { ...echoMembers(canary), type: 'not_found' }, echoHeaders(canary));
  await using server = await scriptedServer(
    json(record, 201, echoHeaders(canary)),
    json([record], 200, echoHeaders(canary)),
    problem(503, echoMembers(canary)),
    notFound,
  );
  const client = clientOf(server.url, canary, sinks.options);
  const { id } = await client.products.create({ name: 'Desk' });
  expect(await client.products.list().toArray({ limit: 1 })).toEqual([record]);
  const errors = [
    await caught(client.products.get(id)),
    await caught(client.products.update(id, { name: 'Desk' })),
    await caught(client.request({ path: ['products', id] })),
    await caught(client.request({ path: `/products/${encodeURIComponent(id)}` })),
  ];
  expect(server.requests.at(-1)?.url).toBe(`/api/public/v1/products/${encodeURIComponent(canary)}`);
  for (const error of errors)
    expect(error).toMatchObject({ code: 'not_found', path: '/products/[redacted]' });
  return errors;
};

/** Schemas whose issues name members and values, as those of a caller may. */
const schemas = {
  'our schema': undefined,
  'a strict schema': z.strictObject({ id: z.string() }),
  'a schema that quotes values': z.looseObject({ id: z.string() }).superRefine((record, context) => {
    for (const [name, value] of Object.entries(record))
      context.addIssue({ code: 'custom', path: [name], message: `${name} is ${String(value)}` });
  }),
};

/** An invalid row, reported to the listener and on its page, and an error of the call that gets it alone. */
const invalidBy =
  (schema: z.ZodType<{ id: string }> | undefined): Scenario =>
  async (canary, sinks) => {
    // A caller's schema checks only rows that are valid by the built-in schema.
    const fields = schema === undefined ? { name: 7, salePrice: canary } : { name: canary };
    const row = { id: `r-${canary}`, ...fields, [canary]: `${canary}!` };
    const echo = echoHeaders(canary);
    await using server = await scriptedServer(json([row], 200, echo), json([]), json(row, 200, echo));
    const client = createClient({
      baseUrl: server.url,
      apiKey: canary,
      validation: 'report',
      ...sinks.options,
      ...(schema === undefined ? {} : { schemas: { products: schema } }),
    });
    const seen: InvalidRecord[] = [];
    for await (const page of client.products.list().pages()) seen.push(...page.invalid);
    for (const { name, event } of sinks.events)
      if (name === 'invalidRecord') seen.push(event as InvalidRecord);
    expect(seen.map(({ id }) => id)).toEqual(['r-[redacted]', 'r-[redacted]']);
    for (const { record, issues } of seen) {
      expect(issues.length).toBeGreaterThan(0);
      expect(Object.keys(record as object)).toContain('[redacted]');
    }
    return [...seen, await caught(client.products.get('1'))];
  };

/** A `fetch` that quotes the key in its error. */
const quotingFetch: Scenario = async (canary, sinks) => {
  const cause = Object.assign(new Error(`X-AUTH-TOKEN: ${canary}`), {
    code: `E_${canary}`,
    headers: { canary },
  });
  const errors = [
    new TypeError(`invalid header value "${canary}"`, { cause }),
    networkError('ECONNRESET', canary),
    networkError(canary),
  ];
  const seen = [];
  for (const error of errors) {
    const client = clientOf('https://x.example', canary, { ...sinks.options, fetch: scriptedFetch(error) });
    seen.push(await caught(client.accounts.get('1')));
  }
  for (const error of seen) expect(error).toMatchObject({ code: 'connection_failed' });
  return seen;
};

const BASE_URLS = [
  ...[
    'https://user:KEY@x.example',
    'https://x.example?key=KEY',
    'https://x.example/#KEY',
    'http://KEY.example',
  ],
  ...['ftp://x.example/KEY', 'KEY://x.example', 'https://[KEY]', 'https://x.example:KEY', '//KEY', 'KEY'],
];
const HEADER_VALUES = ['KEY\r\nx-evil: 1', '\rKEY', 'KEY\0', 'KEYé', 'KEY😀', '\ud800KEY', 'KEY\x7f'];

test('a key in the place of a base URL, a header or an idempotency key is rejected and not shown', async () => {
  const [canary] = CANARIES;
  const baseUrl = 'https://x.example';
  const seen = BASE_URLS.map((form) =>
    thrown(() => createClient({ baseUrl: form.replaceAll('KEY', canary), apiKey: canary })),
  );
  const { accounts, products } = createClient({ baseUrl, apiKey: 'k', fetch: () => Promise.reject() });
  for (const form of HEADER_VALUES) {
    const value = form.replaceAll('KEY', canary);
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

/** Wherever a record can hold the key: as its id, a value, a timestamp, the name of a member, deep inside. */
const rowsOf = (canary: string) =>
  Array.from({ length: 30 }, (_, n) => ({
    id: n === 3 ? canary : `r${n}-${canary}`,
    token: canary,
    accountId: canary,
    salePrice: canary,
    createdAt: canary,
    [canary]: { [canary]: [canary, { key: canary }] },
    ...(n % 2 === 0 ? { status: `is ${canary}` } : {}),
  }));

/** Lists succeed, writes and reads of one record are rejected; every response echoes the key. */
const echoing =
  (canary: string): ScriptedResponse =>
  (request, wire) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    const isRead = request.method === 'GET';
    const echo = { ...echoHeaders(canary), 'content-type': `application/json; key=${canary}` };
    if (isRead && !pathname.replace('/api/public/v1/', '').includes('/'))
      return json(searchParams.get('_page') === '2' ? [] : rowsOf(canary), 200, echo)(request, wire);
    const type = isRead ? `https://errors.example/${canary}` : 'validation_failed';
    const members = { ...echoMembers(canary), [canary]: canary, type };
    return problem(isRead ? 404 : 422, members, echoHeaders(canary))(request, wire);
  };

const probing: Scenario = async (canary, sinks) => {
  await using server = await scriptedServer(echoing(canary));
  const seen: unknown[] = [];
  const see = (thing: unknown) => void seen.push(thing);
  const report = await probe(clientOf(server.url, canary, { ...sinks.options, maxBodyBytes: 2 ** 20 }), {
    collections: ['accounts', 'products'],
    write: { draft: { remark: canary } },
    onPlan: see,
    onProgress: see,
    onLeftBehind: see,
  });
  expect(report.collections.map(({ access }) => access)).toEqual(['readable', 'readable']);
  expect(JSON.stringify(report)).toContain('[redacted]');
  return [report, ...seen];
};

const discovering: Scenario = async (canary, sinks) => {
  await using server = await scriptedServer(echoing(canary));
  const client = clientOf(server.url, canary, { ...sinks.options, maxBodyBytes: 2 ** 20 });
  const seen: unknown[] = [];
  const onProgress = (progress: unknown) => void seen.push(progress);
  const found = await discover(client, { collections: ['accounts', 'products'], onProgress });
  expect(found.collections.map(({ records }) => records)).toEqual([30, 30]);
  expect(found.source).toContain("'[redacted]'");
  return [found, ...seen];
};

const scenarios: readonly (readonly [name: string, scenario: Scenario])[] = [
  ...Object.entries(schemas).map(
    ([name, schema]) => [`a row that is invalid by ${name}`, invalidBy(schema)] as const,
  ),
  ['every event', (canary, sinks) => everyEvent(canary, sinks.options, sinks.onCheckpoint)],
  ['a record that is the key', keyAsRecord],
  ['a fetch that quotes the key', quotingFetch],
  ['probe', probing],
  ['discover', discovering],
];

test.each(CANARIES.flatMap((canary) => scenarios.map(([name, scenario]) => ({ name, canary, scenario }))))(
  'no object, error, event, log line, span or measurement shows the key: $name, $canary',
  async ({ name, canary, scenario }) => {
    const sinks = openSinks();
    const seen = await scenario(canary, sinks);
    expect(await sinks.leaks(canary, ...seen)).toEqual([]);
    expect(seen.length).toBeGreaterThan(0);
    const spans = await sinks.recorder.spans();
    expect(spans.filter(({ statusMessage }) => statusMessage !== undefined)).toEqual([]);
    if (name !== 'every event') return;
    expect(new Set(sinks.events.map((event) => event.name))).toEqual(new Set([...eventNames, 'checkpoint']));
    expect(sinks.lines.length).toBeGreaterThan(10);
    expect(spans.length).toBeGreaterThan(3);
    expect([...(await sinks.recorder.metrics()).keys()]).toEqual(
      expect.arrayContaining(['accounting.client.invalid_records', 'accounting.sync.checkpoints']),
    );
  },
);

// Those of a key that looks the same in a URL and in JSON are in test/client/errors.test.ts.
test.each(provocations)(
  'neither the $name of $what nor an event, log line, span or measurement of it shows the key',
  async ({ provoke }) => {
    const sinks = openSinks();
    const error = await provoke(ODD_CANARY, sinks.options);
    // Wrapped in another error, as loggers and test runners do.
    const wrapped = new AggregateError([error], 'outer', { cause: error });
    expect(await sinks.leaks(ODD_CANARY, error, wrapped)).toEqual([]);
  },
);

test('no object that a client, a list, a sync or a sandbox hands out shows the key', async () => {
  await using sandbox = createSandbox({ records: 40 });
  await sandbox.listen();
  const sinks = openSinks();
  const client = createClient({ ...sandbox.clientOptions, ...sinks.options });
  const memory = memoryStore();
  const seen: unknown[] = [];
  const store = {
    get: memory.get,
    set: (key: string, value: string) => {
      seen.push(key, value);
      return memory.set(key, value);
    },
  };
  const onBatch = (batch: unknown) => void seen.push(batch);
  const onProgress = (progress: unknown) => void seen.push(progress);
  seen.push(await sync(client, { store, tenant: 'acme', onBatch, onProgress }));
  await client.accounts.find('1', { onResponse: (meta) => void seen.push(meta, meta.headers) });
  const list = client.accounts.list();
  const pages = list.pages();
  seen.push((await pages.next()).value, list, pages, list[Symbol.asyncIterator]());
  await pages.return?.();
  const { accounts, products, request } = client;
  const ofClient = [client, client.withOptions({ timeoutMs: 5 }), client.rateLimit, accounts, products];
  seen.push(...ofClient, request, accounts.get, client.collection('x'), sandbox.requests, sandbox.journal);
  expect(seen.length).toBeGreaterThan(40);
  seen.push(store, changes(accounts, { store, tenant: 'other' }));
  expect(await sinks.leaks(sandbox.keys.full, ...seen)).toEqual([]);
});

test('no line of ACCOUNTING_LOG shows the key', async () => {
  const lines: unknown[] = [];
  vi.spyOn(console, 'error').mockImplementation((...parts) => void lines.push(parts));
  vi.stubEnv('ACCOUNTING_LOG', 'debug');
  await everyEvent(ODD_CANARY, {});
  expect(lines.length).toBeGreaterThan(10);
  expect(leaks(lines, ODD_CANARY)).toEqual([]);
});

test('spans, measurements and errors show no body of a request, and spans no query and no text of an error', async () => {
  const { recorder, options } = openSinks();
  const said = { type: 'validation_failed', title: 'books-1', detail: 'books-2', instance: '/books-3' };
  const violations = [{ propertyPath: 'books4', message: 'books-5', code: 'books-6' }];
  await using server = await scriptedServer(problem(422, { ...said, violations }), json([{ id: 'books-7' }]));
  const client = clientOf(server.url, CANARIES[0], options);
  const error = await caught(client.products.create({ name: 'books-8' }));
  expect(shown(error)).not.toContain('books-8');
  await client.products.list({ updatedSince: '2026-01-31' }).toArray({ limit: 1 });

  expect(server.requests[1]?.url).toContain('2026-01-31');
  const measured = JSON.stringify([await recorder.spans(), ...(await recorder.metrics()).values()]);
  expect(measured).toContain('accounting ');
  expect(measured).not.toMatch(/books-?\d|2026-01-31/);
});

test('client.request returns what the service sent, unredacted, as lists do', async () => {
  const [canary] = CANARIES;
  await using server = await scriptedServer(echoing(canary));
  const client = clientOf(server.url, canary, { maxBodyBytes: 2 ** 20 });
  const rows = rowsOf(canary);
  expect(await client.request({ path: '/accounts' })).toEqual(rows);
  expect(await client.accounts.list({}, { pagination: 'page' }).toArray({ limit: 30 })).toEqual(rows);
});

test('discover does not redact a key of one letter from its findings', async () => {
  await using server = await scriptedServer(json([{ id: '1', bank: 'kept' }]), json([]));
  const { source } = await discover(clientOf(server.url, 'k'), { collections: ['accounts'] });
  expect(source).toContain('bank: ');
  expect(source).not.toContain('[redacted]');
});
