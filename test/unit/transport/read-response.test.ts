import { expect, test } from 'vitest';
import { ShapeError } from '../../../src/schemas/shape-error.ts';
import { Failure } from '../../../src/transport/failure.ts';
import { type Reading, readResponse } from '../../../src/transport/read-response.ts';
import { caught } from '../../support/caught.ts';

const KEY = 's3cret/key';
const FACTS = { method: 'GET', path: '/accounts/1' } as const;
const JSON_TYPE = { 'content-type': 'application/json' };

const record: Reading<unknown> = {
  expected: { kind: 'json', read: (body) => ({ read: body }) },
  maxBodyBytes: 1_000,
  apiKey: KEY,
  bareNotFound: 'error',
};
const nothing: Reading<unknown> = { ...record, expected: { kind: 'nothing', value: 'gone' } };

/** What an answer fails with: the row of the retry table, what decides there, and the error. */
async function failureOf(response: Response, reading = record) {
  const failure = (await caught(readResponse(response, reading))) as Failure;
  expect(failure).toBeInstanceOf(Failure);
  return { fault: failure.fault, answer: failure.answer, error: failure.toError(FACTS) };
}

/** Nothing of it may be read any more; tells whether it was given up. */
function unread(status: number, headers: Record<string, string> = {}) {
  const state = { cancelled: false };
  const body = new ReadableStream({
    cancel() {
      state.cancelled = true;
    },
  });
  return { response: new Response(body, { status, headers }), state };
}

test.each([
  'application/json',
  'Application/JSON; charset=utf-8',
  'application/problem+json',
  'application/vnd.api.v1-x+json ;v=1',
])('a body of type %s is read', async (type) => {
  const response = new Response('{"id":"1"}', { headers: { 'content-type': type } });
  expect(await readResponse(response, record)).toEqual({ read: { id: '1' } });
});

test('a body that names no type is taken at its word', async () => {
  const response = new Response(new TextEncoder().encode('[1]'));
  expect(response.headers.get('content-type')).toBeNull();
  expect(await readResponse(response, record)).toEqual({ read: [1] });
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
])('JSON that calls itself %s is not the service’s', async (type) => {
  const { fault, error } = await failureOf(new Response('{}', { headers: { 'content-type': type } }));
  expect(fault).toBe('wrong_content');
  expect(error).toMatchObject({ reason: 'wrong_content', retryable: false });
});

test.each([
  [
    'empty',
    'empty',
    new Uint8Array(0),
    'without the body that is due. Check that baseUrl points at the service, and what stands between.',
  ],
  [
    'unreadable',
    'not_utf8',
    new Uint8Array([0x22, 0xff, 0x22]),
    'its body is not UTF-8. Ask who runs the service.',
  ],
  [
    'cut',
    'truncated',
    '{"html":"<',
    'its body ended early or is not JSON. Try again, and check what stands between client and service.',
  ],
  [
    'wrong_content',
    'wrong_content',
    '\n <!doctype html>',
    'with something other than the JSON that is due. Check that baseUrl points at the service.',
  ],
  [
    'too_large',
    'too_large',
    `"${'x'.repeat(999)}"`,
    'its body is larger than maxBodyBytes. Raise maxBodyBytes.',
  ],
] as const)('a 2xx that is %s says so: %s', async (fault, reason, body, what) => {
  const headers = { ...JSON_TYPE, 'x-request-id': `r-${KEY}` };
  const failed = await failureOf(new Response(body, { status: 201, headers }));
  expect(failed).toMatchObject({ fault, answer: undefined });
  expect(failed.error).toMatchObject({
    code: 'unexpected_response',
    message: `GET /accounts/1 returned 201, but ${what}`,
    status: 201,
    reason,
    requestId: 'r-[redacted]',
    retryable: fault === 'cut',
  });
});

test('a body that breaks off is cut', async () => {
  const stream = new ReadableStream({ start: (controller) => controller.error(new TypeError('terminated')) });
  expect(await failureOf(new Response(stream, { headers: JSON_TYPE }))).toMatchObject({
    fault: 'cut',
    error: { reason: 'truncated', retryable: true },
  });
});

test('an answer that may be empty is read as undefined, and only where it is empty', async () => {
  const mayBeEmpty: Reading<unknown> = {
    ...record,
    expected: { kind: 'json', read: (body) => ({ read: body }), mayBeEmpty: true },
  };
  expect(await readResponse(new Response(null, { status: 204 }), mayBeEmpty)).toEqual({ read: undefined });
  expect(await readResponse(new Response('1', { headers: JSON_TYPE }), mayBeEmpty)).toEqual({ read: 1 });
});

