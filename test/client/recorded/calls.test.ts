import { type Client, type ClientOptions, createClient, type Listeners } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { jsonResponse, networkError, noResponse, problemResponse } from '../../support/scripted-fetch.ts';
import { runToEnd, startEvenClock, useVirtualClock } from '../../support/virtual-clock.ts';
import { withoutChance } from '../../support/without-chance.ts';

useVirtualClock();

/** What comes after 100 ms: a response, an error of the network, or a function of the signal. */
type Scripted = Response | Error | ((signal: AbortSignal) => Promise<Response>);

const ok = (headers = {}) => jsonResponse({ id: '1', name: 'Desk' }, 200, headers);
const limited = (headers = {}) => problemResponse(429, { type: 'rate_limited' }, headers);
const quota = (remaining: number, headers = {}) => ({
  'x-ratelimit-limit': '10',
  'x-ratelimit-remaining': `${remaining}`,
  ...headers,
});
const DOWN = { title: 'Down for a moment' };
const lost = networkError('ECONNRESET');
const never: Scripted = (signal) => noResponse(signal);
/** The head comes, and then nothing more. */
const half = (status: number): Exclude<Scripted, Response | Error> => {
  const body = () =>
    new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode('{')),
      cancel: () => said('the body is cancelled'),
    });
  return async () => new Response(body(), { status, headers: { 'content-type': 'application/json' } });
};

interface Play {
  readonly script: readonly Scripted[];
  readonly options?: ClientOptions;
  readonly call?: (client: Client, controller: AbortController) => Promise<unknown>;
  /** When the caller aborts, in ms. */
  readonly abortAt?: number;
}

type Caller = NonNullable<Play['call']>;

const get: Caller = (client, { signal }) => client.products.get('1', { signal });
const create: Caller = (client, { signal }) => client.products.create({ name: 'Desk' }, { signal });
const update: Caller = (client, { signal }) => client.products.update('1', { name: 'Desk' }, { signal });
const remove: Caller = (client, { signal }) => client.products.delete('1', { signal });
const ping: Caller = (client, { signal }) => client.ping({ signal });

const page = new Response('<h1>Busy</h1>', { headers: { 'content-type': 'text/html' } });

/** A function for the key that returns it once. */
function once(key: string, later: () => Promise<string>): () => Promise<string> {
  let isFirst = true;
  return () => {
    if (!isFirst) return later();
    isFirst = false;
    return Promise.resolve(key);
  };
}

/** A function for the key: another one each time. */
const rotating = () => {
  let asked = 0;
  return async () => `key-number-${++asked}`;
};

