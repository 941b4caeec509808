import { STATUS_CODES } from 'node:http';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { gzipSync } from 'node:zlib';
import type { AnyAccountingError } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../../support/caught.ts';
import { callWith, type METHODS, quickClient } from '../../support/four-methods.ts';
import { closedAgain, listenersOn, openResources } from '../../support/open-resources.ts';
import { product, productJson } from '../../support/records.ts';
import { redirect, success } from '../../support/responses.ts';
import {
  certificate,
  type ScriptedResponse,
  type SeenRequest,
  scriptedServer,
  secureServer,
} from '../../support/scripted-server.ts';

type Call = 'LIST' | (typeof METHODS)[number];

/** What follows a cut in the body: the same request again, an error that says applied, success, or the error of the status. */
type Then = 'sent again' | 'applied' | 'done' | 'unknown_problem';

const hour = 3_600_000;

/** How the end of a body is marked. */
type Framing = 'length' | 'chunked';

/** The head of a response after which the connection closes. */
const headOf = (status: number | string, headers: readonly string[]) => {
  const line = typeof status === 'string' ? status : `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  return Buffer.from([line, ...headers, 'connection: close', '', ''].join('\r\n'));
};

/** These bytes straight onto the socket, and then the end of the connection. */
const sendRaw =
  (bytes: Uint8Array): ScriptedResponse =>
  (_, { socket }) =>
    void socket.end(bytes);

/** The bytes of a response to a call: a record, a list of it, a problem, or a 204; and where its body begins. */
function responseTo(call: Call, status: number, framing: Framing = 'length') {
  const value = status >= 400 ? { type: 'other' } : call === 'LIST' ? [{ id: '42' }] : { id: '42' };
  const text = JSON.stringify(value);
  const type = `content-type: application/${status >= 400 ? 'problem+json' : 'json'}`;
  const end = framing === 'length' ? `content-length: ${text.length}` : 'transfer-encoding: chunked';
  // In two chunks, so that a body can end between them.
  const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`;
  const framed = framing === 'length' ? text : `${chunk(text.slice(0, 5))}${chunk(text.slice(5))}0\r\n\r\n`;
  const head = headOf(status, status === 204 ? [] : [type, end]);
  return { bytes: Buffer.concat([head, Buffer.from(status === 204 ? '' : framed)]), bodyAt: head.length };
}

/** The expected end of a call whose response is cut in its head or in its body. */
function due(then: Then, inHead: boolean, attempts: number): string {
  const again = inHead || then === 'sent again';
  if (!again && then === 'done') return 'done, requests 1';
  if (again && attempts === 2) return 'done, requests 2';
  if (inHead) return 'connection_failed, unknown, retryable true, requests 1';
  if (again || then === 'applied') return `unexpected_response, applied, retryable ${again}, requests 1`;
  return `${then}, rejected, retryable false, requests 1`;
}

test.each<[Call, number, Then, Framing, attempts: 1 | 2]>([
  ['LIST', 200, 'sent again', 'chunked', 1],
  ['LIST', 200, 'sent again', 'chunked', 2],
  ['POST', 201, 'applied', 'chunked', 2],
  ['PATCH', 200, 'sent again', 'length', 2],
  ['DELETE', 200, 'done', 'length', 2],
  ['DELETE', 204, 'done', 'length', 2],
  // The bytes of a problem are the same for every method.
  ['POST', 422, 'unknown_problem', 'length', 2],
])(
  'a %s whose %i response is cut at any byte ends as the byte decides: in the body %s (framed by %s, attempts %i)',
  async (call, status, then, framing, attempts) => {
    const before = openResources();
    const { signal } = new AbortController();
    const { bytes, bodyAt } = responseTo(call, status, framing);
    const seen = new Map<string, SeenRequest[]>();
    await using server = await scriptedServer((request, wire) => {
      const at = String(request.headers['x-cut']);
      const earlier = seen.get(at) ?? [];
      seen.set(at, [...earlier, request]);
      // The next attempt gets it whole.
      const whole = responseTo(call, call === 'DELETE' ? 204 : call === 'POST' ? 201 : 200).bytes;
      return sendRaw(earlier.length > 0 ? whole : bytes.subarray(0, Number(at)))(request, wire);
    });
    const keys = new Set<unknown>();
    // A head at every tenth byte, its end and the body at each.
    for (let at = 0; at < bytes.length; at += at < bodyAt - 10 ? 10 : 1) {
      // Each has its own client and retry budget. The time limits are long, so that leaks are seen.
      const limits = { timeoutMs: hour, deadlineMs: hour, maxWaitMs: 1_000, rateLimiter: false } as const;
      const client = quickClient(server.url, { ...limits, retry: { maxAttempts: attempts, baseDelayMs: 0 } });
      const options = { headers: { 'x-cut': `${at}` }, signal };
      const called =
        call === 'LIST' ? client.accounts.list({}, options).first() : callWith(client, call, options);
      const error = await called.then(
        () => undefined,
        (error) => error as AnyAccountingError,
      );
      const requests = seen.get(`${at}`) ?? [];
      const found = error && `${error.code}, ${error.outcome}, retryable ${error.retryable}`;
      expect(`${at}: ${found ?? 'done'}, requests ${requests.length}`).toBe(
        `${at}: ${due(then, at < bodyAt, attempts)}`,
      );
      expect(error?.attempts ?? requests.length).toBe(requests.length);
      const sent = requests.map(({ url, headers, body }) => `${url} ${headers['idempotency-key']} ${body}`);
      expect(new Set(sent).size).toBe(1);
      keys.add(requests[0]?.headers['idempotency-key']);
    }
    expect(keys.size).toBe(call === 'POST' ? seen.size : 1);
    expect(listenersOn(signal)).toBe(0);
    await closedAgain(before);
  },
);

