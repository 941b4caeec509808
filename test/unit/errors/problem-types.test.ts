import { expect, test } from 'vitest';
import { apiErrorOf, lastSegment } from '../../../src/errors/api-error-of.ts';
import * as errors from '../../../src/index.ts';
import { contentOf, parseProblem } from '../../../src/schemas/problem.ts';
import { caught } from '../../support/caught.ts';
import { jsonResponse, scriptedClient, scriptedFetch } from '../../support/scripted-fetch.ts';

const types = [
  [400, 'malformed_request', errors.MalformedRequestError],
  [401, 'unauthenticated', errors.UnauthenticatedError],
  [403, 'forbidden', errors.ForbiddenError],
  [403, 'scope_required', errors.ScopeRequiredError],
  [404, 'not_found', errors.NotFoundError],
  [422, 'validation_failed', errors.ValidationFailedError],
  [422, 'idempotency_key_required', errors.IdempotencyKeyRequiredError],
  [429, 'rate_limited', errors.RateLimitedError],
] as const;
const contentTypes = ['application/problem+json', 'application/json', 'application/ld+json; charset=utf-8'];
const forms = {
  bare: (name: string) => name,
  path: (name: string) => `/errors/${name}`,
  url: (name: string) => `https://docs.example.com/errors#${name}`,
  urn: (name: string) => `urn:accounting:error:${name}`,
};

const cases = types.flatMap(([status, name, Class]) =>
  contentTypes.flatMap((contentType) =>
    Object.entries(forms).map(([form, typeOf]) => ({
      status,
      name,
      Class,
      contentType,
      form,
      type: typeOf(name),
    })),
  ),
);

test.each(cases)('$name as $contentType with a type in the form $form is its class', async (row) => {
  const { status, name, Class, contentType, type } = row;
  const members = { type, title: 'A title', detail: 'A detail.', instance: '/products/7', status };
  const fetch = scriptedFetch(
    jsonResponse(members, status, { 'content-type': contentType, 'retry-after': '900' }),
  );
  const error = await caught(scriptedClient(fetch).products.create({ name: 'Desk' }));

  expect(error).toBeInstanceOf(Class);
  expect(error).toBeInstanceOf(errors.ApiError);
  expect(error).toMatchObject({
    code: name,
    name: Class.name,
    status,
    type,
    title: 'A title',
    detail: 'A detail.',
  });
  expect(error).toMatchObject({
    instance: '/products/7',
    method: 'POST',
    path: '/products',
    outcome: 'rejected',
  });
});

test.each(types)('%i with a specified type is that type, whatever its status: %s', (_, name, Class) => {
  for (const status of [400, 401, 403, 404, 409, 418, 422, 500]) {
    expect(errorOf(status, { type: name })).toBeInstanceOf(Class);
  }
});

function errorOf(status: number, body: unknown) {
  const response = {
    status,
    problem: parseProblem(body),
    content: contentOf(body, status),
    requestId: undefined,
    rateLimit: undefined,
    headers: {},
    retryAfterMs: undefined,
  };
  return apiErrorOf(response, { method: 'GET', path: '/products/7' });
}

const generic = {
  absent: () => ({}),
  'not a string': () => ({ type: 404 }),
  null: () => ({ type: null }),
  empty: () => ({ type: '' }),
  blank: () => ({ type: '  ' }),
  'about:blank': () => ({ type: 'about:blank' }),
  'RFC 2616': () => ({ type: 'https://www.w3.org/Protocols/rfc2616/rfc2616-sec10.html' }),
  'RFC 2616 at the IETF': () => ({ type: 'https://tools.ietf.org/html/rfc2616#section-10' }),
  'RFC 7231': () => ({ type: 'https://tools.ietf.org/html/rfc7231#section-6.5.4' }),
  'RFC 9110': () => ({ type: 'https://www.rfc-editor.org/rfc/rfc9110#name-404-not-found' }),
  'RFC 9110 with a dash': () => ({ type: 'https://datatracker.ietf.org/doc/html/rfc-9110#section-15.5.5' }),
  'RFC 7235': () => ({ type: 'https://tools.ietf.org/html/rfc7235#section-3.1' }),
  'RFC 6585': () => ({ type: 'https://tools.ietf.org/html/rfc6585#section-4' }),
  'RFC 4918': () => ({ type: 'https://tools.ietf.org/html/rfc4918#section-11.2' }),
  'RFC 9457': () => ({ type: 'https://www.rfc-editor.org/rfc/rfc9457#name-blank' }),
  'the status number': (status: number) => ({ type: String(status) }),
  'a path with the status number': (status: number) => ({ type: `/errors/${status}` }),
};

