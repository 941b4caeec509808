import { setTimeout as wait } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { createSandbox, type Listening, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, createProduct } from './support/call.ts';
import { bodyOf, headerOf, rawCall, rawRequest } from './support/raw.ts';

let sandbox: Sandbox;
let listening: Listening;

beforeEach(async () => {
  sandbox = createSandbox({ records: 500, rateLimit: { limit: 50 } });
  listening = await sandbox.listen();
});
afterEach(() => sandbox.close());

const CLOSE = 'Connection: close';

/** The response to a request that is sent byte for byte. */
const send = async (request: string) => (await rawCall(listening, request).response).text;

describe('HEAD', () => {
  const head = (path: string, more: readonly string[] = [CLOSE]) =>
    rawRequest(path, sandbox.keys.full, more).replace('GET', 'HEAD');

  test('gets the headers of a GET and no body', async () => {
    const got = await send(rawRequest('/accounts', sandbox.keys.full, [CLOSE]));
    const text = await send(head('/accounts'));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(bodyOf(text)).toBe('');
    expect(headerOf(text, 'Content-Length')).toBe(headerOf(got, 'Content-Length'));
    expect(headerOf(text, 'Content-Type')).toBe('application/json');
    expect(headerOf(text, 'X-RateLimit-Remaining')).toBe('48');
  });

  test('gets the status of a GET that fails', async () => {
    const [missing, forbidden] = [
      await send(head('/accounts/987654')),
      await send(head('/accounts').replace(sandbox.keys.full, sandbox.keys.forbidden)),
    ];
    expect([missing, forbidden].map((text) => [text.slice(9, 12), bodyOf(text)])).toEqual([
      ['404', ''],
      ['403', ''],
    ]);
  });

  test('leaves the connection usable for the next request', async () => {
    const text = await send(head('/accounts', []) + rawRequest('/accounts/1', sandbox.keys.full, [CLOSE]));
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(text).toContain('"id":"1"');
  });

  test('has no body when a fault distorts the response', async () => {
    sandbox.faults.add({ kind: 'slow-body', bytes: 1, everyMs: 1 }, { method: 'HEAD', times: 1 });
    expect(bodyOf(await send(head('/accounts')))).toBe('');
  });

  test('works through sandbox.fetch and is named in Allow', async () => {
    const other = createSandbox({ records: 100 });
    const { status, json, headers } = await call(other, '/accounts', { method: 'HEAD' });
    expect([status, json, headers.get('content-type')]).toEqual([200, undefined, 'application/json']);
    expect((await call(other, '/accounts', { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD');
    expect((await call(other, '/products', { method: 'PUT' })).headers.get('allow')).toBe('GET, HEAD, POST');
  });
});

describe('Accept-Encoding', () => {
  test.each([
    ['gzip', true],
    ['br, GZIP;q=0.5', true],
    ['*', true],
    ['x-gzip', true],
    ['gzip;q=0', false],
    ['gzip; q=0.000', false],
    ['*;q=1, gzip;q=0', false],
    ['*;q=0', false],
    ['br', false],
    ['', false],
  ])('%j is honoured', async (accepted, isGzipped) => {
    const text = await send(
      rawRequest('/accounts', sandbox.keys.full, [CLOSE, `Accept-Encoding: ${accepted}`]),
    );
    expect(headerOf(text, 'Content-Encoding')).toBe(isGzipped ? 'gzip' : undefined);
    const bytes = Buffer.from(bodyOf(text), 'latin1');
    expect(JSON.parse(String(isGzipped ? gunzipSync(bytes) : bytes))).toHaveLength(30);
  });
});

test('OPTIONS * lists the methods of the server without a body', async () => {
  const text = await send(`OPTIONS * HTTP/1.1\r\nHost: sandbox\r\n${CLOSE}\r\n\r\n`);
  expect([text.slice(9, 12), bodyOf(text)]).toEqual(['204', '']);
  expect(headerOf(text, 'Allow')).toBe('GET, HEAD, POST, PATCH, DELETE, OPTIONS');
  expect(headerOf(text, 'X-RateLimit-Limit')).toBe('50');
});

describe('an absolute-form target', () => {
  test.each(['http://sandbox', 'HTTP://127.0.0.1:1', 'https://books.example.com'])(
    '%s… is the path',
    async (origin) => {
      const request = rawRequest('/accounts/1?x=http://y', sandbox.keys.full, [CLOSE]);
      const text = await send(request.replace('GET ', `GET ${origin}`));
      expect([text.slice(9, 12), JSON.parse(bodyOf(text)).id]).toEqual(['200', '1']);
      expect(sandbox.requests.at(-1)).toMatchObject({
        path: '/api/public/v1/accounts/1',
        query: { x: 'http://y' },
      });
    },
  );

  test.each([
    'http:///api/public/v1/accounts',
    'http://:80/api/public/v1/accounts',
    'http://sandbox:port/api/public/v1/accounts',
    'http://[::1/api/public/v1/accounts',
    'ftp://sandbox/api/public/v1/accounts',
    '*',
  ])('GET %s is rejected with 400', async (target) => {
    const request = rawRequest('/accounts', sandbox.keys.full, [CLOSE]);
    const text = await send(request.replace('/api/public/v1/accounts', target));
    expect([text.slice(9, 12), JSON.parse(bodyOf(text)).type]).toEqual(['400', 'malformed_request']);
    expect(headerOf(text, 'X-RateLimit-Limit')).toBe('50');
  });

  test('without a path is the root', async () => {
    const text = await send(
      `GET http://sandbox HTTP/1.1\r\nHost: sandbox\r\nX-AUTH-TOKEN: ${sandbox.keys.full}\r\n${CLOSE}\r\n\r\n`,
    );
    expect(text).toMatch(/^HTTP\/1\.1 404/);
  });
});

describe('a body that nests too deeply', () => {
  test.each([
    ['arrays', `{"tags":${'['.repeat(200_000)}${']'.repeat(200_000)}}`],
    ['objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
    ['unclosed arrays', '['.repeat(900_000)],
  ])('of %s is 400 malformed_request', async (_, body) => {
    const response = await createProduct(sandbox, body);
    expect([response.status, response.record.type]).toEqual([400, 'malformed_request']);
    expect(response.headers.get('x-ratelimit-limit')).toBe('50');
    const update = await call(sandbox, '/products/1', { method: 'PATCH', body });
    expect(update.status).toBe(400);
    expect(sandbox.journal).toEqual([]);
  });

  test('is still logged', async () => {
    await createProduct(sandbox, '['.repeat(100_000));
    expect(sandbox.requests.at(-1)?.error).toBe('malformed_request');
  });

  test('is only rejected beyond 512 levels', async () => {
    const nested = (levels: number) =>
      `{"name":"Desk","extra":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await createProduct(sandbox, nested(512))).status).toBe(201);
    expect((await createProduct(sandbox, nested(513))).status).toBe(400);
  });
});

describe('a request that does not reach the service gets a problem document with rate-limit headers', () => {
  const key = () => `X-AUTH-TOKEN: ${sandbox.keys.full}`;
  const cases: readonly (readonly [string, number, string, () => string])[] = [
    [
      'a method that HTTP does not know',
      501,
      'not_implemented',
      () => `FROB /api/public/v1/accounts HTTP/1.1\r\nHost: x\r\n${key()}\r\n\r\n`,
    ],
    [
      'a method in lower case',
      501,
      'not_implemented',
      () => `get /api/public/v1/accounts HTTP/1.1\r\nHost: x\r\n${key()}\r\n\r\n`,
    ],
    [
      'a method that no resource has',
      405,
      'method_not_allowed',
      () => rawRequest('/accounts', sandbox.keys.full, [CLOSE]).replace('GET', 'PROPFIND'),
    ],
    [
      'headers that are too large',
      431,
      'headers_too_large',
      () => rawRequest('/accounts', sandbox.keys.full, [`X-Long: ${'x'.repeat(20_000)}`]),
    ],
    [
      'an expectation other than 100-continue',
      417,
      'expectation_failed',
      () => rawRequest('/accounts', sandbox.keys.full, ['Expect: coffee', CLOSE]),
    ],
    [
      'a header that cannot be parsed',
      400,
      'malformed_request',
      () => 'GET /api/public/v1/accounts HTTP/1.1\r\nHost x\r\n\r\n',
    ],
  ];

  test.each(cases)('%s: %i %s', async (_, status, type, request) => {
    const text = await send(request());
    expect(text).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(headerOf(text, 'Content-Type')).toBe('application/problem+json');
    expect([headerOf(text, 'X-RateLimit-Limit'), headerOf(text, 'Date')]).toEqual([
      '50',
      expect.stringMatching(/GMT$/),
    ]);
    expect(headerOf(text, 'X-RateLimit-Remaining')).toMatch(/^\d+$/);
    expect(headerOf(text, 'Access-Control-Allow-Origin')).toBe('*');
    expect(JSON.parse(bodyOf(text))).toMatchObject({ type, status });
  });

  test('comes after the responses to the requests before it', async () => {
    sandbox.faults.add({ kind: 'delay', ms: 50 }, { times: 1 });
    const good = rawRequest('/accounts/1', sandbox.keys.full);
    const text = await send(`${good}FROB / HTTP/1.1\r\nHost: x\r\n\r\n`);
    expect([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['200', '501']);
  });

  test('a client may disconnect meanwhile', async () => {
    sandbox.faults.add({ kind: 'delay', ms: 20 }, { times: 1 });
    const { socket, response } = rawCall(
      listening,
      `${rawRequest('/accounts/1', sandbox.keys.full)}FROB / HTTP/1.1\r\n\r\n`,
    );
    await new Promise((resolve) => socket.once('connect', resolve));
    await wait(5);
    socket.destroy();
    await response.catch(() => undefined);
    expect((await call(sandbox, '/accounts')).status).toBe(200);
  });

  test('Expect: 100-continue gets a 100', async () => {
    const body = '{"name":"Desk"}';
    const text = await send(
      [
        'POST /api/public/v1/products HTTP/1.1',
        'Host: sandbox',
        key(),
        'Idempotency-Key: k',
        'Content-Type: application/json',
        'Expect: 100-continue',
        `Content-Length: ${body.length}`,
        CLOSE,
        '',
        body,
      ].join('\r\n'),
    );
    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 201 Created/);
  });
});
