import { type ApiError, type ClientOptions, createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { caught } from '../support/caught.ts';
import { jsonResponse, newOrigin, problemResponse, scriptedFetch } from '../support/scripted-fetch.ts';

const KEY = 's3cret/key';
const JSON_TYPE = { 'content-type': 'application/json' };

const clientOf = (response: Response, options: ClientOptions = {}) =>
  createClient({
    baseUrl: newOrigin(),
    apiKey: KEY,
    fetch: scriptedFetch(response),
    retry: { maxAttempts: 1 },
    maxBodyBytes: 1_000,
    ...options,
  });

/** What a GET fails with if the service returns a response. */
const failureOf = (response: Response, options?: ClientOptions) =>
  caught(clientOf(response, options).accounts.get('1'));

/** A body that is never read to its end; `state` says whether it was cancelled. */
function unread(status: number, headers: Record<string, string> = {}) {
  const state = { cancelled: false };
  const body = new ReadableStream({
    cancel() {
      state.cancelled = true;
    },
  });
  return { response: new Response(body, { status, headers }), state };
}

/** A `fetch` that returns this very response. */
const exactly = (response: Response) => ({ fetch: async () => response });

test.each([
  'application/json',
  'Application/JSON; charset=utf-8',
  'application/problem+json',
  'application/vnd.api.v1-x+json ;v=1',
])('a body of type %s is read', async (type) => {
  const response = new Response('{"id":"1"}', { headers: { 'content-type': type } });
  expect(await clientOf(response).accounts.get('1')).toEqual({ id: '1' });
});

test('a body without a content type is read as JSON', async () => {
  const response = new Response(new TextEncoder().encode('{"id":"1"}'));
  expect(response.headers.get('content-type')).toBeNull();
  expect(await clientOf(response).accounts.get('1')).toEqual({ id: '1' });
});

test.each([
  'text/html',
  'text/json',
  'application/jsonp',
  'application/jsonseq+x',
  'application/x json',
  'application/!+json',
  'application/+json',
  'xapplication/json',
  'text/plain; application/json',
])('JSON of type %s is not the response of the service', async (type) => {
  const response = new Response('{"id":"1"}', { headers: { 'content-type': type } });
  expect(await failureOf(response)).toMatchObject({
    code: 'unexpected_response',
    reason: 'wrong_content',
    outcome: 'unknown',
    retryable: false,
  });
});

test.each([
  ['empty', 'applied', new Uint8Array(0)],
  ['not_utf8', 'applied', new Uint8Array([0x22, 0xff, 0x22])],
  ['truncated', 'applied', '{"html":"<'],
  ['wrong_content', 'unknown', '\n <!doctype html>'],
  ['too_large', 'applied', `"${'x'.repeat(999)}"`],
] as const)('a 2xx that is %s has outcome %s', async (reason, outcome, body) => {
  const headers = { ...JSON_TYPE, 'x-request-id': `r-${KEY}` };
  expect(await failureOf(new Response(body, { status: 201, headers }))).toMatchObject({
    code: 'unexpected_response',
    status: 201,
    reason,
    issues: [],
    outcome,
    requestId: 'r-[redacted]',
    retryable: reason === 'truncated',
  });
});

test('a body of exactly maxBodyBytes is read', async () => {
  const body = JSON.stringify({ id: '1', note: 'x'.repeat(1_000 - 20) });
  expect(body.length).toBe(1_000);
  await expect(clientOf(new Response(body, { headers: JSON_TYPE })).accounts.get('1')).resolves.toBeDefined();
});

test('reading stops at maxBodyBytes, even if the stream never confirms its cancellation', async () => {
  let pulled = 0;
  let cancelled = false;
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(400).fill(0x20));
      },
      cancel() {
        cancelled = true;
        return new Promise(() => {});
      },
    },
    { highWaterMark: 0 },
  );
  const response = new Response(stream, { headers: JSON_TYPE });
  expect(await failureOf(response, exactly(response))).toMatchObject({ reason: 'too_large' });
  expect({ pulled, cancelled }).toEqual({ pulled: 3, cancelled: true });
});

test.each([
  ['stalls', 200, 'timeout'],
  ['belongs to a redirect', 302, 'redirected'],
])('a body that %s and throws when it is cancelled is a typed error', async (_, status, code) => {
  const cancel = () => {
    throw new Error('cannot be cancelled');
  };
  const body = { getReader: () => ({ read: () => new Promise(() => {}), cancel }), cancel };
  const response = Object.defineProperty(new Response(null, { status, headers: JSON_TYPE }), 'body', {
    value: body,
  });
  const timeoutMs = code === 'timeout' ? 20 : 30_000;
  expect(await failureOf(response, { ...exactly(response), timeoutMs })).toMatchObject({ code });
});

