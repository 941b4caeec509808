import {
  type ClientDefaults,
  type ClientOptions,
  changes,
  createClient,
  memoryStore,
  push,
  sync,
  toDecimal,
  toMoney,
} from 'accounting-data-sdk';
import { discover, probe, whoami } from 'accounting-data-sdk/explore';
import { telemetryListeners } from 'accounting-data-sdk/opentelemetry';
import { createSandbox, sandboxOptions } from 'accounting-data-sdk/testing';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { listQuery } from '../../../src/collections/list-query.ts';
import { rawRequest } from '../../../src/collections/raw-request.ts';
import { createOptions } from '../../../src/collections/send-one.ts';
import { discoverOptions } from '../../../src/explore/discover/discover.ts';
import { probeOptions } from '../../../src/explore/probe/probe.ts';
import { whoamiOptions } from '../../../src/explore/whoami.ts';
import { is, type OptionTable, optional, required } from '../../../src/internal/options.ts';
import { moneyOptions } from '../../../src/money.ts';
import { telemetryOptions } from '../../../src/opentelemetry/telemetry-listeners.ts';
import { changedDefaults, clientDefaults, clientOptions, resolveOptions } from '../../../src/options.ts';
import { listOptions } from '../../../src/pagination/list-options.ts';
import { pushOptions } from '../../../src/push/options.ts';
import { changesOptions } from '../../../src/sync/changes.ts';
import { syncOptions } from '../../../src/sync/sync-options.ts';
import { listenOptions } from '../../../src/testing/adapters/server.ts';
import { requestOptions } from '../../../src/transport/call-options.ts';
import { caught } from '../../support/caught.ts';

const sandbox = createSandbox({ records: 28 });
const ofSandbox = sandbox.clientOptions;
const client = createClient(ofSandbox);
const { accounts, products } = client;
const nothing = () => {};
const run = { store: memoryStore(), tenant: 'acme' };
const ofPush = { ...run, rows: [], key: () => 'A' };

type Options = Record<string, unknown>;

/** Everything that takes options: its table, the call with options as JavaScript would pass them, and those that it needs. */
const TAKERS: Readonly<Record<string, readonly [OptionTable, (options: never) => unknown, Options?]>> = {
  createClient: [clientOptions, (o) => createClient(o), { ...ofSandbox }],
  withOptions: [clientDefaults, (o) => client.withOptions(o)],
  list: [listOptions, (o) => accounts.list({}, o)],
  'the query of list': [listQuery, (o) => accounts.list(o)],
  toArray: [{ limit: required(is.integer) }, (o) => accounts.list().toArray(o)],
  get: [requestOptions, (o) => accounts.get('1', o)],
  find: [requestOptions, (o) => accounts.find('1', o)],
  create: [createOptions, (o) => products.create({}, o)],
  update: [requestOptions, (o) => products.update('1', {}, o)],
  delete: [requestOptions, (o) => products.delete('1', o)],
  ping: [requestOptions, (o) => client.ping(o)],
  request: [requestOptions, (o) => client.request({ path: '/boms' }, o)],
  'the request itself': [rawRequest, (o) => client.request(o), { path: '/boms' }],
  collection: [{ schema: optional(is.object) }, (o) => client.collection('boms', o)],
  sync: [
    syncOptions,
    (o) => sync(client, o),
    { ...run, mode: 'full', onBatch: nothing, localIds: () => [], onDelete: nothing },
  ],
  changes: [changesOptions, (o) => changes(accounts, o).next(), run],
  push: [pushOptions, (o) => push(products, o), ofPush],
  toMoney: [moneyOptions, (o) => toMoney(toDecimal('1'), o)],
  probe: [probeOptions, (o) => probe(client, o)],
  discover: [discoverOptions, (o) => discover(client, o)],
  whoami: [whoamiOptions, (o) => whoami(client, o)],
  telemetryListeners: [telemetryOptions, (o) => telemetryListeners(o)],
  createSandbox: [sandboxOptions, (o) => createSandbox(o)],
  listen: [listenOptions, (o) => createSandbox().listen(o)],
};

/** These throw a TypeError, because only tests call them. */
const isOfSandbox = (where: string) => ['createSandbox', 'listen'].includes(where);

const errorOf = (act: () => unknown) => caught((async () => act())()) as Promise<Error>;
const messageOf = async (act: () => unknown) => (await errorOf(act)).message;