const PLAYS: Readonly<Record<string, Play>> = {
  'at once': { script: [ok(quota(9, { 'x-request-id': 'r-1', date: 'Sat, 31 Jan 2026 11:59:59 GMT' }))] },
  'after a lost response and a 503 with Retry-After': {
    script: [lost, problemResponse(503, DOWN, { 'retry-after': '2' }), ok()],
  },
  'after a 429 with Retry-After': { script: [limited(quota(0, { 'retry-after': '3' })), ok(quota(9))] },
  'after two 429 without it': { script: [limited(), limited(), ok()] },
  'after two 429, without a rate limiter': {
    script: [limited({ 'retry-after': '3' }), limited(), ok()],
    options: { rateLimiter: false },
  },
  'with a Retry-After of more than maxWaitMs': {
    script: [limited({ 'retry-after': '30' })],
    options: { maxWaitMs: 20_000 },
  },
  'with a Retry-After of more than maxWaitMs, without a rate limiter': {
    script: [limited({ 'retry-after': '30' })],
    options: { maxWaitMs: 20_000, rateLimiter: false },
  },
  'with a Retry-After of more than deadlineMs': {
    script: [problemResponse(503, DOWN, { 'retry-after': '30' })],
    options: { deadlineMs: 20_000 },
  },
  'with no attempt but the first': { script: [problemResponse(503, DOWN)], options: { retry: false } },
  'with two attempts and no backoff': {
    script: [problemResponse(503, DOWN), lost],
    options: { retry: { maxAttempts: 2, baseDelayMs: 0 } },
  },
  'a 429 and no attempt but the first': {
    script: [limited({ 'retry-after': '1' }), ok()],
    options: { retry: false },
  },
  'with another key after a 401': {
    script: [problemResponse(401, { type: 'unauthenticated' }), ok()],
    options: { apiKey: rotating() },
  },
  'with the same key after a 401': {
    script: [problemResponse(401, { type: 'unauthenticated' })],
    options: { apiKey: async () => 'key-number-1' },
  },
  'without a key': {
    script: [],
    options: {
      apiKey: () => {
        throw new Error('vault key-number-77 is sealed');
      },
    },
  },
  'with a key that never comes': { script: [], options: { apiKey: () => new Promise(() => {}) } },
  'without a response': { script: [never], options: { timeoutMs: 1_000, retry: { maxAttempts: 2 } } },
  'without the rest of a response': {
    script: [half(200)],
    options: { timeoutMs: 1_000, retry: { maxAttempts: 2 } },
  },
  'without the rest of a 500': {
    script: [half(500)],
    options: { timeoutMs: 1_000, retry: { maxAttempts: 2 } },
  },
  'with a deadline in the second attempt': { script: [lost, never], options: { deadlineMs: 2_000 } },
  'aborted before it': { script: [ok()], abortAt: -1 },
  'aborted before a response': { script: [never], abortAt: 50 },
  'aborted in a body': { script: [half(200)], abortAt: 150 },
  'aborted before a response that comes all the same': {
    script: [
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        return half(200)(new AbortController().signal);
      },
    ],
    abortAt: 150,
  },
  'with onResponse, and a lost response in the last attempt': {
    script: [problemResponse(503, DOWN), lost],
    options: { retry: { maxAttempts: 2 } },
    call: (client) => client.products.get('1', { onResponse: seen }),
  },
  'with onResponse, after a lost response': {
    script: [lost, ok({ 'set-cookie': 'a=1', 'x-own': 'key-of-the-company' })],
    call: (client) => client.products.get('1', { onResponse: seen }),
  },
  'aborted in a backoff': { script: [lost, ok()], abortAt: 300 },
  'aborted in a Retry-After': { script: [limited({ 'retry-after': '9' }), ok()], abortAt: 2_000 },
  'aborted in the Retry-After of a 503': {
    script: [problemResponse(503, DOWN, { 'retry-after': '9' }), ok()],
    abortAt: 2_000,
  },
  'aborted in a Retry-After, without a rate limiter': {
    script: [limited({ 'retry-after': '9' }), ok()],
    options: { rateLimiter: false },
    abortAt: 2_000,
  },
  'with waits of exactly maxWaitMs': {
    script: [problemResponse(503, DOWN, { 'retry-after': '2' }), limited({ 'retry-after': '2' }), ok()],
    options: { maxWaitMs: 2_000, rateLimiter: false },
  },
  'with a backoff that maxWaitMs cuts': {
    script: [lost, ok()],
    options: { maxWaitMs: 300, retry: { baseDelayMs: 5_000, maxDelayMs: 9_000 } },
  },
  'with a wait up to the deadline': {
    script: [problemResponse(503, DOWN, { 'retry-after': '2' }), ok()],
    options: { deadlineMs: 2_100 },
  },
  'with a wait up to a moment before the deadline': {
    script: [problemResponse(503, DOWN, { 'retry-after': '2' }), never],
    options: { deadlineMs: 2_101 },
  },
  'with a timeout as long as the deadline': {
    script: [never],
    options: { timeoutMs: 2_000, deadlineMs: 2_000 },
  },
  'with three timeouts, and the deadline in the last attempt': {
    script: [never],
    options: { timeoutMs: 1_000, deadlineMs: 3_500, retry: { baseDelayMs: 0 } },
  },
  'with other keys, of which the third is right': {
    script: [problemResponse(401, { type: 'unauthenticated' }), problemResponse(401), ok()],
    options: { apiKey: rotating() },
  },
  'with a key function that fails after a 401': {
    script: [problemResponse(401, { type: 'unauthenticated' })],
    options: { apiKey: once('key-number-1', () => Promise.reject(new Error('sealed'))) },
  },
  'with a key function that hangs after a 401': {
    script: [problemResponse(401, { type: 'unauthenticated' })],
    options: {
      apiKey: once('key-number-1', () => new Promise(() => {})),
      timeoutMs: Number.POSITIVE_INFINITY,
      deadlineMs: Number.POSITIVE_INFINITY,
    },
  },
  'with a quota that another call uses up during its backoff': {
    script: [lost, limited({ 'retry-after': '3' }), jsonResponse({ id: '2' }), ok()],
    call: async (client, controller) =>
      await Promise.all([get(client, controller), client.products.get('2')]),
  },
  'a second call without the headers of the quota': {
    script: [ok(quota(9)), ok()],
    call: async (client, controller) => [await get(client, controller), await get(client, controller)],
  },
  'a page after JSON, and JSON again': {
    script: [ok(), page, ok()],
    call: async (client, controller) => [await get(client, controller), await get(client, controller)],
  },
  'a redirect': {
    script: [
      async (signal) =>
        new Response((await half(302)(signal)).body, {
          status: 302,
          headers: { location: 'https://elsewhere.example/x?token=1' },
        }),
    ],
  },
  'a record that does not exist': { script: [problemResponse(404, { type: 'not_found' })] },
  'of a page of a proxy': {
    script: [page],
  },
  'find: of a record that does not exist': {
    script: [problemResponse(404, { type: 'not_found' })],
    call: (client) => client.products.find('1'),
  },
  'create: after a lost response': { script: [lost, jsonResponse({ id: '1' }, 201)], call: create },
  'create: after a lost response, not sent again': {
    script: [lost],
    call: create,
    options: { retry: { creates: false } },
  },
  'create: aborted after a lost response': { script: [lost, never], call: create, abortAt: 200 },
  'create: with a response that is no record': {
    script: [jsonResponse({ success: false, error: 'no' })],
    call: create,
  },
  'create: with its own key, a header and onResponse': {
    script: [jsonResponse({ id: '1' }, 201, quota(3, { etag: '"a"', 'x-request-id': 'r-2' }))],
    call: (client) => {
      const headers = { 'X-Own': 'a', Accept: 'text/x', 'User-Agent': 'own' };
      return client.products.create(
        { name: 'Desk' },
        { idempotencyKey: 'order:7', headers, onResponse: seen },
      );
    },
  },
  'create: under another content type': {
    script: [jsonResponse({ id: '1' }, 201)],
    call: create,
    options: { contentTypes: { create: 'application/ld+json' }, appInfo: { name: 'shop', version: '2.1' } },
  },
  'update: after a 415': { script: [problemResponse(415), ok()], call: update },
  'update: two after a 415': {
    script: [problemResponse(415), ok(), ok()],
    call: async (client, controller) => [await update(client, controller), await update(client, controller)],
  },
  'update: under a content type that is rejected': {
    script: [problemResponse(415)],
    call: update,
    options: { contentTypes: { update: 'application/merge-patch+json' } },
  },
  'update: with a response without a body': {
    script: [new Response(null, { status: 204 }), ok()],
    call: update,
  },
  'update: with a response without a body, and a record that does not come': {
    script: [new Response(null, { status: 204 }), never],
    call: (client) => client.products.update('1', { name: 'Desk' }, { onResponse: seen, deadlineMs: 3_000 }),
  },
  'update: aborted while the record is read': {
    script: [new Response(null, { status: 204 }), never],
    call: update,
    abortAt: 500,
  },
  'delete: with a response that is another record': {
    script: [jsonResponse({ id: '2' }), problemResponse(404, { type: 'not_found' })],
    call: (client) => client.products.delete('1', { onResponse: seen }),
  },
  'delete: with a response that is another record, and is not done': {
    script: [jsonResponse({ id: '2' }), ok()],
    call: remove,
  },
  'update: not sent again': { script: [lost], call: update, options: { retry: { updates: false } } },
  'update: of an id with letters': {
    script: [jsonResponse({ id: '6-A' }), jsonResponse({ id: '6-A' })],
    call: (client) => client.products.update('6-A', { name: 'Desk' }, { onResponse: seen }),
  },
  'update: of an id that a service casts': {
    script: [jsonResponse({ id: '6' })],
    call: (client) => client.products.update('6-A', { name: 'Desk' }, { onResponse: seen }),
  },
  'delete: of a record that is gone after a lost response': {
    script: [lost, problemResponse(404, { type: 'not_found' })],
    call: remove,
  },
  'delete: with a page for a response': {
    script: [new Response('<h1>Blocked</h1>', { headers: { 'content-type': 'text/html' } })],
    call: remove,
  },
  'ping: of a key without a right': { script: [problemResponse(403, { type: 'forbidden' })], call: ping },
  'ping: of a key without a permission': {
    script: [problemResponse(403, { type: 'scope_required' })],
    call: ping,
  },
  'ping: of another address': { script: [problemResponse(404, { type: 'not_found' })], call: ping },
  'ping: of a service without records': { script: [jsonResponse([])], call: ping },
  'a list with invalid rows': {
    script: [jsonResponse([{ id: '1', name: 7 }, { id: '2' }, { name: 'x' }]), jsonResponse([])],
    call: (client) => client.products.list({}, { pagination: 'page', prefetch: 0 }).toArray({ limit: 9 }),
    options: { validation: 'report' },
  },
  'a list that ignores updatedSince now and then': {
    script: [jsonResponse([{ id: '1', updatedAt: '2020-01-01T00:00:00Z' }, { id: '2' }]), jsonResponse([])],
    call: (client) => {
      const query = { updatedSince: new Date('2026-01-30T00:00:00Z'), id: { gte: '1' } };
      return client.products.list(query, { pagination: 'page', prefetch: 0 }).toArray({ limit: 9 });
    },
  },
  'a list whose next page is a 404': {
    script: [jsonResponse([{ id: '1' }]), problemResponse(404, { type: 'not_found' })],
    call: (client) => client.boms.list({}, { pagination: 'page', prefetch: 0 }).toArray({ limit: 9 }),
    options: { afterLastPage: 'not_found' },
  },
  'a request of its own': {
    script: [new Response(null, { status: 204 })],
    call: (client) => {
      const query = { since: '2026-01-31', all: true, page: 2, none: undefined };
      const contentType = 'application/vnd.own+json';
      const request = { method: 'POST', path: ['a b', 'ü/7'], query, body: { a: 1 }, contentType } as const;
      return client.request({ ...request, idempotencyKey: 'k-1' }, { onResponse: seen });
    },
  },
  'a request of its own with a schema': {
    script: [jsonResponse({ total: '5' })],
    call: (client) => client.request({ path: '/reports/7', schema: z.object({ total: z.number() }) }),
  },
};

