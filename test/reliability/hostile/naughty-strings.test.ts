import {
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
import { caught } from '../../support/caught.ts';
import { callWith, METHODS, quickClient } from '../../support/four-methods.ts';
import { anyText, anyValue, NAUGHTY, ODD_VALUES, settlesWell, tries } from '../../support/hostile.ts';
import { product } from '../../support/records.ts';
import { json, respond, success } from '../../support/responses.ts';
import { scriptedFetch } from '../../support/scripted-fetch.ts';
import { type SeenRequest, scriptedServer } from '../../support/scripted-server.ts';

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

test('a name of any text is returned unchanged, or rejected before it is sent', async () => {
  await using sandbox = createSandbox({ rateLimit: false });
  await sandbox.listen();
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
  for (const text of NAUGHTY) await roundTrip(text);
  await fc.assert(fc.asyncProperty(anyText, roundTrip), tries(20));
});

/** What the server saw of an id: the last segment of the path, which must be all of it. */
function idIn({ url }: SeenRequest): string {
  const found = /^\/api\/public\/v1\/products\/([^/?#]*)$/.exec(url);
  return decodeURIComponent(found?.[1] ?? `no id in ${url}`);
}

test('an id of any text arrives unchanged under the path of its collection, or is rejected', async () => {
  await using server = await scriptedServer(success);
  const { products } = quickClient(server.url, { rateLimiter: false });
  const arrives = async (id: string) => {
    const before = server.requests.length;
    const calls = [products.get(id), products.update(id, { name: 'x' }), products.delete(id)];
    const ends = await Promise.all(calls.map(taken));
    const seen = server.requests.slice(before).map(idIn);
    expect(seen).toEqual(ends.every(Boolean) ? [id, id, id] : []);
    return ends[0];
  };
  let accepted = 0;
  // The first read of such an id shows that the service does not cut it to a number; only then is it written to at once.
  for (const id of NAUGHTY) if (await taken(products.get(id))) accepted += 1;
  for (const id of NAUGHTY) await arrives(id);
  expect(accepted).toBeGreaterThan(40);
  await fc.assert(
    fc.asyncProperty(anyText, async (id) => void (await arrives(id))),
    tries(30),
  );
});

test('a query value of any text arrives unchanged, or is rejected', async () => {
  await using server = await scriptedServer(json([]));
  const client = quickClient(server.url, { rateLimiter: false });
  const arrives = async (text: string) => {
    const before = server.requests.length;
    const query = { [text]: text, copy: true };
    const own = await taken(client.request({ path: '/accounts', query }));
    const bound = await taken(
      client.accounts.list({ id: { gt: text } }, { prefetch: 0 }).toArray({ limit: 1 }),
    );
    const seen = server.requests.slice(before).map(({ url }) => new URL(url, 'http://x'));
    for (const url of seen) expect(url.pathname).toBe('/api/public/v1/accounts');
    expect(seen.map(({ searchParams }) => searchParams.get('id[gt]') ?? searchParams.get(text))).toEqual([
      ...(own ? [text] : []),
      ...(bound ? [text] : []),
    ]);
  };
  // list() rejects such a bound when it is called, not when it is iterated.
  const refusedAtOnce = (text: string) => text === '' || /\p{Cc}|\p{Surrogate}/u.test(text);
  for (const text of NAUGHTY.filter((one) => !refusedAtOnce(one))) await arrives(text);
  await fc.assert(
    fc.asyncProperty(
      anyText.filter((one) => !refusedAtOnce(one)),
      arrives,
    ),
    tries(30),
  );
  for (const text of NAUGHTY.filter(refusedAtOnce)) {
    expect(() => client.accounts.list({ id: { gt: text } })).toThrow(
      expect.objectContaining({ code: 'invalid_input' }),
    );
    expect(await taken(client.request({ path: '/accounts', query: { q: text } }))).toBe(false);
    expect(await taken(client.request({ path: '/accounts', query: { [text]: 'q' } }))).toBe(false);
  }
});

test('an Idempotency-Key and an API key of any text arrive unchanged, or are rejected', async () => {
  await using server = await scriptedServer(json(product, 201));
  const arrives = async (text: string) => {
    const before = server.requests.length;
    const asKey = await taken(
      (async () =>
        createClient({ baseUrl: server.url, apiKey: text, rateLimiter: 'client' }).products.create({
          name: 'x',
        }))(),
    );
    const { products } = quickClient(server.url, { rateLimiter: 'client' });
    const asIdempotencyKey = await taken(products.create({ name: 'x' }, { idempotencyKey: text }));
    const seen = server.requests.slice(before).map(({ headers }) => headers);
    if (asKey) expect(seen[0]?.['x-auth-token']).toBe(text);
    if (asIdempotencyKey) expect(seen.at(-1)?.['idempotency-key']).toBe(text);
    expect(seen).toHaveLength(Number(asKey) + Number(asIdempotencyKey));
  };
  for (const text of NAUGHTY) await arrives(text);
  await fc.assert(fc.asyncProperty(anyText, arrives), tries(30));
});

test('listed ids of any text can be requested one by one', async () => {
  await using server = await scriptedServer((request, wire) => {
    const { pathname, searchParams } = new URL(request.url, 'http://x');
    const id = pathname.split('/')[5];
    if (id !== undefined) return json({ id: decodeURIComponent(id) })(request, wire);
    return json(searchParams.get('_page') === '1' ? NAUGHTY.map((one) => ({ id: one || 'none' })) : [])(
      request,
      wire,
    );
  });
  const { accounts } = quickClient(server.url, { rateLimiter: false });
  const rows = await accounts.list().toArray({ limit: Number.POSITIVE_INFINITY });
  expect(rows.map(({ id }) => id)).toEqual(NAUGHTY.map((one) => one || 'none'));
  for (const { id } of rows) {
    const end = await accounts.get(id).catch((error: unknown) => error);
    if (isAccountingError(end)) expect(end).toMatchObject({ code: 'invalid_input', argument: 'id' });
    else expect(end).toEqual({ id });
  }
});

test('anything that a caller from JavaScript passes to a method is a value or an error of this package', async () => {
  const baseUrl = 'https://anything.example';
  const fetch = scriptedFetch(Response.json({ id: '1' }));
  const client = createClient({
    baseUrl,
    apiKey: 'k',
    fetch,
    rateLimiter: false,
  });
  const { accounts, products } = client;
  const retry = { maxAttempts: 1 };
  const uses: ((value: never, other: never) => unknown)[] = [
    (value) => accounts.get(value),
    (_, other) => accounts.get('1', other),
    (value) => accounts.find(value, { retry }),
    (value, other) => accounts.list(value, other).toArray({ limit: 1 }),
    (value) =>
      accounts.list({}, { pagination: value, prefetch: value, resumeFrom: value }).toArray({ limit: 1 }),
    (value) => accounts.list().toArray(value),
    (value, other) => products.create(value, other),
    (value) => products.create({ name: value }, { idempotencyKey: value }),
    (value, other) => products.update('1', value, other),
    (value) => products.delete(value),
    (value, other) => client.request(value, other),
    (value) => client.request({ path: value, query: value }),
    (value) => client.request({ method: 'POST', path: '/x', body: value, idempotencyKey: value }),
    (value) => client.collection(value),
    (value) => client.withOptions(value),
    (value) => client.withOptions({ retry: value, timeoutMs: value }),
    (value) => toDecimal(value),
    (value, other) => toMoney(value, other),
    (value, other) => idempotencyKeyFor(value, other),
    (value) => changes(accounts, { store: { get: () => value }, tenant: 'acme' }).next(),
    (value) =>
      createClient({ baseUrl, apiKey: 'k', retry, fetch: () => Promise.reject(value) }).accounts.get('1'),
    (value) =>
      createClient({ baseUrl, apiKey: 'k', retry, fetch: () => Promise.resolve(value) }).accounts.get('1'),
    (value) => createClient(value),
    (value, other) => createClient({ baseUrl: value, apiKey: other }),
    (value) =>
      createClient({ baseUrl: 'https://x.example', apiKey: 'k', schemas: value, appInfo: value, on: {} }),
  ];
  for (const use of uses) {
    for (const value of ODD_VALUES) {
      for (const other of [null, undefined, 0, 'x', []])
        await settlesWell(async () => use(value as never, other as never));
    }
  }
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...uses), anyValue, anyValue, (use, value, other) =>
      settlesWell(async () => use(value as never, other as never)),
    ),
    tries(500),
  );
});

test.each(METHODS)('%s ignores what a hostile service calls its records', async (method) => {
  const hostile =
    '{"id":"42","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":"x"}';
  await using server = await scriptedServer(respond(200, { 'content-type': 'application/json' }, hostile));
  const record = await callWith(quickClient(server.url), method);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  if (method === 'DELETE') return;
  expect(record).toMatchObject({ id: '42', toString: 'x' });
  expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
  expect(Object.hasOwn(record as object, '__proto__')).toBe(false);
});

test('a draft with a member __proto__ is sent with it, or rejected, but never read through it', async () => {
  await using server = await scriptedServer(json(product, 201));
  const draft = JSON.parse('{"name":"Desk","__proto__":{"salePrice":12.5}}');
  const end = await quickClient(server.url)
    .products.create(draft)
    .then(
      () => server.requests[0]?.body,
      (error: unknown) => error,
    );
  expect(end).toBe('{"name":"Desk","__proto__":{"salePrice":12.5}}');
  expect(
    await caught(quickClient(server.url).products.create(JSON.parse('{"salePrice":12.5}'))),
  ).toMatchObject({
    code: 'invalid_input',
    argument: 'draft.salePrice',
  });
});
