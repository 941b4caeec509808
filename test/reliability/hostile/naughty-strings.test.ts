import {
  type ClientOptions,
  type CreateOptions,
  changes,
  createClient,
  idempotencyKeyFor,
  isAccountingError,
  toDecimal,
  toMoney,
} from 'accounting-data-sdk';
import { createSandbox } from 'accounting-data-sdk/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { callWith, quickClient } from '../../support/four-methods.ts';
import { anyText, anyValue, NAUGHTY, ODD_VALUES, tries } from '../../support/hostile.ts';
import { product } from '../../support/records.ts';
import { json, respond, success } from '../../support/responses.ts';
import { scriptedFetch } from '../../support/scripted-fetch.ts';
import { type SeenRequest, scriptedServer } from '../../support/scripted-server.ts';

/** Gives a check each of the naughty strings, and further texts. */
async function everyText(check: (text: string) => Promise<void>): Promise<void> {
  for (const text of NAUGHTY) await check(text);
  await fc.assert(fc.asyncProperty(anyText, check), tries(20));
}

/** True if the call succeeded; false if the text was rejected before anything was sent. */
async function taken(call: Promise<unknown>): Promise<boolean> {
  try {
    await call;
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'invalid_input', outcome: 'not_sent' });
    return false;
  }
}

test('a name, a remark and tags of any text are sent and returned unchanged', async () => {
  const sandbox = createSandbox({ rateLimit: false });
  const { products } = createClient(sandbox.clientOptions);
  const roundTrip = async (text: string) => {
    const sent = sandbox.requests.length;
    const draft = { name: text, remark: text, tags: [text, { [text]: text }] };
    const made = await products.create(draft);
    expect(made).toMatchObject(draft);
    expect(Object.keys(made.tags?.[1] as object)).toEqual([text]);
    expect(await products.get(made.id)).toEqual(made);
    await products.update(made.id, { name: `${text}!`, remark: null });
    expect(await products.get(made.id)).toMatchObject({ name: `${text}!`, remark: null });
    expect(sandbox.requests.length - sent).toBe(4);
  };
  await everyText(roundTrip);
});