const debugged = new Set<string>();
/** Replaced for each play. */
let seen: (meta: object) => void = () => {};
let said: (text: string) => void = () => {};

const CALL = ['call', 'method', 'origin', 'basePath', 'path', 'template', 'query', 'attempt'];
const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  accept: 'application/json, application/ld+json;q=0.9, application/problem+json;q=0.9',
  'content-type': 'application/json',
  'user-agent': 'accounting-data-sdk/1.2.3',
  'x-auth-token': 'key-of-the-company',
};

/** Everything that a caller can see of a call, by the virtual time in ms. */
async function play({ script, options, call = get, abortAt }: Play): Promise<string[]> {
  startEvenClock();
  const lines: string[] = [];
  const startedAt = Date.now();
  const log = (text: string) => void lines.push(`${String(Date.now() - startedAt).padStart(6)} ${text}`);
  said = log;
  seen = (meta) => log(`onResponse ${JSON.stringify(meta)}`);
  let known = '';
  const event = (name: string) => (given: object) => {
    const entries = Object.entries({ ...given });
    const isOfCall = ([key]: [string, unknown]) => CALL.includes(key);
    const common = JSON.stringify(
      entries.filter((entry) => isOfCall(entry) && !'call attempt'.includes(entry[0])),
    );
    const { call: number, attempt } = given as { call?: number; attempt?: number };
    const changed = common === known ? '' : ` ${JSON.stringify(Object.fromEntries(JSON.parse(common)))}`;
    known = common;
    const own = Object.fromEntries(entries.filter((entry) => !isOfCall(entry)));
    if ('error' in own) own.error = String(own.error).slice(0, 60);
    const rest = Object.keys(own).length === 0 ? '' : ` ${JSON.stringify(own)}`;
    log(`${name}${attempt === undefined ? '' : ` ${attempt}`}${number === undefined ? '' : changed}${rest}`);
  };
  const names = ['request', 'response', 'retry', 'wait', 'error', 'end', 'invalidRecord'] as const;
  const on = Object.fromEntries(names.map((name) => [name, event(name)])) as Listeners;
  const line = (level: string) => (text: string) => log(`${level}: ${text}`);
  // They say what the events do: once in each form.
  const debug = (text: string) => {
    const form = text.replaceAll(/\d+/g, '0');
    if (!debugged.has(form)) line('debug')(text);
    debugged.add(form);
  };
  const left = [...script];
  const client = createClient({
    baseUrl: 'https://books.example/prefix',
    apiKey: 'key-of-the-company',
    rateLimiter: 'client',
    on,
    logger: { debug, info: line('info'), warn: line('warn') },
    fetch: async (url, init) => {
      const headers = Object.entries(init.headers as Record<string, string>)
        .map(([name, value]) => [name, value.replaceAll(/(accounting-data-sdk)\/[\d.]+/g, '$1/1.2.3')])
        .filter(([name = '', value]) => DEFAULT_HEADERS[name] !== value)
        .map(([name, value]) => `${name}: ${value}`);
      log(['->', init.method, url, ...headers, ...(init.body ? [init.body] : [])].join(' | '));
      await new Promise((resolve) => setTimeout(resolve, 100));
      const next = (left.length > 1 ? left.shift() : left[0]) as Scripted;
      if (next instanceof Error) throw next;
      return typeof next === 'function' ? next(init.signal as AbortSignal) : next.clone();
    },
    ...options,
  });
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('the caller stops'));
  if (abortAt === -1) abort();
  else if (abortAt !== undefined) setTimeout(abort, abortAt);
  await runToEnd(
    (async () => await call(client, controller))().then(
      (value) => log(`ends with ${JSON.stringify(value)}`),
      (error: unknown) => log(`ends with ${error}`),
    ),
  );
  if (client.rateLimit) log(`rateLimit ${JSON.stringify(client.rateLimit)}`);
  return lines;
}

test('each call has the requests, events and log lines that are recorded', async () => {
  const parts: string[] = [];
  for (const [title, each] of Object.entries(PLAYS)) parts.push(`# ${title}`, ...(await play(each)), '');
  await expect(`${withoutChance(parts.join('\n'))}`).toMatchFileSnapshot('./calls.txt');
});
