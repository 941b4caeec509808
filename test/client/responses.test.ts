import { type ApiError, type ClientOptions, createClient } from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { caught } from '../support/caught.ts';
import { jsonResponse, newOrigin, problemResponse, scriptedFetch } from '../support/scripted-fetch.ts';

const KEY = 's3cret/key';

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

/** A `fetch` that returns this very response. */
const exactly = (response: Response) => ({ fetch: async () => response });

/** What happened if no record could be read from a 2xx. */
const OUTCOME = {
  empty: 'applied',
  not_utf8: 'applied',
  truncated: 'applied',
  too_large: 'applied',
  wrong_content: 'unknown',
} as const;

/** `type` is the content type: application/json if left out, none if it is empty. */
type Row = readonly [of: string, is: 'read' | keyof typeof OUTCOME, body: BodyInit, type?: string];

const RECORD = '{"id":"1"}';
const ofType = (is: Row[1], ...types: readonly string[]) =>
  types.map((type): Row => [`type ${type}`, is, RECORD, type]);
const ofJson = (is: Row[1], ...bodies: readonly string[]) =>
  bodies.map((body): Row => [`JSON ${body}`, is, body]);

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
    'xapplication/json',
    'text/plain; application/json',
  ),
  ['no type', 'read', new TextEncoder().encode(RECORD), ''],
  ['JSON between white space', 'read', ` \r\n\t${RECORD}\n\n`],
  ...ofJson('read', '{"id":"1","a":"\\u0000"}', '{"id":"1","a":"\\ud800"}'),
  ...ofJson('wrong_content', 'null', '7', '[]', `[${RECORD}]`),
  ['a page', 'wrong_content', '\n <!doctype html>'],
  ['a page behind white space of all kinds', 'wrong_content', '\ufeff\r\n\t\v\f \0<!doctype html>'],
  ['a page in UTF-16', 'wrong_content', Buffer.from('\ufeff\r\n<!doctype html>', 'utf16le')],
  [
    'a page in UTF-16, the other way round',
    'wrong_content',
    Buffer.from('\ufeff\r\n<!doctype html>', 'utf16le').swap16(),
  ],
  ['half a record', 'truncated', '{"html":"<'],
  ['no body', 'empty', ''],
  ['bytes that are not UTF-8', 'not_utf8', new Uint8Array([0x22, 0xff, 0x22])],
  ['UTF-16', 'not_utf8', Buffer.from(`\ufeff${RECORD}`, 'utf16le')],
  ['exactly maxBodyBytes', 'read', RECORD.padEnd(1_000)],
  ['more than maxBodyBytes', 'too_large', RECORD.padEnd(1_001)],
];