/** What the server saw of an id: the last segment of the path, which must be all of it. */
function idIn({ url }: SeenRequest): string {
  const found = /^\/api\/public\/v1\/products\/([^/?#]*)$/.exec(url);
  return decodeURIComponent(found?.[1] ?? `no id in ${url}`);
}

test('an id of any text arrives unchanged under the path of its collection, or is rejected', async () => {
  await using server = await scriptedServer(success);
  const { products } = quickClient(server.url, { rateLimiter: false });
  let accepted = 0;
  const arrives = async (id: string) => {
    const before = server.requests.length;
    // This read shows that the service does not cut the id to a number; only then is it written to at once.
    const isTaken = await taken(products.get(id));
    await Promise.all([products.update(id, { name: 'x' }), products.delete(id)].map(taken));
    expect(server.requests.slice(before).map(idIn)).toEqual(isTaken ? [id, id, id] : []);
    accepted += Number(isTaken);
  };
  await everyText(arrives);
  expect(accepted).toBeGreaterThan(30);
});

test('a query value of any text arrives unchanged, or is rejected', async () => {
  await using server = await scriptedServer(json([]));
  const client = quickClient(server.url, { rateLimiter: false });
  const arrives = async (text: string) => {
    const before = server.requests.length;
    const isTaken = await taken(client.request({ path: '/accounts', query: { [text]: text, copy: true } }));
    const list = async () => client.accounts.list({ id: { gt: text } }, { prefetch: 0 }).first();
    const isBound = await taken(list());
    const seen = server.requests.slice(before).map(({ url }) => new URL(url, 'http://x'));
    for (const url of seen) expect(url.pathname).toBe('/api/public/v1/accounts');
    const values = seen.map(({ searchParams }) => searchParams.get('id[gt]') ?? searchParams.get(text));
    expect(values).toEqual([...(isTaken ? [text] : []), ...(isBound ? [text] : [])]);
    if (/\p{Cc}|\p{Surrogate}/u.test(text)) expect(isTaken || isBound).toBe(false);
  };
  await everyText(arrives);
});

test('an Idempotency-Key and an API key of any text arrive unchanged, or are rejected', async () => {
  await using server = await scriptedServer(json(product, 201));
  const arrives = async (text: string) => {
    const before = server.requests.length;
    const create = async (own: ClientOptions, options: CreateOptions) =>
      quickClient(server.url, { rateLimiter: false, ...own }).products.create({ name: 'x' }, options);
    const isKey = await taken(create({ apiKey: text }, {}));
    const isIdempotencyKey = await taken(create({}, { idempotencyKey: text }));
    const seen = server.requests.slice(before).map(({ headers }) => headers);
    if (isKey) expect(seen[0]?.['x-auth-token']).toBe(text);
    if (isIdempotencyKey) expect(seen.at(-1)?.['idempotency-key']).toBe(text);
    expect(seen).toHaveLength(Number(isKey) + Number(isIdempotencyKey));
  };
  await everyText(arrives);
});

test('anything that a caller from JavaScript passes to a method is a value or an error of this package', async () => {
  const baseUrl = 'https://anything.example';
  const fetch = scriptedFetch(Response.json({ id: '1' }));
  const client = createClient({ baseUrl, apiKey: 'k', fetch, rateLimiter: false });
  const { accounts, products } = client;
  const retry = { maxAttempts: 1 };
  const uses: ((value: never, other: never) => unknown)[] = [
    (value) => accounts.get(value),
    (_, other) => accounts.get('1', other),
    (value, other) => accounts.list(value, other).toArray({ limit: 1 }),
    (value) =>
      accounts.list({}, { pagination: value, prefetch: value, resumeFrom: value }).toArray({ limit: 1 }),
    (value, other) => products.create(value, other),
    (value, other) => products.update('1', value, other),
    (value) => products.delete(value),
    (value, other) => client.request(value, other),
    (value) => client.request({ method: 'POST', path: '/x', body: value, idempotencyKey: value }),
    (value) => client.collection(value),
    (value) => client.withOptions(value),
    (value) => toDecimal(value),
    (value, other) => toMoney(value, other),
    (value, other) => idempotencyKeyFor(value, other),
    (value) => changes(accounts, { store: { get: () => value }, tenant: 'acme' }).next(),
    (value) =>
      createClient({ baseUrl, apiKey: 'k', retry, fetch: () => Promise.reject(value) }).accounts.get('1'),
    (value) =>
      createClient({ baseUrl, apiKey: 'k', retry, fetch: () => Promise.resolve(value) }).accounts.get('1'),
    (value) => createClient(value),
    (value) =>
      createClient({ baseUrl: 'https://x.example', apiKey: 'k', schemas: value, appInfo: value, on: {} }),
  ];
  const endsWell = async (use: (typeof uses)[number], value: unknown, other: unknown) => {
    try {
      await use(value as never, other as never);
    } catch (error) {
      if (!isAccountingError(error)) throw error;
    }
  };
  for (const use of uses) for (const value of ODD_VALUES) await endsWell(use, value, undefined);
  await fc.assert(fc.asyncProperty(fc.constantFrom(...uses), anyValue, anyValue, endsWell), tries(300));
});

test('a record with __proto__, constructor and toString pollutes no prototype', async () => {
  const record =
    '{"id":"42","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x"}';
  await using server = await scriptedServer(respond(200, { 'content-type': 'application/json' }, record));
  for (const method of ['GET', 'POST'] as const) {
    const read = await callWith(quickClient(server.url), method);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(read).toMatchObject({ id: '42', toString: 'x' });
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
    expect(Object.hasOwn(read as object, '__proto__')).toBe(false);
  }
});

test('a draft with a member __proto__ is sent with it, and never read through it', async () => {
  await using server = await scriptedServer(json(product, 201));
  const draft = '{"name":"Desk","__proto__":{"salePrice":12.5}}';
  await quickClient(server.url).products.create(JSON.parse(draft));
  expect(server.requests[0]?.body).toBe(draft);
});