const LENGTH = `content-length: ${productJson.length}`;

/** A head of these header lines, and bytes behind it. */
const odd = (
  headers: readonly string[],
  body: string | Uint8Array = productJson,
  status = 'HTTP/1.1 200 OK',
) => Buffer.concat([headOf(status, ['content-type: application/json', ...headers]), Buffer.from(body)]);

const gzip = gzipSync(productJson);
const gzipCutAt = (end: number) =>
  odd([`content-length: ${end}`, 'content-encoding: gzip'], gzip.subarray(0, end));
const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </style.css>; rel=preload\r\n\r\n';

test.each([
  ['early hints before it', Buffer.concat([Buffer.from(hints), odd([LENGTH])])],
  // The last eight bytes are its checksum.
  ['gzip without its trailer', gzipCutAt(gzip.length - 8)],
  ['a byte order mark', odd([], `\ufeff${productJson}`)],
  ['bytes beyond ASCII in a header', odd([LENGTH, 'x-request-id: \u00e9'])],
  ['no length: the end of the connection is the end of the body', odd([])],
  ['a status line of HTTP/1.0', odd([], productJson, 'HTTP/1.0 200 OK')],
])('a response with %s is read', async (_, bytes) => {
  await using server = await scriptedServer(sendRaw(bytes));
  await expect(quickClient(server.url).products.get('42')).resolves.toEqual(product);
  expect(server.requests).toHaveLength(1);
});

test('gzip that is whole as HTTP but ends early is the record or an error, never another value', async () => {
  for (const end of [0, 1, 10, 50, gzip.length - 20, gzip.length - 9]) {
    await using server = await scriptedServer(sendRaw(gzipCutAt(end)));
    const client = quickClient(server.url, { rateLimiter: false, retry: { maxAttempts: 1 } });
    const result = await client.products.get('42').catch((error: unknown) => error);
    if (!(result instanceof Error)) expect(result).toEqual(product);
    else expect(result).toMatchObject({ code: 'unexpected_response', outcome: 'applied' });
  }
});

test('a create does not follow a redirect to another port or name of the same machine, or from https to http', async () => {
  const trusted = getCACertificates('default');
  await using other = await scriptedServer(success);
  const localhost = other.url.replace('127.0.0.1', 'localhost');
  // Asks to send everything again. Other statuses and methods are in transport.test.ts.
  const to = (origin: string) => redirect(307, `${origin}/api/public/v1/products/42`);
  await using server = await scriptedServer(to(other.url), to(localhost));
  await using secure = await secureServer(to(other.url));
  const untrusted = { code: 'connection_failed', outcome: 'not_sent', attempts: 1 };
  expect(await caught(callWith(quickClient(secure.url), 'POST'))).toMatchObject(untrusted);
  expect(secure.requests).toHaveLength(0);
  setDefaultCACertificates([...trusted, certificate]);
  try {
    for (const [baseUrl, locationOrigin] of [
      [server.url, other.url],
      [server.url, localhost],
      [secure.url, other.url],
    ] as const) {
      const error = await caught(callWith(quickClient(baseUrl), 'POST'));
      const outcome = { outcome: 'rejected', attempts: 1, retryable: false };
      expect(error).toMatchObject({ code: 'redirected', status: 307, locationOrigin, ...outcome });
      expect(error).toHaveProperty('message', expect.stringContaining(locationOrigin));
      expect(error).toHaveProperty('message', expect.stringContaining('Correct baseUrl.'));
    }
    expect([server.requests.length, secure.requests.length, other.connections]).toEqual([2, 1, 0]);
  } finally {
    setDefaultCACertificates(trusted);
  }
});