/** A misspelt name: two neighbouring letters in the wrong order, or in a short name the last letter twice. */
function misspelt(name: string): string {
  if (name.length < 4) return `${name}${name.at(-1)}`;
  const at = [...name].findIndex((letter, index) => index > 0 && letter !== name[index + 1]);
  return `${name.slice(0, at)}${name[at + 1] ?? 'x'}${name[at]}${name.slice(at + 2)}`;
}

/** Every option of a table and of the tables inside it. */
function optionsIn(table: OptionTable, parent: readonly string[] = []): [string[], OptionTable[string]][] {
  return Object.entries(table).flatMap(([name, entry]) => [
    [[...parent, name], entry] as [string[], OptionTable[string]],
    ...optionsIn(entry.options ?? {}, [...parent, name]),
  ]);
}

function nested([first = '', ...others]: readonly string[], value: unknown, needed: Options): Options {
  if (others.length === 0) return { [first]: value };
  return { [first]: { ...(needed[first] as Options), ...nested(others, value, {}) } };
}

/** What a group of options needs. */
const NEEDED: Options = { appInfo: { name: 'shop' } };

/** Values that are wrong for most options. */
const WRONG = [null, Symbol('s'), Number.NaN, -1, 'no\nvalue', [null], { none: 1 }, nothing, true];
/** Null is a JSON value, as is everything else that the check of a body cannot know. */
const isBody = (where: string, [name]: readonly string[]) =>
  where === 'the request itself' && name === 'body';

const OPTIONS = Object.entries(TAKERS).flatMap(([where, [table]]) =>
  optionsIn(table).map(([path, entry]) => ({ where, option: path.join('.'), path, entry })),
);

test.for(OPTIONS)('$where checks $option: its name and its value', async ({ where, path, entry }) => {
  const [, call, base] = TAKERS[where] ?? [];
  const act = (names: readonly string[], value: unknown) => () =>
    call?.({ ...base, ...nested(names, value, NEEDED) } as never);
  // null must not mean these.
  vi.stubEnv('ACCOUNTING_BASE_URL', 'https://env.example');
  vi.stubEnv('ACCOUNTING_API_KEY', 'env-key');
  const before = sandbox.count();
  const name = path.at(-1) ?? '';
  const wrong = [...path.slice(0, -1), misspelt(name)];
  const message = await messageOf(act(wrong, 1));
  expect(message).toContain(wrong.at(-1));
  expect(message).toContain(`Did you mean ${name}?`);
  if (!isBody(where, path)) {
    for (const value of WRONG.filter((one) => (one === null && !isOfSandbox(where)) || !entry.allows(one))) {
      const error = await errorOf(act(path, value));
      if (isOfSandbox(where)) expect(error.message).toContain(path[0]);
      else {
        const argument = expect.toBeOneOf([path.join('.'), path[0]]);
        expect(error, String(value)).toMatchObject({ code: 'invalid_input', argument, outcome: 'not_sent' });
      }
    }
  }
  expect(sandbox.count()).toBe(before);
});

const { proxy: revoked, revoke } = Proxy.revocable({}, {});
revoke();

test.each<[what: string, value: unknown]>([
  ['null', null],
  ['a signal', new AbortController().signal],
  ['an array', []],
])('%s in place of options is rejected everywhere', async (what, value) => {
  for (const [where, [, call]] of Object.entries(TAKERS)) {
    if (isOfSandbox(where)) continue;
    const error = await errorOf(() => call(value as never));
    expect(error, where).toMatchObject({ code: 'invalid_input' });
    if (what === 'a signal') expect(error.message, where).toContain('pass the signal as { signal }');
  }
});

