import {
  changes,
  createClient,
  memoryStore,
  push,
  refresh,
  sync,
  toDecimal,
  toMoney,
  verify,
} from 'accounting-data-sdk';
import { discover, probe, whoami } from 'accounting-data-sdk/explore';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox, sandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { listQuery } from '../../../src/collections/list-query.ts';
import { rawRequest } from '../../../src/collections/raw-request.ts';
import { createOptions } from '../../../src/collections/send-one.ts';
import { discoverOptions } from '../../../src/explore/discover/discover.ts';
import { probeOptions } from '../../../src/explore/probe/probe.ts';
import { whoamiOptions } from '../../../src/explore/whoami.ts';
import { is, type OptionTable, optional, required } from '../../../src/internal/options.ts';
import { moneyOptions } from '../../../src/money.ts';
import { telemetryOptions } from '../../../src/opentelemetry/telemetry-listeners.ts';
import { clientDefaults, clientOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync.ts';
import { listenOptions } from '../../../src/testing/adapters/server.ts';
import { requestOptions } from '../../../src/transport/call-options.ts';
import { caught } from '../../support/caught.ts';

const sandbox = createSandbox({ records: 28 });
const ofSandbox = sandbox.clientOptions;
const client = createClient(ofSandbox);
const nothing = () => {};
const run = { store: memoryStore(), tenant: 'acme' };
const deletions = { localIds: () => [], onDelete: nothing };

/** Everything that takes options, with the names that it knows; each gets its options as JavaScript would pass them. */
const TAKES_OPTIONS: readonly (readonly [where: string, table: OptionTable, act: (o: never) => unknown])[] = [
  [
    'createClient',
    clientOptions,
    ({ appInfo, ...o }: { appInfo?: object | null }) =>
      createClient({ ...ofSandbox, ...o, appInfo: appInfo && { name: 'shop', ...appInfo } } as object),
  ],
  ['withOptions', clientDefaults, (o) => client.withOptions(o)],
  ['list', listOptions, (o) => client.accounts.list({}, o)],
  ['the query of list', listQuery, (o) => client.accounts.list(o)],
  ['toArray', { limit: required(is.integer) }, (o) => client.accounts.list().toArray(o)],
  ['get', requestOptions, (o) => client.accounts.get('1', o)],
  ['find', requestOptions, (o) => client.accounts.find('1', o)],
  ['create', createOptions, (o) => client.products.create({}, o)],
  ['update', requestOptions, (o) => client.products.update('1', {}, o)],
  ['delete', requestOptions, (o) => client.products.delete('1', o)],
  ['request', requestOptions, (o) => client.request({ path: '/boms' }, o)],
  ['the request itself', rawRequest, (o: object) => client.request({ path: '/boms', ...o })],
  ['collection', { schema: optional(is.object) }, (o) => client.collection('boms', o)],
  [
    'sync',
    syncOptions,
    (o: object) => sync(client, { ...run, ...deletions, mode: 'full', onBatch: nothing, ...o }),
  ],
  ['changes', changesOptions, (o: object) => changes(client.accounts, { ...run, ...o }).next()],
  [
    'push',
    pushOptions,
    (o: object) =>
      push(client.products, { tenant: 'acme', rows: [], key: () => 'A', store: new Map(), ...o }),
  ],
  ['toMoney', moneyOptions, (o) => toMoney(toDecimal('1'), o)],
  ['probe', probeOptions, (o) => probe(client, o)],
  ['discover', discoverOptions, (o) => discover(client, o)],
  ['whoami', whoamiOptions, (o) => whoami(client, o)],
  ['telemetryListeners', telemetryOptions, (o) => telemetryListeners(o)],
  ['createSandbox', sandboxOptions, (o) => createSandbox(o)],
  ['listen', listenOptions, (o) => createSandbox().listen(o)],
];

/** The first two neighbouring letters that differ, from the second on, in the wrong order; in a short name the last letter twice. */
function swapped(name: string): string {
  if (name.length < 4) return `${name}${name.at(-1)}`;
  const at = [...name].findIndex((letter, index) => index > 0 && letter !== name[index + 1]);
  return `${name.slice(0, at)}${name[at + 1] ?? 'x'}${name[at]}${name.slice(at + 2)}`;
}

/** Every name of a table and of the tables inside it, as a path. */
function pathsOf(table: OptionTable, parent: readonly string[] = []): (readonly string[])[] {
  return Object.entries(table).flatMap(([name, { options }]) => [
    [...parent, name],
    ...(options === undefined ? [] : pathsOf(options, [...parent, name])),
  ]);
}

function nested(path: readonly string[], value: unknown): object {
  const [first = '', ...others] = path;
  return { [first]: others.length === 0 ? value : nested(others, value) };
}

/** What it throws or rejects with. */
const errorOf = (act: () => unknown) => caught((async () => act())());
const messageOf = async (act: () => unknown) => ((await errorOf(act)) as Error).message;

const all = TAKES_OPTIONS.flatMap(([where, table, act]) =>
  pathsOf(table).map((path) => ({ where, path, act })),
);

const misspelt = all.map(({ where, path, act }) => {
  const name = path.at(-1) ?? '';
  const wrong = [...path.slice(0, -1), swapped(name)];
  return { where, name, wrong: wrong.join('.'), act: () => act(nested(wrong, 1) as never) };
});

test('more than eighty misspelt names are tested', () => {
  expect(misspelt.length).toBeGreaterThan(80);
});

test.for(misspelt)(
  'a misspelt option is rejected by its name, and nothing is sent: $where, $wrong',
  async ({ wrong, name, act }) => {
    const before = sandbox.count();
    const message = await messageOf(act);
    expect(message).toContain(wrong.split('.').at(-1));
    expect(message).toContain(`Did you mean ${name}?`);
    expect(sandbox.count()).toBe(before);
  },
);

/** These throw a TypeError, because only tests call them. */
const OF_SANDBOX = ['createSandbox', 'listen'];
/** Null is a JSON value. */
const isBody = (where: string, path: readonly string[]) =>
  where === 'the request itself' && path[0] === 'body';
const nulls = all
  .filter(({ where, path }) => !OF_SANDBOX.includes(where) && !isBody(where, path))
  .map(({ where, path, act }) => ({
    where,
    option: path.join('.'),
    act: () => act(nested(path, null) as never),
  }));

test.for(nulls)('$where rejects null for $option', async ({ option, act }) => {
  // null must not mean these.
  vi.stubEnv('ACCOUNTING_BASE_URL', 'https://env.example');
  vi.stubEnv('ACCOUNTING_API_KEY', 'env-key');
  const before = sandbox.count();
  const error = await errorOf(act);
  expect(sandbox.count()).toBe(before);
  const [group] = option.split('.');
  expect(error).toMatchObject({ code: 'invalid_input', argument: expect.toBeOneOf([option, group]) });
});

test('an option that is undefined counts as left out', async () => {
  const undefineds = Object.fromEntries(Object.keys(clientOptions).map((name) => [name, undefined]));
  const own = createClient({ ...undefineds, ...ofSandbox });
  expect(await own.accounts.get('1')).toMatchObject({ id: '1' });
});

test.for([
  ['createClient', 'baseURL', 'baseUrl'],
  ['createClient', 'base_url', 'baseUrl'],
  ['createClient', 'timeout', 'timeoutMs'],
  ['createClient', 'apikey', 'apiKey'],
  ['createClient', 'url', 'baseUrl'],
  ['createClient', 'retrys', 'retry'],
  ['sync', 'collection', 'collections'],
  ['sync', 'onBatches', 'onBatch'],
  ['list', 'resume_from', 'resumeFrom'],
  ['create', 'idempotency', 'idempotencyKey'],
])(
  'the error of a misspelt option suggests the one that it looks like: %s, %s',
  async ([where = '', wrong = '', meant]) => {
    const [, , act] = TAKES_OPTIONS.find(([name]) => name === where) ?? [];
    expect(await messageOf(() => act?.({ [wrong]: 1 } as never))).toContain(`Did you mean ${meant}?`);
  },
);

test.for<[name: string, belongs: string, act: () => unknown]>([
  ['pagination', 'second argument of list', () => client.accounts.list({ pagination: 'keyset' } as object)],
  [
    'updatedSince',
    'first argument of list',
    () => client.accounts.list({}, { updatedSince: '2026-01-01' } as object),
  ],
  ['prefetch', 'an option of list', () => client.accounts.get('1', { prefetch: 2 } as object)],
  [
    'idempotencyKey',
    'an option of create',
    () => client.products.update('1', {}, { idempotencyKey: 'k' } as object),
  ],
  [
    'baseUrl',
    'Pass it to createClient',
    () => client.withOptions({ baseUrl: 'https://x.example' } as object),
  ],
  [
    'signal',
    'Pass it to a call',
    () => createClient({ ...ofSandbox, signal: AbortSignal.timeout(1) } as object),
  ],
  ['timeoutMs', 'second argument of request', () => client.request({ path: '/boms', timeoutMs: 5 } as never)],
])('the option %s in the wrong place is rejected, and the message says: %s', async ([name, belongs, act]) => {
  const message = await messageOf(act);
  expect(message).toMatch(new RegExp(`^${name}: is not an option of`));
  expect(message).toContain(belongs);
});

const target = { open: () => ({}) };
test.each([
  'pagination',
  'pageParameter',
  'afterLastPage',
  'listOrder',
  'parameters',
  'bareNotFound',
  'contentTypes',
  'ids',
])(
  'a run rejects %s, which says how the service behaves, and the message names createClient',
  async (name) => {
    const runs: readonly ((options: object) => unknown)[] = [
      (own) => sync(client, { ...run, onBatch: nothing, ...own }),
      (own) => changes(client.accounts, { ...run, ...own }),
      (own) => push(client.products, { ...key, ...own }),
      (own) => verify(client, { tenant: 'acme', target, ...own } as never),
      (own) => refresh(client.accounts, { tenant: 'acme', target, ids: ['1'], ...own } as never),
    ];
    const before = sandbox.count();
    // `ids` of refresh are the records.
    for (const start of name === 'ids' ? runs.slice(0, -1) : runs) {
      const message = await messageOf(() => start({ [name]: 'none' }));
      expect(message).toMatch(
        new RegExp(`^${name}: is not an option of \\w+\\. Pass it to createClient[.,]`),
      );
    }
    expect(sandbox.count()).toBe(before);
  },
);

test('an options object may have names without a value', () => {
  expect(() => createClient({ ...ofSandbox, basUrl: undefined } as object)).not.toThrow();
});

test('an options object is not checked if its names are the caller’s own', async () => {
  class Audit {
    entries: string[] = [];
    request(event: { readonly path: string }) {
      this.entries.push(event.path);
    }
  }
  const audit = new Audit();
  const own = createClient({ ...ofSandbox, on: audit });
  await own.accounts.get('1', { headers: { 'X-Anything': 'a' } });
  await own.request({ path: '/accounts', query: { anything: 'a' } });
  await own.products.create({ name: 'Desk', anything: 'a' } as object);
  expect(audit.entries).toEqual(['/accounts/1', '/accounts', '/products']);
});

test('an options object is shown in one line, whatever its names hold', async () => {
  const name = `a\nb${'c'.repeat(100)}`;
  const message = await messageOf(() => createClient({ ...ofSandbox, [name]: 1 }));
  expect(message).toMatch(/^"a\\nbc{37}": is not an option of createClient\. /);
});

const accounts = client.accounts;
const key = { tenant: 'acme', key: 'productNumber', rows: [], store: memoryStore() } as const;

/** Where options are passed, as a caller from JavaScript may pass anything in their place. */
const PLACES: Readonly<Record<string, (value: never) => unknown>> = {
  createClient: (value) => createClient(value),
  'createClient: retry': (retry) => createClient({ ...ofSandbox, retry }),
  withOptions: (value) => client.withOptions(value),
  'the query of list': (value) => accounts.list(value),
  list: (value) => accounts.list({}, value),
  get: (value) => accounts.get('1', value),
  find: (value) => accounts.find('1', value),
  create: (value) => client.products.create({}, value),
  update: (value) => client.products.update('1', {}, value),
  delete: (value) => client.products.delete('1', value),
  ping: (value) => client.ping(value),
  request: (value) => client.request({ path: '/boms' }, value),
  collection: (value) => client.collection('boms', value),
  changes: (value) => changes(accounts, value)[Symbol.asyncIterator]().next(),
  sync: (value) => sync(client, value),
  'sync: stopAfter': (stopAfter) =>
    sync(client, { tenant: 'acme', store: memoryStore(), onBatch: nothing, stopAfter }),
  push: (value) => push(client.products, value),
  'push: retry': (retry) => push(client.products, { ...key, retry }),
  toMoney: (value) => toMoney(toDecimal('1'), value),
  telemetryListeners: (value) => telemetryListeners(value),
  probe: (value) => probe(client, value),
};

const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();
const throwing = {
  get signal(): never {
    throw new RangeError('no signal');
  },
  get tenant(): never {
    throw new RangeError('no tenant');
  },
};

const NO_OPTIONS: readonly (readonly [what: string, value: unknown])[] = [
  ['a signal', new AbortController().signal],
  ['a Date', new Date()],
  ['a string', '2026-01-01'],
  ['a number', 30_000],
  ['an array', []],
  ['a Map', new Map()],
  ['a function', () => true],
  [
    'an object of a class',
    new (class Settings {
      timeoutMs = 1;
    })(),
  ],
  ['a revoked proxy', revoked],
  [
    'a proxy that throws',
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('hidden');
        },
      },
    ),
  ],
];

