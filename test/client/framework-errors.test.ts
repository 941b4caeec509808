import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import { problemResponse, scriptedClient, scriptedFetch } from '../support/scripted-fetch.ts';
import { scriptedServer } from '../support/scripted-server.ts';

const JSON_TYPE = 'application/json';
const PROBLEM = 'application/problem+json';
const UUID = 'c1051bb4-d103-4f74-8988-acbcafc7fdc3';

interface Form {
  readonly status: number;
  readonly contentType: string;
  readonly body: unknown;
  readonly code: string;
  /** What the message must contain. */
  readonly says: string;
  readonly violations?: readonly object[];
}

/** Errors as frameworks and gateways send them without configuration. */
const forms: Readonly<Record<string, Form>> = {
  'API Platform 4, a missing record': {
    status: 404,
    contentType: PROBLEM,
    body: { title: 'An error occurred', detail: 'Not Found', status: 404, type: '/errors/404' },
    code: 'not_found',
    says: 'Not Found',
  },
  'API Platform 4, a violation': {
    status: 422,
    contentType: PROBLEM,
    body: {
      status: 422,
      violations: [{ propertyPath: 'name', message: 'This value should not be blank.', code: UUID }],
      detail: 'name: This value should not be blank.',
      type: `/validation_errors/${UUID}`,
      title: 'An error occurred',
    },
    code: 'validation_failed',
    says: '422: name: This value should not be blank.',
    violations: [{ propertyPath: 'name', message: 'This value should not be blank.' }],
  },
  'API Platform 4, two violations': {
    status: 422,
    contentType: PROBLEM,
    body: {
      violations: [
        { propertyPath: 'name', message: 'Blank.' },
        { propertyPath: 'ean', message: 'Too long.' },
      ],
      type: `/validation_errors/0=${UUID};1=${UUID}`,
      title: 'An error occurred',
    },
    code: 'validation_failed',
    says: '422 [name: Blank.; ean: Too long.]',
    violations: [{ propertyPath: 'name' }, { propertyPath: 'ean' }],
  },
  'Symfony, the security layer': {
    status: 401,
    contentType: JSON_TYPE,
    body: { code: 401, message: 'JWT Token not found' },
    code: 'unauthenticated',
    says: 'JWT Token not found',
  },
  'ASP.NET, a rate limit': {
    status: 429,
    contentType: PROBLEM,
    body: { type: 'https://tools.ietf.org/html/rfc6585#section-4', title: 'Too Many Requests', status: 429 },
    code: 'rate_limited',
    says: 'section-4). ',
  },
  'ASP.NET, a missing login': {
    status: 401,
    contentType: PROBLEM,
    body: { type: 'https://tools.ietf.org/html/rfc7235#section-3.1', title: 'Unauthorized', status: 401 },
    code: 'unauthenticated',
    says: 'section-3.1). ',
  },
  'ASP.NET, model validation': {
    status: 400,
    contentType: PROBLEM,
    body: {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      status: 400,
      errors: { Name: ['The Name field is required.'] },
    },
    code: 'malformed_request',
    says: 'Name: The Name field is required.',
    violations: [{ propertyPath: 'Name', message: 'The Name field is required.' }],
  },
  'Spring, its error page': {
    status: 404,
    contentType: JSON_TYPE,
    body: { timestamp: '2026-01-31T12:00:00.000+00:00', status: 404, error: 'Not Found', path: '/products' },
    code: 'not_found',
    says: 'Not Found',
  },
  'Spring, a problem document': {
    status: 403,
    contentType: PROBLEM,
    body: { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'Access Denied', instance: '/p' },
    code: 'forbidden',
    says: 'Access Denied',
  },
  'FastAPI, validation': {
    status: 422,
    contentType: JSON_TYPE,
    body: { detail: [{ loc: ['body', 'items', 0, 'price'], msg: 'field required', type: 'value_error' }] },
    code: 'validation_failed',
    says: 'items.0.price: field required',
    violations: [{ propertyPath: 'items.0.price', message: 'field required' }],
  },
  'FastAPI, a missing record': {
    status: 404,
    contentType: JSON_TYPE,
    body: { detail: 'Item not found' },
    code: 'not_found',
    says: 'Item not found',
  },
  'Django REST, a missing login': {
    status: 401,
    contentType: JSON_TYPE,
    body: { detail: 'Authentication credentials were not provided.' },
    code: 'unauthenticated',
    says: 'Authentication credentials were not provided.',
  },
  'Rails, a missing record': {
    status: 404,
    contentType: JSON_TYPE,
    body: { status: 404, error: 'Not Found' },
    code: 'not_found',
    says: 'Not Found',
  },
  'Rails, validation': {
    status: 422,
    contentType: JSON_TYPE,
    body: { errors: { name: ["can't be blank"] } },
    code: 'validation_failed',
    says: "name: can't be blank",
    violations: [{ propertyPath: 'name', message: "can't be blank" }],
  },
  'Rails, full messages': {
    status: 422,
    contentType: JSON_TYPE,
    body: { errors: ["Name can't be blank"] },
    code: 'validation_failed',
    says: "Name can't be blank",
    violations: [{ propertyPath: '', message: "Name can't be blank" }],
  },
  'Laravel, validation': {
    status: 422,
    contentType: JSON_TYPE,
    body: { message: 'The given data was invalid.', errors: { name: ['The name field is required.'] } },
    code: 'validation_failed',
    says: 'The given data was invalid. [name: The name field is required.]',
    violations: [{ propertyPath: 'name' }],
  },
  'Laravel, a rate limit': {
    status: 429,
    contentType: JSON_TYPE,
    body: { message: 'Too Many Attempts.' },
    code: 'rate_limited',
    says: 'Too Many Attempts.',
  },
  'Express, an error object': {
    status: 400,
    contentType: JSON_TYPE,
    body: { error: { message: 'Unexpected token', code: 'bad_json' } },
    code: 'malformed_request',
    says: 'Unexpected token',
  },
  'OAuth, an expired token': {
    status: 401,
    contentType: JSON_TYPE,
    body: { error: 'invalid_token', error_description: 'The access token expired' },
    code: 'unauthenticated',
    says: 'The access token expired',
  },
  'Go, a bare error': {
    status: 403,
    contentType: JSON_TYPE,
    body: { error: 'permission denied' },
    code: 'forbidden',
    says: 'permission denied',
  },
  'a field list of its own': {
    status: 422,
    contentType: JSON_TYPE,
    body: { violations: [{ field: 'ean', message: 'is taken' }] },
    code: 'validation_failed',
    says: 'ean: is taken',
    violations: [{ propertyPath: 'ean', message: 'is taken' }],
  },
  'a gateway with a type of its own': {
    status: 429,
    contentType: PROBLEM,
    body: { type: 'https://gateway.example/errors/quota-exceeded', title: 'Quota exceeded' },
    code: 'rate_limited',
    says: 'quota-exceeded',
  },
  'a problem document of a title alone': {
    status: 409,
    contentType: PROBLEM,
    body: { title: 'The period is closed' },
    code: 'unknown_problem',
    says: '409: The period is closed. ',
  },
  'nginx, a page': {
    status: 502,
    contentType: 'text/html',
    body: '<html><h1>502 Bad Gateway</h1></html>',
    code: 'unknown_problem',
    says: 'Try again later.',
  },
  'a firewall, a page': {
    status: 403,
    contentType: 'text/html',
    body: '<html>blocked</html>',
    code: 'unknown_problem',
    says: 'firewall',
  },
};

