import { networkInterfaces } from 'node:os';
import { gunzipSync } from 'node:zlib';
import { createSandbox, type Listening, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call } from './support/call.ts';
import { bodyOf, headerOf, rawCall, rawRequest } from './support/raw.ts';

let sandbox: Sandbox;
let listening: Listening;

beforeEach(async () => {
  sandbox = createSandbox({ records: 500, rateLimit: { limit: 50 } });
  listening = await sandbox.listen();
});
afterEach(() => sandbox.close());

const url = (path: string) => `${listening.url}/api/public/v1${path}`;
const CLOSE = 'Connection: close';

/** The response to a request that is sent byte for byte. */
const send = async (text: string) => (await rawCall(listening, text).response).text;

/** A GET that ends its connection. */
const get = (path: string, ...headers: string[]) => rawRequest(path, sandbox.keys.full, [...headers, CLOSE]);

test('HEAD gets the headers of a GET and no body, also of a missing record', async () => {
  const head = (path: string) => send(get(path).replace('GET', 'HEAD'));
  const [got, text] = [await send(get('/accounts')), await head('/accounts')];
  expect([text.slice(9, 15), bodyOf(text)]).toEqual(['200 OK', '']);
  expect(headerOf(text, 'Content-Length')).toBe(headerOf(got, 'Content-Length'));
  const missing = await head('/accounts/987654');
  expect([missing.slice(9, 12), bodyOf(missing)]).toEqual(['404', '']);
  const allowed = async (path: string) => (await call(sandbox, path, { method: 'PUT' })).headers.get('allow');
  expect([await allowed('/accounts'), await allowed('/products')]).toEqual(['GET, HEAD', 'GET, HEAD, POST']);
});

test.each([
  ['br, GZIP;q=0.5', 'gzip'],
  ['br', undefined],
])('Accept-Encoding %j compresses a large response with %s', async (accepted, coding) => {
  const small = await send(get('/products/1', `Accept-Encoding: ${accepted}`));
  expect(headerOf(small, 'Content-Encoding')).toBeUndefined();
  const text = await send(get('/products', `Accept-Encoding: ${accepted}`));
  expect([headerOf(text, 'Content-Encoding'), headerOf(text, 'Vary')]).toEqual([coding, 'Accept-Encoding']);
  const bytes = Buffer.from(bodyOf(text), 'latin1');
  expect(JSON.parse(String(coding ? gunzipSync(bytes) : bytes))).toHaveLength(30);
});

test('a preflight gets a response without a key, and lets a page read responses, their quota and their errors', async () => {
  const allowing = {
    'Access-Control-Request-Method': 'PATCH',
    'Access-Control-Request-Headers': 'x-auth-token,content-type',
    'Access-Control-Request-Private-Network': 'true',
  };
  const Origin = 'https://shop.example';
  const preflight = await fetch(url('/products/1'), { method: 'OPTIONS', headers: { Origin, ...allowing } });
  expect([preflight.status, sandbox.count()]).toEqual([204, 0]);
  const plain = { Origin, 'Access-Control-Request-Method': 'GET' };
  const usual = await fetch(url('/products'), { method: 'OPTIONS', headers: plain });
  expect(usual.headers.get('access-control-allow-headers')).toBe(
    'X-AUTH-TOKEN, Idempotency-Key, Content-Type',
  );
  expect(usual.headers.get('access-control-allow-private-network')).toBeNull();
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': expect.stringContaining('PATCH'),
    'access-control-allow-private-network': 'true',
    'access-control-allow-headers': 'x-auth-token,content-type',
  });
  const { headers } = await call(sandbox, '/accounts', { key: 'unknown', headers: { Origin } });
  expect(headers.get('access-control-allow-origin')).toBe('*');
  // Whatever a client of this service reads is in the list: a browser hides the rest.
  const exposed = headers.get('access-control-expose-headers')?.split(', ').sort().join();
  expect(exposed).toBe('Date,Link,Location,Retry-After,X-RateLimit-Limit,X-RateLimit-Remaining');

  await sandbox.close();
  listening = await sandbox.listen({ cors: false });
  const denied = await fetch(url('/products'), { method: 'OPTIONS', headers: plain });
  expect([denied.status, denied.headers.get('access-control-allow-origin')]).toEqual([401, null]);
});

test('an address of IPv6 is in brackets in the URL, and its name is one of this machine', async () => {
  await sandbox.close();
  const opened = sandbox.listen({ host: '::1', control: true, hosts: ['[::1]'] });
  const addresses = Object.values(networkInterfaces()).flatMap((each = []) =>
    each.map(({ address }) => address),
  );
  if (!addresses.includes('::1')) {
    await expect(opened).rejects.toMatchObject({ address: '::1' });
    return;
  }
  listening = await opened;
  expect([listening.url, sandbox.baseUrl]).toEqual([`http://[::1]:${listening.port}`, listening.url]);
  const statuses = [call(sandbox, '/accounts'), fetch(`${listening.url}/_sandbox/state`)];
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([200, 200]);
});

test('with hosts, a request to any other host is rejected with 421, a preflight too', async () => {
  await sandbox.close();
  listening = await sandbox.listen({ hosts: ['LocalHost', '[::1]'] });
  const statusFor = async (host: string, method = 'GET') => {
    const request = get('/accounts', 'Access-Control-Request-Method: PATCH').replace('GET', method);
    return (await send(request.replace('Host: sandbox', `Host: ${host}`))).slice(9, 12);
  };
  for (const host of ['LOCALHOST:4010', '[::1]:80']) expect(await statusFor(host)).toBe('200');
  const isOther = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
    /shop/.test(headers.host ?? '');
  const fault = sandbox.faults.add({ kind: 'status', status: 503 }, { when: isOther });
  for (const host of ['shop.example', 'localhost.shop.example:4010'])
    expect(await statusFor(host)).toBe('421');
  expect(fault.hits).toBe(0);
  expect(await statusFor('shop.example', 'OPTIONS')).toBe('421');
  expect(await statusFor('localhost', 'OPTIONS')).toBe('204');
});