const byStatus: [number, string, object][] = [
  [400, 'malformed_request', {}],
  [401, 'unauthenticated', {}],
  [402, 'unknown_problem', {}],
  [403, 'forbidden', {}],
  [404, 'not_found', {}],
  [409, 'unknown_problem', {}],
  [410, 'not_found', {}],
  [422, 'unknown_problem', {}],
  [422, 'validation_failed', { violations: [{ propertyPath: 'name', message: 'is too long' }] }],
  [429, 'rate_limited', {}],
  [500, 'unknown_problem', {}],
  [503, 'unknown_problem', {}],
];

const genericCases = Object.entries(generic).flatMap(([form, make]) =>
  byStatus.map(([status, code, members]) => ({ form, status, code, body: { ...make(status), ...members } })),
);

test.each(genericCases)('a generic type ($form) with $status is $code', ({ status, code, body }) => {
  expect(errorOf(status, body)).toMatchObject({ code, status });
});

test.each([undefined, null, [], 'text', 7])(
  'a body that is not an object (%j) is decided by the status',
  (body) => {
    expect(errorOf(404, body)).toMatchObject({ code: 'not_found', type: undefined });
    expect(errorOf(403, body)).toMatchObject({ code: 'unknown_problem', type: undefined });
  },
);

test.each([
  ['https://example.com/errors/teapot', 404],
  ['/errors/405', 404],
  ['https://example.com/rfc91100', 400],
  ['NOT_FOUND', 404],
  ['constructor', 400],
  ['__proto__', 400],
])('the type %s with %i is unknown: new types are not breaking changes', (type, status) => {
  const error = errorOf(status, { type });
  expect(error).toBeInstanceOf(errors.UnknownApiError);
  expect(error).toMatchObject({ code: 'unknown_problem', status, type });
});

test.each([
  ['rate_limited', 'rate_limited'],
  ['/errors/rate_limited', 'rate_limited'],
  ['/errors/rate_limited/', 'rate_limited'],
  [' rate_limited ', 'rate_limited'],
  ['https://example.com/e#rate_limited', 'rate_limited'],
  ['urn:e:rate_limited', 'rate_limited'],
  ['https://example.com/e/rate_limited?lang=en', 'rate_limited'],
  ['https://example.com/e?lang=en/de#rate_limited', 'rate_limited'],
  ['', ''],
  ['///', ''],
  [undefined, ''],
])('the last segment of %j is %j', (type, segment) => {
  expect(lastSegment(type)).toBe(segment);
});

test.each([
  [401, 'token_expired', 'unauthenticated'],
  [401, 'scope_required', 'scope_required'],
  [429, 'https://vendor.example/quota-exceeded', 'rate_limited'],
  [429, 'validation_failed', 'validation_failed'],
  [404, 'not-found', 'not_found'],
  [403, 'https://example.com/errors/scope-required?lang=en', 'scope_required'],
])('%i with the type %s is %s', (status, type, code) => {
  expect(errorOf(status, { type })).toMatchObject({ code, type });
});

test('a message is one sentence after the other, with method, path, status and what to do', () => {
  const said = [{ type: 'not_found', detail: 'There is no record 7.' }, { detail: 'Gone' }];
  for (const body of said) {
    expect(errorOf(404, body).message).toMatch(
      /^GET \/products\/7 returned 404.*: [^.]+\. The company .*id\.$/,
    );
  }
  expect(errorOf(418, { type: 'teapot', detail: 'No coffee!' }).message).toContain(
    '(teapot): No coffee! This',
  );
});

test.each([
  [400, 'malformed_request'],
  [422, 'validation_failed'],
  [409, 'unknown_problem'],
])('violations without a type, under status %i, are %s', (status, code) => {
  expect(errorOf(status, { violations: [{ propertyPath: 'name', message: 'is empty' }] }).code).toBe(code);
});

test('a type that only quotes the address of an RFC is not a generic one', () => {
  expect(errorOf(404, { type: 'https://www.rfc-editor.org/rfc/rfc9110#section-15' }).code).toBe('not_found');
  expect(errorOf(404, { type: 'see https://www.rfc-editor.org/rfc/rfc9110' }).code).toBe('unknown_problem');
});