test.for(rows)('a 2xx of %s is %s', async ([, is, body, type = 'application/json']) => {
  const headers = { 'x-request-id': `r-${KEY}`, ...(type === '' ? {} : { 'content-type': type }) };
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

test.each(['', ' ', '\r\n', '\t\v\f', '\ufeff', '\0', '\ufeff\n\n '])(
  'a delete whose 2xx has the body %j, which says nothing, is done, whatever its type',
  async (body) => {
    const { products } = clientOf(new Response(body, { headers: { 'content-type': 'text/html' } }));
    await expect(products.delete('1')).resolves.toBeUndefined();
  },
);

test.each([
  [{ type: 'opaqueredirect' }],
  // Of a browser.
  [{ type: 'opaqueredirect', status: 0, ok: false, body: null }],
  [{ redirected: true }],
])('a response with %j was redirected, whatever its status', async (properties) => {
  const response = jsonResponse({ id: '1' });
  for (const [name, value] of Object.entries(properties)) Object.defineProperty(response, name, { value });
  expect(await failureOf(response, exactly(response))).toMatchObject({
    code: 'redirected',
    outcome: 'unknown',
    message: expect.stringContaining('GET /accounts/1 was redirected. Redirects'),
  });
});

test.each([
  ['/elsewhere', undefined],
  ['ftp://other.example/', undefined],
  ['javascript:alert(1)', undefined],
  ['HTTP://other.example:81/x', 'http://other.example:81'],
  [`https://${encodeURIComponent(KEY)}.example/`, undefined],
])('a redirect to %s shows the origin %s', async (location, locationOrigin) => {
  const response = new Response(null, { status: 302, headers: { location } });
  expect(await failureOf(response)).toMatchObject({ status: 302, locationOrigin });
});

const OTHER_PATH = 'Correct baseUrl, or what redirects there';
const SLASH = 'wants a slash at the end of the path, and no option adds one: let it accept paths without it';

test.each([
  ['/api/public/v1/accounts/1/', '/api/public/v1/accounts/1/', SLASH],
  ['http://127.0.0.1/api/public/v1/accounts/1/?token=1#x', '/api/public/v1/accounts/1/', SLASH],
  ['/login', '/login', OTHER_PATH],
  ['/api/public/v2/accounts/1', '/api/public/v2/accounts/1', OTHER_PATH],
  [`/${KEY}/${encodeURIComponent(KEY)}`, '/[redacted]/[redacted]', OTHER_PATH],
])('a redirect to %s at the same address shows its path, and what to do', async (location, path, advice) => {
  const response = new Response(null, { status: 301, headers: { location } });
  const { message } = (await failureOf(response, { baseUrl: 'http://127.0.0.1' })) as Error;
  expect(message).toContain(`was redirected to ${path} at the same address. Redirects are never`);
  expect(message).toContain(advice);
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

const typed = (body: string, type: string) => new Response(body, { headers: { 'content-type': type } });
const suspended = { error: { code: 5, message: `Key ${KEY} is suspended` } };

test.each<[what: string, response: Response, says: string, does: string]>([
  ['an error', jsonResponse(suspended), '"message":"Key [redacted] is suspended"', 'Do what it says'],
  ['a wrapped list', jsonResponse({ data: [{ name: 'Kim' }], total: 1 }), 'with data, total', 'member data'],
  ['an empty list', jsonResponse({ page: 1, items: [] }), 'an object with page, items', 'member items'],
  [
    'a list two levels down',
    jsonResponse({ meta: {}, data: { items: [{ id: '1', name: 'Kim' }] } }),
    'an object with meta, data',
    'member data.items',
  ],
  ['an empty object', jsonResponse({}), 'an object with no members', 'Check that baseUrl'],
  ['a page', typed('<h1>No</h1>', 'text/html'), 'text/html: <h1>No</h1>', 'Check that baseUrl'],
  ['a text', typed('Offline', 'text/plain'), 'text/plain: Offline', 'Check that baseUrl'],
])('a list that is %s is an error that says what came and what to do', async (_, response, says, does) => {
  const error = (await caught(clientOf(response).accounts.list().first())) as Error;
  expect(error).toMatchObject({ code: 'unexpected_response', reason: 'wrong_content' });
  expect(error.message).toContain('GET /accounts returned 200, but its body is not the expected JSON');
  expect(error.message).toContain(says);
  expect(error.message).toContain(does);
  expect(error.message).not.toMatch(new RegExp(`Kim|${KEY}`));
});

test.each([
  ['get', { error: 'Subscription expired' }, true],
  ['get', { _id: '1', name: 'Subscription expired' }, false],
  ['create', { success: false, message: 'Subscription expired' }, true],
] as const)('a %s that gets %j in a 200 shows the words of an error: %s', async (method, body, isShown) => {
  const { products } = clientOf(jsonResponse(body));
  const call = method === 'get' ? products.get('1') : products.create({ name: 'Desk' });
  const { message } = (await caught(call)) as Error;
  expect(message.includes('Subscription expired')).toBe(isShown);
});

test.each([
  ['create', 'look for the record before you repeat it'],
  ['update', 'Check that baseUrl'],
] as const)('a %s that gets a page after JSON is no sign of maintenance: %s', async (method, advice) => {
  const fetch = scriptedFetch(jsonResponse({ id: '1' }), typed('<h1>No</h1>', 'text/html'));
  const { products } = clientOf(jsonResponse({}), { fetch });
  await products.get('1');
  const written =
    method === 'create' ? products.create({ name: 'Desk' }) : products.update('1', { name: 'x' });
  const { message } = (await caught(written)) as Error;
  expect(message).toContain(advice);
  expect(message).not.toContain('maintenance');
});

test('a create whose response breaks off says that the service has applied it, and what to do', async () => {
  const { products } = clientOf(typed('{"id":', 'application/json'));
  const { message } = (await caught(products.create({ name: 'Desk' }))) as Error;
  const words = 'has applied it (outcome: applied): look for the record before you repeat it';
  expect(message).toContain(words);
});

test('a record of two megabytes is read by default', async () => {
  const record = { id: '1', note: 'x'.repeat(2 * 2 ** 20) };
  expect(await clientOf(jsonResponse(record), { maxBodyBytes: undefined }).accounts.get('1')).toEqual(record);
});

test('a page is a sign of maintenance also after a delete without content', async () => {
  const deleted = new Response('', { headers: { 'content-type': 'text/html' } });
  const fetch = scriptedFetch(jsonResponse({ id: '1' }), deleted, typed('<h1>No</h1>', 'text/html'));
  const { products } = clientOf(jsonResponse({}), { fetch });
  await products.get('1');
  await products.delete('1');
  expect(((await caught(products.get('1'))) as Error).message).toContain('maintenance');
});

test('a list may be an object with numeric keys, as PHP sends it, but with no other members or values', async () => {
  for (const [body, ids] of [
    [{ 0: { id: '1' }, 2: { id: '3' } }, ['1', '3']],
    [{ member: { 1: { id: '1' } } }, ['1']],
    [{ 'hydra:member': { 4: { id: '9' } } }, ['9']],
  ] as const) {
    const list = clientOf(jsonResponse(body)).accounts.list({}, { pagination: 'none' });
    expect((await list.pages().next()).value?.ids).toEqual(ids);
  }
  for (const body of [{ 1: 'a', 2: 'b' }, { 1: { id: '1' }, next: null }, { 1: [] }]) {
    const read = clientOf(jsonResponse(body)).accounts.list().first();
    expect(await caught(read)).toMatchObject({ reason: 'wrong_content' });
  }
});

test.each([
  [304, '', 'A cache on the way returned it: exclude the service from that cache.'],
  [
    405,
    '<h1>Method Not Allowed</h1>',
    'Allow GET in any cache, proxy or firewall on the way, and check baseUrl.',
  ],
  [406, '<h1>Not Acceptable</h1>', 'what a proxy or firewall on the way allows'],
])('a %i of a cache or firewall is no redirect, and says what to do', async (status, body, advice) => {
  const response = new Response(status === 304 ? null : body, { status });
  const error = (await failureOf(response)) as Error;
  expect(error).toMatchObject({ code: 'unknown_problem', status, retryable: false });
  expect(error.message).toContain(`GET /accounts/1 returned ${status}`);
  expect(error.message).toContain(advice);
});
