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

const stream = (start: (controller: ReadableStreamDefaultController) => void) =>
  new ReadableStream({ start });

/** What happened if no record could be read from a 2xx. */
const OUTCOME = {
  empty: 'applied',
  not_utf8: 'applied',
  truncated: 'applied',
  too_large: 'applied',
  wrong_content: 'unknown',
} as const;

interface Row {
  readonly of: string;
  readonly body: BodyInit;
  readonly is: 'read' | keyof typeof OUTCOME;
  /** The content type, application/json if left out, none if undefined. */
  readonly type?: string | undefined;
}

const RECORD = '{"id":"1"}';
const ofType = (is: Row['is'], ...types: readonly string[]) =>
  types.map((type): Row => ({ of: `type ${type}`, type, body: RECORD, is }));
const ofJson = (is: Row['is'], ...bodies: readonly string[]) =>
  bodies.map((body): Row => ({ of: `JSON ${body}`, body, is }));

const rows: readonly Row[] = [
  ...ofType(
    'read',
    'Application/JSON; charset=utf-8',
    'application/json, application/json',
    'application/problem+json',
    'application/vnd.api.v1-x+json ;v=1',
  ),
  ...ofType(
    'wrong_content',
    'text/html',
    'text/json',
    'application/jsonp',
    'application/jsonseq+x',
    'application/x json',
    'application/!+json',
    'application/+json',
    'xapplication/json',
    'text/plain; application/json',
  ),
  { of: 'no type', type: undefined, body: new TextEncoder().encode(RECORD), is: 'read' },
  { of: 'JSON between white space', body: ` \r\n\t${RECORD}\n\n`, is: 'read' },
  ...ofJson('read', '{"id":"1","a":"\\u0000"}', '{"id":"1","a":"\\ud800"}'),
  ...ofJson('wrong_content', 'null', '7', '"text"', '[]', `[${RECORD}]`),
  { of: 'a page', body: '\n <!doctype html>', is: 'wrong_content' },
  { of: 'half a record', body: '{"html":"<', is: 'truncated' },
  { of: 'no body', body: '', is: 'empty' },
  { of: 'bytes that are not UTF-8', body: new Uint8Array([0x22, 0xff, 0x22]), is: 'not_utf8' },
  { of: 'UTF-16', body: Buffer.from(`\ufeff${RECORD}`, 'utf16le'), is: 'not_utf8' },
  { of: 'exactly maxBodyBytes', body: RECORD.padEnd(1_000), is: 'read' },
  { of: 'more than maxBodyBytes', body: RECORD.padEnd(1_001), is: 'too_large' },
  {
    of: 'a stream that breaks off',
    body: stream((body) => body.error(new TypeError('terminated'))),
    is: 'truncated',
  },
  { of: 'a stream of strings', body: stream((body) => body.enqueue(RECORD)), is: 'truncated' },
];

