import { expect, test } from 'vitest';
import { VERSION } from '../../../src/internal/version.ts';
import {
  allowedHeaders,
  checkHeaders,
  rateLimitOf,
  requestHeaders,
  requestIdOf,
} from '../../../src/transport/headers.ts';
import { caught, thrown } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const ACCEPT = 'application/json, application/ld+json;q=0.9, application/problem+json;q=0.9';

const outgoing = {
  apiKey: 'k',
  userAgent: undefined,
  idempotencyKey: undefined,
  contentType: undefined,
  own: undefined,
};

test('a read carries the key and what it accepts', () => {
  // Strictly: a name with the value undefined goes out as the text "undefined".
  expect(requestHeaders(outgoing)).toStrictEqual({ accept: ACCEPT, 'x-auth-token': 'k' });
});

test('a write carries its content type, its Idempotency-Key and the name of the program', () => {
  const headers = requestHeaders({
    ...outgoing,
    contentType: 'application/json',
    idempotencyKey: 'i',
    userAgent: 'sdk/1',
  });
  expect(headers).toEqual({
    accept: ACCEPT,
    'x-auth-token': 'k',
    'user-agent': 'sdk/1',
    'idempotency-key': 'i',
    'content-type': 'application/json',
  });
});

test('headers of the caller replace Accept and User-Agent, but not those of the contract', () => {
  const own = {
    Accept: 'application/ld+json',
    'User-Agent': 'mine',
    'Content-Type': 'text/plain',
    'X-AUTH-TOKEN': 'other',
    'X-Trace': '1',
  };
  expect(
    requestHeaders({ ...outgoing, contentType: 'application/json', userAgent: 'sdk/1', own }),
  ).toMatchObject({
    accept: 'application/ld+json',
    'user-agent': 'mine',
    'content-type': 'application/json',
    'x-auth-token': 'k',
    'x-trace': '1',
  });
});

test.each([
  [{ 'X-AUTH-TOKEN': 's3cret' }, 'headers.x-auth-token', 'is set from apiKey'],
  [{ 'x-auth-token': 's3cret' }, 'headers.x-auth-token', 'is set from apiKey'],
  [{ 'Idempotency-Key': 's3cret' }, 'headers.idempotency-key', 'is set from idempotencyKey'],
  [{ ['__proto__']: 's3cret' }, 'headers.__proto__', 'is no header'],
  [{ 'bad name': 's3cret' }, 'headers', 'a name must be a token'],
  [{ ' bad': 's3cret' }, 'headers', 'a name must be a token'],
  [{ '': 's3cret' }, 'headers', 'a name must be a token'],
  [{ 'x-trace': 's3cret\r\nx-evil: 1' }, 'headers.x-trace', 'must be printable ASCII'],
  [{ 'x-trace': '\r\nx-evil: s3cret' }, 'headers.x-trace', 'must be printable ASCII'],
  [{ 'x-trace': 's3cret\u0000' }, 'headers.x-trace', 'must be printable ASCII'],
  [{ 'x-trace': 's3crét' }, 'headers.x-trace', 'must be printable ASCII'],
  [{ 'x-trace': 5 as unknown as string }, 'headers.x-trace', 'must be printable ASCII'],
])('the headers %j are refused at %s without being quoted: %s', (headers, argument, problem) => {
  const error = thrown(() => checkHeaders(headers));
  expect(error).toMatchObject({ code: 'invalid_input', argument });
  expect(String(error)).toContain(problem);
  expect(String(error)).not.toContain('s3cr');
});

test('a name may hold what RFC 9110 calls a token, a value any printable ASCII', () => {
  const names = { "x!#$%&'*+.^_`|~-09AZaz": '1', 'X-Empty': '' };
  expect(checkHeaders({ ...names, 'x-trace': 'a\tb ~!' })).toBeUndefined();
});

test.each([
  'Connection',
  'content-length',
  'Expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'Transfer-Encoding',
  'upgrade',
])('%s is left to the connection: a call with it would fail or hang', (name) => {
  expect(thrown(() => checkHeaders({ [name]: '5' }))).toMatchObject({
    code: 'invalid_input',
    argument: `headers.${name.toLowerCase()}`,
    message: expect.stringContaining('belongs to the connection'),
  });
});

test.each([
  ['null', null],
  ['a text', 'x-trace: 1'],
  ['an instance of Headers', new Headers({ 'x-trace': '1' })],
  ['a list of pairs', [['x-trace', '1']]],
])('%s is not taken for headers: what it holds would be lost', (_, headers) => {
  expect(thrown(() => checkHeaders(headers as never))).toMatchObject({
    code: 'invalid_input',
    argument: 'headers',
    message: expect.stringContaining('must be an object of names and values'),
  });
});

test('a refused header stops a call before anything is sent, in every method', async () => {
  const fetch = scriptedFetch(jsonResponse({ id: '1' }));
  const client = scriptedClient(fetch);
  const options = { headers: { 'X-Auth-Token': 'other' } };
  for (const call of [
    () => client.products.get('1', options),
    () => client.products.create({}, options),
    () => client.products.update('1', {}, options),
    () => client.products.delete('1', options),
    () => client.request({ path: '/accounts' }, options),
    async () => client.accounts.list({}, options),
  ]) {
    expect(await caught(call())).toMatchObject({ argument: 'headers.x-auth-token', outcome: 'not_sent' });
  }
  expect(fetch.requests).toHaveLength(0);
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

test('of the headers of an answer only an allow-list is shown', () => {
  const headers = new Headers({
    'content-type': 'application/json',
    'retry-after': '1',
    'x-request-id': 'r1',
    'set-cookie': 'session=s3cret',
    'x-internal': 'x',
    authorization: 's3cret',
  });
  expect(allowedHeaders(headers, 'k')).toEqual({
    'content-type': 'application/json',
    'retry-after': '1',
    'x-request-id': 'r1',
  });
});

test.each(['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'])(
  'the id of a request is found in %s',
  (name) => {
    expect(requestIdOf(new Headers({ [name]: 'r1' }), 'k')).toBe('r1');
    expect(requestIdOf(new Headers(), 'k')).toBeUndefined();
  },
);

test.each([
  [
    { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '7' },
    { limit: 100, remaining: 7 },
  ],
  [
    { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '0' },
    { limit: 100, remaining: 0 },
  ],
  [{ 'x-ratelimit-limit': '100' }, undefined],
  [{ 'x-ratelimit-remaining': '7' }, undefined],
  [{ 'x-ratelimit-limit': 'many', 'x-ratelimit-remaining': '7' }, undefined],
  [{ 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '-1' }, undefined],
  [{ 'x-ratelimit-limit': '1.5', 'x-ratelimit-remaining': '1' }, undefined],
])('the headers %j say the budget %j', (headers, expected) => {
  const found = rateLimitOf(new Headers(headers as Record<string, string>));
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(expected);
});
