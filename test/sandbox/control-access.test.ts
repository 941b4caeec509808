import { connect } from 'node:net';
import { createSandbox, type Listening, type Sandbox } from 'accounting-data-sdk/testing';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { call, createProduct } from './support/call.ts';
import { Events } from './support/control.ts';
import { bodyOf, headerOf, rawCall } from './support/raw.ts';

let sandbox: Sandbox;
let listening: Listening;

beforeEach(async () => {
  sandbox = createSandbox({ records: { accounts: 3 } });
  // CORS, which lets pages use the service, is on by default.
  listening = await sandbox.listen({ control: true, hosts: ['sandbox', 'localhost', '127.0.0.1'] });
});
afterEach(() => sandbox.close());

/** Sends a request byte for byte. The status of its response. */
async function statusOf(request: string, ...headers: string[]): Promise<string> {
  const { text } = await rawCall(
    listening,
    `${[`${request} HTTP/1.1`, ...headers, 'Connection: close'].join('\r\n')}\r\n\r\n`,
  ).response;
  if (request.includes(' /_sandbox/')) {
    expect(text).not.toMatch(/access-control-allow/i);
    expect(headerOf(text, 'X-Content-Type-Options')).toBe('nosniff');
    expect(headerOf(text, 'Cross-Origin-Resource-Policy')).toBe('same-origin');
    expect(headerOf(text, 'Cache-Control')).toBe('no-store');
  }
  const status = text.slice(9, 12);
  if (Number(status) >= 400) expect(JSON.parse(bodyOf(text))).toMatchObject({ status: Number(status) });
  return status;
}

const OWN = 'Host: 127.0.0.1:4010';
const JSON_TYPE = 'Content-Type: application/json';