test.each(rows)('a 2xx of $of is $is', async ({ body, is, ...row }) => {
  const type = 'type' in row ? row.type : 'application/json';
  const headers = { 'x-request-id': `r-${KEY}`, ...(type === undefined ? {} : { 'content-type': type }) };
  const response = new Response(body, { status: 201, headers });
  if (is === 'read') {
    const record = await clientOf(response).accounts.get('1');
    return expect(record).toEqual(JSON.parse(typeof body === 'string' ? body : RECORD));
  }
  expect(await failureOf(response, exactly(response))).toMatchObject({
    code: 'unexpected_response',
    status: 201,
    reason: is,
    recordId: undefined,
    outcome: OUTCOME[is],
    requestId: 'r-[redacted]',
    retryable: is === 'truncated',
  });
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

test.each([300, 399])('the body of a redirect with %i is not read', async (status) => {
  const { response, state } = unread(status, { location: 'https://Other.example/path?token=1' });
  expect(await failureOf(response, exactly(response))).toMatchObject({
    code: 'redirected',
    status,
    locationOrigin: 'https://other.example',
  });
  expect(state.cancelled).toBe(true);
});

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

test.each([
  ['/api/public/v1/accounts/1/', '/api/public/v1/accounts/1/'],
  ['http://127.0.0.1/api/public/v1/accounts/1/?token=1#x', '/api/public/v1/accounts/1/'],
  [`/${KEY}/${encodeURIComponent(KEY)}`, '/[redacted]/[redacted]'],
])('a redirect to %s of the same address shows its path', async (location, path) => {
  const response = new Response(null, { status: 301, headers: { location } });
  const { message } = (await failureOf(response, { baseUrl: 'http://127.0.0.1' })) as Error;
  expect(message).toContain(`was redirected to ${path} of the same address. Redirects are never`);
  expect(message).toContain('Correct baseUrl, or what redirects there');
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

const typed = (body: string, type: string | undefined, status = 200) => {
  const response = new Response(new TextEncoder().encode(body), { status });
  if (type !== undefined) response.headers.set('content-type', type);
  return response;
};

test.each<[what: string, response: Response, says: string, does: string]>([
  [
    'an error',
    jsonResponse({ error: 'Subscription expired' }),
    '{"error":"Subscription expired"}',
    'Do what it says',
  ],
  [
    'an error with a code',
    jsonResponse({ error: { code: 5, message: `Key ${KEY} is suspended` } }),
    '"message":"Key [redacted] is suspended"',
    'Do what it says',
  ],
  [
    'a failure',
    jsonResponse({ success: false, message: 'Maintenance until 6' }),
    'Maintenance until 6',
    'Do what it says',
  ],
  [
    'a wrapped list',
    jsonResponse({ data: [{ id: '1', name: 'Kim' }], total: 1 }),
    'an object with data, total',
    'member data',
  ],
  [
    'another wrapped list',
    jsonResponse({ page: 1, items: [] }),
    'an object with page, items',
    'member items',
  ],
  [
    'one more',
    jsonResponse({ '@odata.context': 'x', value: [{ id: '1', name: 'Kim' }] }),
    'an object with',
    'member value',
  ],
  ['one record', jsonResponse({ id: '1', name: 'Kim' }), 'an object with id, name', 'Check that baseUrl'],
  ['an empty object', jsonResponse({}), 'an object with no members', 'Check that baseUrl'],
  ['null', jsonResponse(null), 'records, a JSON array): null', 'Check that baseUrl'],
  ['a page', typed('<h1>Sign in</h1>', 'text/html'), 'text/html: <h1>Sign in</h1>', 'Check that baseUrl'],
  ['a text', typed('Offline', 'text/plain'), 'text/plain: Offline', 'Check that baseUrl'],
  [
    'a body of an unknown type',
    typed('Offline', 'application/octet-stream'),
    'application/octet-stream: Offline',
    'Check that baseUrl',
  ],
])('a list that is %s is an error that says what came and what to do', async (_, response, says, does) => {
  const error = (await caught(clientOf(response).accounts.list().first())) as Error;
  expect(error).toMatchObject({ code: 'unexpected_response', reason: 'wrong_content' });
  expect(error.message).toContain('GET /accounts returned 200, but its body is not the expected JSON');
  expect(error.message).toContain(says);
  expect(error.message).toContain(does);
  expect(error.message).not.toContain('Kim');
  expect(error.message).not.toContain(KEY);
});

test.each([
  ['get', { error: 'Subscription expired' }, true],
  ['get', { success: false, msg: 'Subscription expired' }, true],
  ['get', { _id: '1', name: 'Subscription expired' }, false],
  ['get', { id: 7, message: 'Subscription expired' }, false],
  ['create', { success: false, message: 'Subscription expired' }, true],
  ['update', { errors: ['Subscription expired'] }, true],
  ['delete', { success: false, message: 'Subscription expired' }, true],
] as const)('a %s that gets %j in a 200 shows the words of an error: %s', async (method, body, isShown) => {
  const { products } = clientOf(jsonResponse(body));
  const calls = {
    get: () => products.get('1'),
    create: () => products.create({ name: 'Desk' }),
    update: () => products.update('1', { name: 'Desk' }),
    delete: () => products.delete('1'),
  };
  const { message } = (await caught(calls[method]())) as Error;
  expect(message.includes('Subscription expired')).toBe(isShown);
});

test.each([
  ['an object with numeric keys, as PHP sends it', { 0: { id: '1' }, 2: { id: '3' } }, ['1', '3']],
  ['the same from 1', { 1: { id: '1' }, 2: { id: '2' } }, ['1', '2']],
  ['the same as members of JSON-LD', { member: { 1: { id: '1' } } }, ['1']],
  ['the same as members of Hydra', { 'hydra:member': { 4: { id: '9' } } }, ['9']],
])('a list may be %s', async (_, body, ids) => {
  const page = await clientOf(jsonResponse(body)).accounts.list({}, { pagination: 'none' }).pages().next();
  expect(page.value?.ids).toEqual(ids);
});

test.each([{ 1: 'a', 2: 'b' }, { 1: { id: '1' }, next: null }, { 1: [] }])(
  'an object with other members or values is not a list: %j',
  async (body) => {
    const read = clientOf(jsonResponse(body)).accounts.list().first();
    expect(await caught(read)).toMatchObject({ reason: 'wrong_content' });
  },
);

test.each([
  [304, '', 'A cache on the way returned it: exclude the service from that cache.'],
  [
    405,
    '<h1>Method Not Allowed</h1>',
    'Allow GET in any cache, proxy or firewall on the way, and check baseUrl.',
  ],
])('a %i of a cache is no redirect, and says what to do', async (status, body, advice) => {
  const response = new Response(status === 304 ? null : body, { status });
  const error = (await failureOf(response)) as Error;
  expect(error).toMatchObject({ code: 'unknown_problem', status, retryable: false });
  expect(error.message).toContain(`GET /accounts/1 returned ${status}`);
  expect(error.message).toContain(advice);
});