// Each kind of check once: what it allows, and what it does not.
test.each<[option: string, allowed: readonly unknown[], rejected: readonly unknown[]]>([
  ['timeoutMs', [1, Number.POSITIVE_INFINITY, undefined], [0, Number.NaN, '5']],
  ['maxWaitMs', [0], [-1]],
  ['retry', [false, {}, { maxAttempts: 1, baseDelayMs: 0 }], [3, [3], true, { maxAttempts: 0 }]],
  [
    'contentTypes',
    [{ update: 'application/merge-patch+json' }, { create: 'application/vnd.own+json; charset=utf-8' }],
    // JSON Patch is a list of operations.
    [{ update: 'application/json-patch+json' }, { create: 'text/json' }, { create: 'application/json;q=1' }],
  ],
  ['appInfo', [{ name: 'shop' }], [{}, { name: 'web shop' }, { name: '' }, { name: 'a', version: 'x\n' }]],
  ['on', [{}, [{ wait: nothing }]], [null, [null], { request: 'console' }, [{}, { retry: null }]]],
  [
    'schemas',
    [{ accounts: z.object({ id: z.string() }) }],
    [null, [], { accounts: {} }, { acounts: z.string() }],
  ],
  ['baseUrl', ['http://127.0.0.1:1'], ['http://books.example', 'ftp://books.example', 'no url']],
])('createClient allows some values of %s and rejects others', (option, allowed, rejected) => {
  const create = (value: unknown) => createClient({ ...ofSandbox, [option]: value } as ClientOptions);
  for (const value of allowed) expect(() => create(value)).not.toThrow();
  for (const value of rejected) {
    const argument = expect.stringMatching(new RegExp(`^${option}(?:[.[]|$)`));
    expect(() => create(value)).toThrow(expect.objectContaining({ code: 'invalid_input', argument }));
  }
});

test.each<[place: string, words: string, act: () => unknown]>([
  ['pagination', 'second argument of list', () => accounts.list({ pagination: 'keyset' } as object)],
  ['prefetch', 'an option of list', () => accounts.get('1', { prefetch: 2 } as object)],
  [
    'afterLastPage',
    'Pass it to createClient',
    () => sync(client, { ...run, onBatch: nothing, afterLastPage: 'empty' } as object as never),
  ],
  ['signal', 'Pass it to a call', () => createClient({ signal: AbortSignal.timeout(1) } as object)],
  ['tenant', 'is missing; it must be', () => sync(client, { store: run.store, onBatch: nothing } as never)],
  ['pageSize', 'itemsPerPage', () => accounts.list({}, { pageSize: 100 } as object)],
  ['per_page', 'in the second argument of list', () => accounts.list({ per_page: 100 } as object)],
  ['options', 'toArray({ limit: 10 })', () => accounts.list().toArray(10 as never)],
  ['list', 'await list.toArray({ limit: 100 })', async () => await (accounts.list() as object)],
  ['limit', 'toArray({ limit: 10 })', () => accounts.list({ limit: 10 } as object)],
  ['base_url', 'Did you mean baseUrl?', () => createClient({ base_url: 1 } as object)],
  [
    'validation',
    "must be 'throw', 'report' or 'off'",
    () => client.withOptions({ validation: 'x' as never }),
  ],
  ['headers', 'cannot be read', () => accounts.get('1', { headers: revoked as never })],
])('the error of %s says: %s (%#)', async (place, words, act) => {
  const message = await messageOf(act);
  expect(message).toMatch(new RegExp(`^(?:${place}|options)`));
  expect(message).toContain(words);
});

test('names are not checked where they are the caller’s own', async () => {
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

test('an option that is undefined counts as left out, whatever its name', async () => {
  const undefineds = Object.fromEntries(
    Object.keys({ ...clientOptions, basUrl: 1 }).map((name) => [name, undefined]),
  );
  expect(await createClient({ ...undefineds, ...ofSandbox }).accounts.get('1')).toMatchObject({ id: '1' });
});

test.each(
  Object.entries({
    timeoutMs: 1_000,
    deadlineMs: 2_000,
    maxWaitMs: 3_000,
    retry: { maxAttempts: 2 },
    pagination: 'page',
    prefetch: 2,
    listOrder: 'id',
    afterLastPage: 'not_found',
    pageParameter: 'p',
    parameters: { limit: '50' },
    validation: 'off',
  } satisfies Required<ClientDefaults>),
)('withOptions keeps %s of its client, and a client that it returns keeps it too', (name, value) => {
  const { defaults } = resolveOptions({ ...ofSandbox, [name]: value });
  expect(defaults).not.toEqual(resolveOptions(ofSandbox).defaults);
  expect(changedDefaults(changedDefaults(defaults, {}), {})).toEqual(defaults);
  expect(changedDefaults(resolveOptions(ofSandbox).defaults, { [name]: value })).toEqual(defaults);
});

test('a client of withOptions is the start of another, and leaves its own client as it was', async () => {
  const own = createSandbox();
  const first = createClient(own.clientOptions);
  const second = first.withOptions({ parameters: { size: '5' } });
  for (const each of [second, second.withOptions({ timeoutMs: 5_000 }), first]) {
    own.clearLogs();
    await each.boms.list().toArray({ limit: 9 });
    expect(own.requests[0]?.query.size).toBe(each === first ? undefined : '5');
  }
});