test.each([
  ['wrong_content', 'wrong_content'],
  ['unreadable', 'wrong_shape'],
] as const)(
  'a body of another shape is %s, and what does not fit is told without the key',
  async (fault, reason) => {
    const read = () => {
      throw new ShapeError(reason, ['name: is no text', `${KEY}: is not known`], { recordId: `id-${KEY}` });
    };
    const reading: Reading<unknown> = { ...record, expected: { kind: 'json', read } };
    const failed = await failureOf(new Response('{}', { headers: JSON_TYPE }), reading);
    expect(failed.fault).toBe(fault);
    expect(failed.error).toMatchObject({
      reason,
      issues: ['name: is no text', '[redacted]: is not known'],
      recordId: 'id-[redacted]',
      message: expect.stringContaining(' (name: is no text; [redacted]: is not known).'),
    });
  },
);

test('issues that are none are not put into brackets', async () => {
  const read = () => {
    throw new ShapeError('wrong_shape', []);
  };
  const reading: Reading<unknown> = { ...record, expected: { kind: 'json', read } };
  const { error } = await failureOf(new Response('{}', { headers: JSON_TYPE }), reading);
  expect(error).toMatchObject({
    message:
      "GET /accounts/1 returned 200, but a record does not have the shape of the contract. Ask who runs the service; a list skips such records with validation: 'report'.",
    recordId: undefined,
  });
});

test('what a reader throws for a reason of its own is passed on', async () => {
  const own = new Error('a schema of the caller’s');
  const read = () => {
    throw own;
  };
  const reading: Reading<unknown> = { ...record, expected: { kind: 'json', read } };
  expect(await caught(readResponse(new Response('{}', { headers: JSON_TYPE }), reading))).toBe(own);
});

test.each([
  ['no body', new Response(null, { status: 204 })],
  ['an empty page', new Response('', { headers: { 'content-type': 'text/html' } })],
  ['a JSON body', new Response('{"id":"1"}', { headers: JSON_TYPE })],
  ['JSON that was cut', new Response('{"id":', { headers: JSON_TYPE })],
  ['more than is allowed', new Response('x'.repeat(1_001), { headers: JSON_TYPE })],
  ['a text', new Response('OK', { headers: { 'content-type': 'text/plain' } })],
])('where nothing is due, %s is as good as nothing', async (_, response) => {
  expect(await readResponse(response, nothing)).toBe('gone');
});

test.each([
  ['a page', new Response('<html>', { headers: { 'content-type': 'text/html' } })],
  ['a page that says JSON', new Response(' <html>', { headers: JSON_TYPE })],
  ['a long page', new Response('x'.repeat(1_001), { headers: { 'content-type': 'text/html' } })],
])('where nothing is due, %s is not the service’s', async (_, response) => {
  expect(await failureOf(response, nothing)).toMatchObject({
    fault: 'wrong_content',
    error: { reason: 'wrong_content' },
  });
});

test.each([300, 301, 302, 303, 307, 308, 399])('%i is a redirect and not read', async (status) => {
  const { response, state } = unread(status, { location: 'https://Other.example/path?token=1' });
  const failed = await failureOf(response);
  expect(failed).toMatchObject({
    fault: 'redirect',
    answer: { status, problemType: '', retryAfterMs: undefined, missing: false },
    error: { code: 'redirected', status, locationOrigin: 'https://other.example' },
  });
  expect(failed.error.message).toBe(
    'GET /accounts/1 was redirected to https://other.example. Redirects are never followed, for they would carry the API key along: correct baseUrl.',
  );
  expect(state.cancelled).toBe(true);
});

test.each([
  ['type', 'opaqueredirect'],
  ['redirected', true],
])('an answer whose %s is %s was redirected too, whatever its status', async (name, value) => {
  const { response } = unread(200);
  Object.defineProperty(response, name, { value });
  const { fault, error } = await failureOf(response);
  expect(fault).toBe('redirect');
  expect(error.message).toContain('GET /accounts/1 was redirected. Redirects');
});

test.each([
  ['/elsewhere', undefined],
  ['ftp://other.example/', undefined],
  ['xhttps://other.example/', undefined],
  ['https://', undefined],
  ['HTTP://other.example:81/x', 'http://other.example:81'],
  [`https://${encodeURIComponent(KEY)}.example/`, undefined],
])('a redirect to %s shows the origin %s', async (location, locationOrigin) => {
  const { error } = await failureOf(unread(302, { location }).response);
  expect(error).toMatchObject({ locationOrigin });
});