test.each<[who: string, headers: string[], status: string]>([
  ['this machine', [OWN], '200'],
  ['this machine by another name', ['Host: [::1]:4010'], '200'],
  ['this machine by a third name', ['Host: 127.8.9.10'], '200'],
  ['a name of hosts', ['Host: SANDBOX:4010'], '200'],
  ['its own page', [OWN, 'Origin: http://127.0.0.1:4010', 'Sec-Fetch-Site: same-origin'], '200'],
  ['the address bar', [OWN, 'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate'], '200'],
  ['a page whose name points here', ['Host: shop.example:4010'], '421'],
  ['a page whose name looks like this machine', ['Host: 127.0.0.1.shop.example'], '421'],
  ['a page whose name ends like it', ['Host: evil-localhost'], '421'],
  ['a page of another origin', [OWN, 'Origin: https://shop.example'], '403'],
  ['a page on another port', [OWN, 'Origin: http://127.0.0.1:8080'], '403'],
  ['a page over HTTPS', [OWN, 'Origin: https://127.0.0.1:4010'], '403'],
  ['a page without an origin', [OWN, 'Origin: null'], '403'],
  ['a script element of another site', [OWN, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: no-cors'], '403'],
  ['a page of another port that has no CORS', [OWN, 'Sec-Fetch-Site: same-site'], '403'],
  ['a link of another site', [OWN, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate'], '403'],
])('%s with %j gets %s for the state of the sandbox', async (_who, headers, status) => {
  expect(await statusOf('GET /_sandbox/state', ...headers)).toBe(status);
});

test('a link of another site leads to the window, which no page may frame', async () => {
  const link = [OWN, 'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Mode: navigate', 'Connection: close'];
  const { text } = await rawCall(listening, `GET /_sandbox/ HTTP/1.1\r\n${link.join('\r\n')}\r\n\r\n`)
    .response;
  expect(text).toMatch(/^HTTP\/1.1 200 /);
  const policy = headerOf(text, 'Content-Security-Policy') ?? '';
  expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect(policy.replaceAll(/'[\w-]+'|data:/g, '')).not.toMatch(/:|\*|\.\w/);
  expect(await statusOf('GET /_sandbox', OWN)).toBe('308');
});

test.each(['POST /_sandbox/reset', 'DELETE /_sandbox/faults', 'PATCH /_sandbox/records/accounts/1'])(
  '%s needs a content type that no page can send to another origin',
  async (request) => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      expect(await statusOf(request, OWN, `Content-Type: ${type}`)).toBe('415');
    expect(await statusOf(request, OWN)).toBe('415');
    expect(await statusOf(request, OWN, 'Content-Type: text/plain; application/json')).toBe('415');
    expect(await statusOf(request, OWN, 'Content-Type: Application/JSON; charset=utf-8')).toMatch(/^20/);
    expect(await statusOf(request, OWN, JSON_TYPE, 'Origin: https://shop.example')).toBe('403');
    expect(await statusOf(request, 'Host: shop.example', JSON_TYPE)).toBe('421');
  },
);

test('a preflight is never allowed for the control, and always for the service', async () => {
  const preflight = ['Access-Control-Request-Method: POST', 'Access-Control-Request-Headers: content-type'];
  expect(await statusOf('OPTIONS /_sandbox/reset', OWN, ...preflight)).toBe('405');
  const other = [OWN, 'Origin: https://shop.example', ...preflight];
  expect(await statusOf('OPTIONS /_sandbox/reset', ...other)).toBe('403');
  expect(await statusOf('OPTIONS /api/public/v1/accounts', ...other)).toBe('204');
});

test('without control there is nothing below /_sandbox', async () => {
  await sandbox.close();
  listening = await sandbox.listen();
  const { text } = await rawCall(listening, `GET /_sandbox/ HTTP/1.1\r\n${OWN}\r\nConnection: close\r\n\r\n`)
    .response;
  expect(text).toMatch(/^HTTP\/1.1 401 /);
});

test('a WebSocket is rejected, and so is a path that only resembles the control', async () => {
  const upgrade = [OWN, 'Upgrade: websocket', 'Connection: Upgrade', 'Sec-WebSocket-Version: 13'];
  const { text } = await rawCall(
    listening,
    `GET /_sandbox/events HTTP/1.1\r\n${upgrade.join('\r\n')}\r\n\r\n`,
  ).response;
  expect(text).toMatch(/^HTTP\/1.1 400 .*no WebSockets/s);
  for (const path of [
    '/_sandboxes/state',
    '//_sandbox/state',
    '/%5Fsandbox/state',
    'http://x/_sandbox/state',
  ])
    expect(await statusOf(`GET ${path.replace('_sandbox/', '_sandbox%2F')}`, OWN)).toBe('401');
  expect((await call(sandbox, '/accounts')).status).toBe(200);
});

test('many readers of events, and one that reads nothing, take nothing from the service', async () => {
  const readers = await Promise.all(Array.from({ length: 200 }, () => Events.open(listening)));
  const idle = connect(listening.port, '127.0.0.1');
  idle.write(`GET /_sandbox/events HTTP/1.1\r\n${OWN}\r\n\r\n`);
  idle.pause();
  expect((await call(sandbox, '/accounts')).status).toBe(200);
  const seen = await Promise.all(readers.map((reader) => reader.next()));
  expect(new Set(seen.map(({ event }) => event))).toEqual(new Set(['request']));
  // All leave in the middle.
  for (const reader of readers) reader.close();
  idle.destroy();
  expect((await call(sandbox, '/accounts')).status).toBe(200);
  expect(sandbox.count()).toBe(2);
});

test('a reader that is far behind is disconnected, and continues later', async () => {
  const idle = connect(listening.port, '127.0.0.1');
  idle.write(`GET /_sandbox/events HTTP/1.1\r\n${OWN}\r\n\r\n`);
  await new Promise((resolve) => idle.once('data', resolve));
  idle.pause();
  const closed = new Promise((resolve) => idle.once('close', resolve));
  idle.on('error', () => {});
  const description = 'x'.repeat(60_000);
  for (let sent = 0; sent < 120; sent += 1) await createProduct(sandbox, { description });
  idle.resume();
  await closed;
  const again = await Events.open(listening, '?after=119');
  expect(await again.next()).toMatchObject({ data: { number: 120 } });
  // What a reader has missed may be more than it may be behind later.
  const all = await Events.open(listening, '?after=0');
  expect((await call(sandbox, '/accounts')).status).toBe(200);
  const numbers = new Set<number>();
  while (!numbers.has(121)) numbers.add(((await all.next()).data as { number: number }).number);
  expect(numbers.size).toBe(121);
});