test.each(NO_OPTIONS)('%s in place of options is rejected everywhere', async (what, value) => {
  for (const [place, act] of Object.entries(PLACES)) {
    const error = await caught(Promise.resolve().then(() => act(value as never)));
    expect(error, place).toMatchObject({ code: 'invalid_input' });
    if (what === 'a signal' && !place.includes(':')) {
      expect((error as Error).message, place).toContain('pass the signal as { signal }');
    }
  }
});

test.each([
  ['a getter', () => accounts.get('1', throwing), 'options: cannot be read: it threw RangeError: no'],
  [
    'a getter',
    () => push(client.products, throwing as never),
    'options: cannot be read: it threw RangeError',
  ],
  [
    'a symbol',
    () => accounts.list({ updatedSince: Symbol('s') as never }),
    'updatedSince: must be a valid Date',
  ],
  [
    'an object',
    () => accounts.list({ updatedSince: { valueOf: 1 } as never }),
    'updatedSince: must be a valid',
  ],
  ['a proxy', () => accounts.get('1', { headers: revoked as never }), 'options: cannot be read'],
])('%s that throws is an invalid_input that names the argument (%#)', async (_, act, says) => {
  const error = await caught(Promise.resolve().then(act as () => unknown));
  expect(error).toMatchObject({ code: 'invalid_input', message: expect.stringContaining(says) });
});

test.each<[argument: string, act: (thrower: never) => unknown]>([
  ['draft', (draft) => client.products.create(draft)],
  ['patch', (patch) => client.products.update('1', patch)],
  ['client', (own) => sync(own, { ...run, onBatch: nothing })],
  ['client', (own) => sync(own, { ...run, onBatch: nothing, collections: ['accounts'] as never })],
  ['client', (own) => verify(own, { tenant: 'acme', target, collections: ['accounts'] as never } as never)],
])('a getter of the argument %s that throws is invalid input %#', async (argument, act) => {
  const thrower = {
    get accounts(): never {
      throw new RangeError('not today');
    },
  };
  const message = await messageOf(() => act(thrower as never));
  expect(message).toBe(`${argument}: cannot be read: it threw RangeError: not today.`);
});
