import { readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { caught } from '../support/caught.ts';
import { jsonResponse, problemResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';

const VERSION = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  .version as string;
/** What each request sends, unless the caller replaces it. */
const OF_EACH_REQUEST = {
  accept: 'application/json, application/ld+json;q=0.9, application/problem+json;q=0.9',
  'user-agent': `accounting-data-sdk/${VERSION}`,
  'x-auth-token': 'key-of-the-company',
};

/** What a call sends, as the caller's `fetch` is given it. */
async function sentBy(call: (client: ReturnType<typeof scriptedClient>) => Promise<unknown>) {
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  await call(scriptedClient(fetch));
  return fetch.requests[0]?.init.headers;
}

test('a read sends the key and what it accepts, a create its content type and its Idempotency-Key too', async () => {
  expect(await sentBy((client) => client.accounts.get('1'))).toStrictEqual(OF_EACH_REQUEST);
  const ofCreate = { 'idempotency-key': 'order-7', 'content-type': 'application/json' };
  const create = sentBy((client) => client.products.create({}, { idempotencyKey: 'order-7' }));
  expect(await create).toStrictEqual({ ...OF_EACH_REQUEST, ...ofCreate });
});

test('headers of the caller replace Accept and User-Agent, but not Content-Type', async () => {
  const own = { Accept: 'application/ld+json', 'User-Agent': 'mine', 'X-Trace': '1' };
  const headers = { ...own, 'Content-Type': 'text/plain' };
  expect(await sentBy((client) => client.products.update('1', {}, { headers }))).toStrictEqual({
    ...OF_EACH_REQUEST,
    accept: 'application/ld+json',
    'user-agent': 'mine',
    'content-type': 'application/json',
    'x-trace': '1',
  });
});

const rejectionOf = (headers: unknown) =>
  caught(scriptedClient(scriptedFetch(jsonResponse({ id: '1' }))).accounts.get('1', { headers } as object));

const OF_THE_CONNECTION =
  'Connection content-length Expect host keep-alive te trailer Transfer-Encoding upgrade'.split(' ');

test.each<[unknown, string]>([
  // Of these `Object.entries` has no header, or indexes as names.
  [new Headers({ 'x-trace': 's3cret' }), 'headers'],
  [new Map([['x-trace', 's3cret']]), 'headers'],
  [[['x-trace', 's3cret']], 'headers'],
  [[], 'headers'],
  ['x-trace: s3cret', 'headers'],
  [null, 'headers'],
  [5, 'headers'],
  [{ 'X-AUTH-TOKEN': 's3cret' }, 'headers.x-auth-token'],
  [{ 'Idempotency-Key': 's3cret' }, 'headers.idempotency-key'],
  [{ ['__proto__']: 's3cret' }, 'headers.__proto__'],
  [{ 'bad name': 's3cret' }, 'headers'],
  [{ 'x-trace': 's3cret\r\nx-evil: 1' }, 'headers.x-trace'],
  [{ 'x-trace': 's3crét' }, 'headers.x-trace'],
  [{ 'x-trace': 5 }, 'headers.x-trace'],
  // A call with one of these would fail or hang.
  ...OF_THE_CONNECTION.map((name): [object, string] => [{ [name]: '5' }, `headers.${name.toLowerCase()}`]),
])('the headers %j are rejected by the name %s, without being quoted', async (headers, argument) => {
  const error = await rejectionOf(headers);
  expect(error).toMatchObject({ code: 'invalid_input', argument });
  expect(String(error)).not.toContain('s3cr');
});

test('the User-Agent names the package and the app', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  await scriptedClient(fetch).accounts.get('1');
  await scriptedClient(fetch, { appInfo: { name: 'webshop-sync', version: '2.1.0' } }).accounts.get('1');
  await scriptedClient(fetch, { appInfo: { name: 'webshop-sync' } }).accounts.get('1');
  expect(fetch.requests.map(({ headers }) => headers.get('user-agent'))).toEqual([
    `accounting-data-sdk/${VERSION}`,
    `accounting-data-sdk/${VERSION} webshop-sync/2.1.0`,
    `accounting-data-sdk/${VERSION} webshop-sync`,
  ]);
});

test.each([
  ['Bun', { process: undefined, Bun: {} }, true],
  ['Cloudflare', { process: undefined, navigator: { userAgent: 'Cloudflare-Workers' } }, true],
  ['a browser', { process: undefined, navigator: { userAgent: 'Mozilla/5.0' } }, false],
  ['a browser with a process', { process: { env: {} }, navigator: { userAgent: 'Mozilla/5.0' } }, false],
])('a User-Agent is sent by %s: %s', async (_, globals, isSent) => {
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value);
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  await scriptedClient(fetch).accounts.get('1');
  expect(fetch.requests[0]?.headers.has('user-agent')).toBe(isSent);
});

test.each(['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'])(
  'an error shows the request id that is sent in %s',
  async (name) => {
    const fetch = scriptedFetch(problemResponse(404, {}, { [name]: 'r1' }));
    expect(await caught(scriptedClient(fetch).accounts.get('1'))).toMatchObject({ requestId: 'r1' });
  },
);

test.each([
  ['100', '7', { limit: 100, remaining: 7 }],
  ['100, 100', '42,42', { limit: 100, remaining: 42 }],
  ['100', '42, 41', undefined],
  ['many', '7', undefined],
])('X-RateLimit-Limit: %s and -Remaining: %s report %j', async (limit, remaining, expected) => {
  const quota = { 'x-ratelimit-limit': limit, 'x-ratelimit-remaining': remaining };
  const client = scriptedClient(scriptedFetch(jsonResponse({ id: '1' }, 200, quota)));
  await client.accounts.get('1');
  if (expected === undefined) expect(client.rateLimit).toBeUndefined();
  else expect(client.rateLimit).toMatchObject(expected);
});