test.each([
  [
    'breaks off',
    (controller: ReadableStreamDefaultController) => controller.error(new TypeError('terminated')),
  ],
  [
    'is a stream of strings',
    (controller: ReadableStreamDefaultController) => controller.enqueue('{"id":"1"}'),
  ],
])('a body that %s is truncated', async (_, start) => {
  const response = new Response(null, { headers: JSON_TYPE });
  Object.defineProperty(response, 'body', { value: new ReadableStream({ start }) });
  expect(await failureOf(response, exactly(response))).toMatchObject({
    reason: 'truncated',
    retryable: true,
  });
});

test('the issues of an invalid record do not show the key', async () => {
  const schema = z.strictObject({ id: z.string(), name: z.string() });
  const response = jsonResponse({ id: `id-${KEY}`, [KEY]: 1 }, 201);
  const error = await caught(clientOf(response, { schemas: { products: schema } }).products.create({}));
  expect(error).toMatchObject({
    reason: 'wrong_shape',
    outcome: 'applied',
    recordId: 'id-[redacted]',
    issues: [expect.stringContaining('name: '), expect.stringContaining('[redacted]')],
  });
  expect(JSON.stringify(error)).not.toContain(KEY);
});

test.each([300, 301, 302, 303, 307, 308, 399])(
  'the body of a redirect with %i is not read',
  async (status) => {
    const { response, state } = unread(status, { location: 'https://Other.example/path?token=1' });
    expect(await failureOf(response, exactly(response))).toMatchObject({
      code: 'redirected',
      status,
      locationOrigin: 'https://other.example',
    });
    expect(state.cancelled).toBe(true);
  },
);

test.each([
  ['type', 'opaqueredirect'],
  ['redirected', true],
])('a response whose %s is %s was redirected, whatever its status', async (name, value) => {
  const { response } = unread(200);
  Object.defineProperty(response, name, { value });
  expect(await failureOf(response, exactly(response))).toMatchObject({
    code: 'redirected',
    outcome: 'unknown',
    message: expect.stringContaining('GET /accounts/1 was redirected. Redirects'),
  });
});

test.each([
  ['/elsewhere', undefined],
  ['ftp://other.example/', undefined],
  ['xhttps://other.example/', undefined],
  ['https://', undefined],
  ['//evil.example', undefined],
  ['javascript:alert(1)', undefined],
  ['data:,x', undefined],
  ['http://[', undefined],
  ['', undefined],
  ['?', undefined],
  ['HTTP://other.example:81/x', 'http://other.example:81'],
  [`https://${encodeURIComponent(KEY)}.example/`, undefined],
])('a redirect to %s shows the origin %s', async (location, locationOrigin) => {
  const response = new Response(null, { status: 302, headers: { location } });
  expect(await failureOf(response)).toMatchObject({ locationOrigin });
});

test('the message of an error is one line, whatever the service writes', async () => {
  const hostile = 'a\r\n2026-01-31 ERROR forged\u001b[2J\u0085\u2028\u202eb';
  const said = 'a 2026-01-31 ERROR forged [2J b';
  const problem = { type: hostile, detail: `${hostile} ${'x'.repeat(2_000)}` };
  const error = (await failureOf(problemResponse(409, problem), { maxBodyBytes: 10_000 })) as ApiError;
  expect(error).toMatchObject({ type: hostile, detail: problem.detail });
  expect(error.message).toContain(`returned 409 (${said}): ${said} xxx`);
  expect(error.message).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
  expect(error.message.length).toBeLessThan(1_000);

  const schema = z.object({ id: z.string(), names: z.record(z.string(), z.number()) });
  const record = Response.json({ id: '1', names: { [hostile]: 'x' } });
  const invalid = await failureOf(record, { schemas: { accounts: schema } });
  expect((invalid as Error).message).toContain(said);
  expect((invalid as Error).message).not.toMatch(/[\p{Cc}\u2028\u202e]/u);
});

test('of an error response no more is read than a megabyte, and no more than maxBodyBytes', async () => {
  const long = (length: number) => problemResponse(400, { detail: 'x', padding: 'y'.repeat(length) });
  const most = { maxBodyBytes: 2 ** 24 };
  expect(await failureOf(long(1_000_000), most)).toMatchObject({ detail: 'x' });
  expect(await failureOf(long(1_100_000), most)).toMatchObject({ detail: undefined });
  expect(await failureOf(long(1_000), { maxBodyBytes: 500 })).toMatchObject({ detail: undefined });
});