test.each(Object.entries(forms))(
  '%s',
  async (_, { status, contentType, body, code, says, violations = [] }) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const fetch = scriptedFetch(new Response(text, { status, headers: { 'content-type': contentType } }));
    const error = await caught(
      scriptedClient(fetch, { maxWaitMs: 0, retry: { maxAttempts: 1 } }).products.create({ name: 'Desk' }),
    );
    expect(error).toMatchObject({ code, status });
    const { message, violations: found } = error as unknown as { message: string; violations: object[] };
    expect(message).toContain(says);
    expect(message).not.toContain(UUID);
    expect(found).toHaveLength(violations.length);
    expect(found).toMatchObject(violations);
  },
);

test('a detail that repeats the violations is printed once, and one that is too long gives way to them', async () => {
  const blank = { propertyPath: 'name', message: 'is blank' };
  const short = { type: 'validation_failed', detail: 'name: is blank', violations: [blank] };
  const { message: once } = (await caught(
    scriptedClient(scriptedFetch(problemResponse(422, short))).products.create({}),
  )) as Error;
  expect(once.split('is blank')).toHaveLength(2);
  const violations = Array.from({ length: 7 }, (_, n) => ({
    propertyPath: `f${n}`,
    message: `${n}`.repeat(90),
  }));
  const detail = violations.map(({ propertyPath, message }) => `${propertyPath}: ${message}`).join('\n');
  const fetch = scriptedFetch(problemResponse(422, { type: 'validation_failed', detail, violations }));
  const { message } = (await caught(scriptedClient(fetch).products.create({}))) as Error;
  expect(message.split('f0: ')).toHaveLength(2);
});

test('a 422 whose body is cut keeps what could be read', async () => {
  const body =
    '{"type":"validation_failed","violations":[{"propertyPath":"name","message":"is empty"},{"prop';
  await using server = await scriptedServer((request, wire) => {
    wire.socket.end(
      `HTTP/1.1 422 Unprocessable\r\ncontent-type: ${PROBLEM}\r\ncontent-length: 9999\r\n\r\n${body}`,
    );
    void request;
  });
  const error = await caught(
    scriptedClient((url, init) => fetch(url, init), { baseUrl: server.url }).products.create({}),
  );
  expect(error).toMatchObject({
    code: 'validation_failed',
    violations: [{ propertyPath: 'name', message: 'is empty' }],
  });
});
