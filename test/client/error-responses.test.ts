import * as errors from 'accounting-data-sdk';
import { expect, test } from 'vitest';
import { caught } from '../support/caught.ts';
import {
  type FetchResponse,
  jsonResponse,
  networkError,
  problemResponse,
  scriptedClient,
  scriptedFetch,
} from '../support/scripted-fetch.ts';

// What the client makes of an error response: its class, and what the error says.

const UUID = 'c1051bb4-d103-4f74-8988-acbcafc7fdc3';

/** What a create fails with that gets this response. */
async function errorOf(response: Response, own: errors.ClientOptions = {}): Promise<errors.AnyApiError> {
  const options = { maxWaitMs: 0, retry: { maxAttempts: 1 }, ...own };
  const client = scriptedClient(scriptedFetch(response), options);
  return (await caught(client.products.create({ name: 'Desk' }))) as errors.AnyApiError;
}

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

const forms = [
  (name: string) => name,
  (name: string) => `/errors/${name}/`,
  (name: string) => ` ${name.replace('_', '-')} `,
  (name: string) => `https://docs.example.com/errors?lang=en/de#${name}`,
  (name: string) => `https://docs.example.com/errors/${name}?lang=en`,
  (name: string) => `urn:accounting:error:${name}`,
];

test.each(types)(
  'an error response (404, 422, …) is the class that its type names, in every form of the type: %i, %s',
  async (status, name, Class) => {
    const members = { title: 'A title', detail: 'A detail.', instance: '/products/7' };
    const facts = { method: 'POST', path: '/products', outcome: 'rejected', extensions: {} };
    for (const type of forms.map((form) => form(name))) {
      const error = await errorOf(problemResponse(status, { ...members, type, status }));
      expect(error).toBeInstanceOf(Class);
      expect(error).toMatchObject({ code: name, status, type, ...members, ...facts });
    }
    // The type decides, not the status, under either media type.
    for (const other of [400, 401, 403, 404, 409, 418, 422, 500])
      expect(await errorOf(jsonResponse({ type: name }, other))).toBeInstanceOf(Class);
  },
);

/** Types that say no more than the status. */
const generic = (status: number): readonly unknown[] => [
  undefined,
  404,
  null,
  '  ',
  'about:blank',
  'https://www.w3.org/Protocols/rfc2616/rfc2616-sec10.html',
  'https://tools.ietf.org/html/rfc7231#section-6.5.4',
  'https://datatracker.ietf.org/doc/html/rfc-9110#section-15.5.5',
  'https://www.rfc-editor.org/rfc/rfc9457#name-blank',
  String(status),
  `/errors/${status}`,
];

const violation = { propertyPath: 'name', message: 'is too long' };

test.each([
  [400, 'malformed_request', {}],
  [401, 'unauthenticated', {}],
  [403, 'forbidden', {}],
  [404, 'not_found', {}],
  [409, 'unknown_problem', { violations: [violation] }],
  [410, 'not_found', {}],
  [422, 'unknown_problem', {}],
  [422, 'validation_failed', { violations: [violation] }],
  [429, 'rate_limited', {}],
  [500, 'unknown_problem', {}],
])('the status decides if the type says no more: %i is %s, with %j', async (status, code, members) => {
  for (const type of generic(status)) {
    expect(await errorOf(problemResponse(status, { type, ...members }))).toMatchObject({ code, status });
  }
});

test.each([
  [401, 'token_expired', 'unauthenticated'],
  [429, 'https://vendor.example/quota-exceeded', 'rate_limited'],
  [404, 'https://example.com/errors/teapot', 'unknown_problem'],
  [400, 'https://example.com/rfc91100', 'unknown_problem'],
  [404, 'NOT_FOUND', 'unknown_problem'],
  [400, 'constructor', 'unknown_problem'],
])('%i with the type %s is %s: new types are not breaking changes', async (status, type, code) => {
  expect(await errorOf(problemResponse(status, { type }))).toMatchObject({ code, status, type });
});

const HTML = 'text/html';
const JSON_TYPE = 'application/json';

test.each([
  [403, 'a page of a firewall', HTML, '<h1>Forbidden</h1>', 'unknown_problem'],
  [403, 'no body', JSON_TYPE, '', 'unknown_problem'],
  [404, 'a page', HTML, '<h1>no</h1>', 'not_found'],
  [404, 'a JSON list', JSON_TYPE, '[{"type":"forbidden"}]', 'not_found'],
  [404, 'more than a megabyte', JSON_TYPE, `{"type":"forbidden","x":"${'x'.repeat(2 ** 20)}"}`, 'not_found'],
])('%i with %s has no type, so that the status decides', async (status, _, contentType, body, code) => {
  const error = await errorOf(new Response(body, { status, headers: { 'content-type': contentType } }));
  expect(error).toMatchObject({ code, status, type: undefined, violations: [], extensions: {} });
});

type Form = readonly [
  of: string,
  status: number,
  body: object,
  code: string,
  says: string,
  violations?: object[],
];

/** Errors as frameworks send them without configuration: one for each place of the reason and of the violations. */
const frameworks: readonly Form[] = [
  [
    'API Platform',
    422,
    {
      violations: [
        { propertyPath: 'name', message: 'Blank.', code: UUID, payload: 1 },
        { propertyPath: 'ean', message: 'Too long.' },
      ],
      type: `/validation_errors/0=${UUID};1=${UUID}`,
      title: 'An error occurred',
    },
    'validation_failed',
    '422 [name: Blank.; ean: Too long.]',
    [{ propertyPath: 'name', message: 'Blank.', code: UUID }, { propertyPath: 'ean' }],
  ],
  [
    'API Platform 3 with a title alone',
    409,
    { 'hydra:title': 'It is closed' },
    'unknown_problem',
    '409: It is closed. ',
  ],
  [
    'API Platform 3 in JSON-LD',
    400,
    { 'hydra:title': 'An error occurred', 'hydra:description': 'name: is too long' },
    'malformed_request',
    'name: is too long',
  ],
  [
    'the security layer of Symfony',
    401,
    { code: 401, message: 'JWT Token not found' },
    'unauthenticated',
    '{"code":401,"message":"JWT Token not found"}',
  ],
  [
    'Symfony without API Platform',
    422,
    { title: 'Validation Failed', violations: [{ propertyPath: 'name', title: 'Blank.', type: 'urn:x' }] },
    'validation_failed',
    '[name: Blank.]',
    [{ propertyPath: 'name', message: 'Blank.' }],
  ],
  [
    'Django REST framework',
    400,
    { name: ['Blank.', 'Short.'], non_field_errors: ['No.'] },
    'malformed_request',
    '400 [name: Blank.; name: Short.; No.]',
    [{ propertyPath: 'name' }, { propertyPath: 'name' }, { propertyPath: '', message: 'No.' }],
  ],
  [
    'RFC 9457',
    422,
    {
      title: 'Your request is not valid.',
      errors: [{ detail: 'must be positive', pointer: '#/prices/sale' }],
    },
    'validation_failed',
    '[prices.sale: must be positive]',
    [{ propertyPath: 'prices.sale', message: 'must be positive' }],
  ],
  [
    'Laravel',
    422,
    { message: 'Invalid.', errors: { name: ['Blank.'], ean: ['Short.', 'Odd.'] } },
    'validation_failed',
    '[name: Blank.; ean: Short.; ean: Odd.]',
    [{ propertyPath: 'name' }, { propertyPath: 'ean' }, { propertyPath: 'ean', message: 'Odd.' }],
  ],
  [
    'a service that calls the path field',
    422,
    { violations: [{ field: 'name', message: 'Blank.' }, { message: 1 }, 'x'] },
    'validation_failed',
    '[name: Blank.]',
    [{ propertyPath: 'name', message: 'Blank.' }],
  ],
  [
    'a service that lists more than fields',
    422,
    { title: 'Invalid.', roles: ['admin', 'clerk'] },
    'unknown_problem',
    'Invalid.',
  ],
];

test.for(frameworks)(
  'an error of %s is understood',
  async ([, status, body, code, says, violations = []]) => {
    const error = await errorOf(jsonResponse(body, status));
    expect(error).toMatchObject({ code, status });
    expect(error.message).toContain(says);
    expect(error.message).not.toContain(UUID);
    expect(error.violations).toHaveLength(violations.length);
    expect(error.violations).toMatchObject(violations);
  },
);

test.each([{ status: 409 }, { title: 'Gone', status: 410 }, { title: 'Conflict.', status: 409 }])(
  'a problem that only repeats its status adds nothing to the message: %j',
  async (body) => {
    const error = await errorOf(jsonResponse(body, body.status));
    expect(error.message).toMatch(new RegExp(`^POST /products returned ${body.status}\\. `));
    expect(error.extensions).toEqual({});
  },
);

test('members of a wrong type and all other members are extensions, as sent', async () => {
  const wrong = { type: 7, title: ['x'], detail: { a: 1 }, violations: 'many', status: 'no' };
  const body = JSON.stringify({ ...wrong, instance: null, balance: 30, limit: null }).replace(
    '{',
    '{"__proto__":{"polluted":1},',
  );
  const error = await errorOf(new Response(body, { status: 404 }));
  const { extensions } = error;
  expect(error).toMatchObject({ type: undefined, title: undefined, detail: undefined, instance: undefined });
  expect(extensions).toEqual({ ...wrong, balance: 30, limit: null });
  expect(Object.hasOwn(extensions, '__proto__')).toBe(false);
});

test.each([
  [400, 'malformed_request', '{"error":{"message":"Unexpected token","code":"bad_json"}}'],
  [422, 'unknown_problem', '{"message":"Invalid.","errors":["Required."]}'],
  [422, 'unknown_problem', '{"name":[1],"ean":[]}'],
  [400, 'malformed_request', '{}'],
  [502, 'unknown_problem', '<html>\n<head><title>502 Bad Gateway</title></head>\n<body>nginx</body></html>'],
])('a %i in no form that is known is %s, and its message has the body: %s', async (status, code, body) => {
  const error = await errorOf(new Response(body, { status }));
  expect(error).toMatchObject({ code, status, detail: undefined, violations: [] });
  expect(error.message).toContain(`${status}: ${body.replaceAll('\n', ' ')}. `);
});

test.each<[string, FetchResponse]>([
  ['GET /accounts?_page=1&id[gt]=0&id[lte]=29', problemResponse(403, { type: 'about:blank' })],
  ['GET /accounts?_page=1&id[gt]=0&id[lte]=29', new Response('<h1>Blocked</h1>', { status: 403 })],
  ['GET /accounts?_page=1&id[gt]=0&id[lte]=29', jsonResponse({ blocked: true })],
  ['GET /accounts?_page=1&id[gt]=0&id[lte]=29', new TypeError('fetch failed')],
  // The key is wrong whatever is requested.
  ['GET /accounts returned 401', problemResponse(401)],
])('the error of a list names its query if another one could succeed: %s', async (named, response) => {
  const { accounts } = scriptedClient(scriptedFetch(response), { retry: false });
  const error = await caught(accounts.list({ id: { gt: '0', lte: '29' } }).toArray({ limit: 1 }));
  expect((error as Error).message).toContain(named);
});

test('a message has at most 200 characters of a body, without the key', async () => {
  const apiKey = 'key/of+the=company';
  const body = `The key "${apiKey}" (${encodeURIComponent(apiKey)}) is bad. ${'x'.repeat(300)}${apiKey}`;
  const { message } = await errorOf(new Response(body, { status: 403 }), { apiKey });
  expect(message).toContain(': The key "[redacted]" ([redacted]) is bad. xxx');
  expect(message).toMatch(/[^x]x{150,160}\. /);
});

test('a 404 of a list names afterLastPage in its hint, that of a create does not', async () => {
  const create = await errorOf(problemResponse(404, { type: 'not_found' }));
  expect(create.hint).toBe(
    'Check baseUrl and the path segment "products": the service has no such collection.',
  );
  const client = scriptedClient(scriptedFetch(problemResponse(404, { type: 'not_found' })));
  const list = (await caught(client.products.list().first())) as errors.AnyApiError;
  expect(list.hint).toBe(
    'Check baseUrl and the path segment "products". If the list has returned records before, set afterLastPage: \'not_found\'.',
  );
});

test.each<[status: number, what: string, response: Response, advice: string]>([
  [
    401,
    'a problem',
    problemResponse(401, { type: 'unauthenticated' }),
    'Check the API key and that it belongs to this service.',
  ],
  [
    401,
    'a page',
    new Response('<h1>No</h1>', { status: 401, headers: { 'content-type': HTML } }),
    'check the API key, and what a proxy or firewall on the way allows.',
  ],
  [
    409,
    'the type of a running create',
    problemResponse(409, { type: 'idempotency_in_progress' }),
    'An earlier request with this idempotencyKey is still running',
  ],
  [406, 'a problem', problemResponse(406), 'This client understands JSON and JSON-LD.'],
])('a %i with %s says what to do', async (_, __, response, advice) => {
  expect((await errorOf(response)).hint).toContain(advice);
});

test('a message names five violations and counts the others', async () => {
  const violations = Array.from({ length: 7 }, (_, n) => ({ propertyPath: `f${n}`, message: `m${n}` }));
  const { message } = await errorOf(problemResponse(422, { type: 'validation_failed', violations }));
  expect(message).toContain('[f0: m0; f1: m1; f2: m2; f3: m3; f4: m4; 2 more]');
});

test('a message has the violations once that the detail repeats', async () => {
  const violations = [
    { propertyPath: 'name', message: 'Blank.' },
    { propertyPath: 'ean', message: 'Too long.' },
  ];
  const detail = 'name: Blank.\nean: Too long.';
  const { message } = await errorOf(problemResponse(422, { type: 'validation_failed', detail, violations }));
  expect(message).toContain('(validation_failed): name: Blank. ean: Too long. Correct');
});

test('half an error document does not prove that a record is missing', async () => {
  const body = new ReadableStream({
    start(stream) {
      stream.enqueue(new TextEncoder().encode('{"type":"validation_failed","violations":[{"mess'));
    },
    pull: (stream) => stream.error(new TypeError('terminated')),
  });
  const fetch = async () => new Response(body, { status: 404, headers: { 'content-type': JSON_TYPE } });
  const error = await caught(scriptedClient(fetch).products.get('1'));
  expect(error).toMatchObject({ code: 'not_found', status: 404, violations: [], missing: false });
});

test.each([
  [404, { type: 'product_not_found', title: 'No such product' }],
  [404, { message: 'Not Found' }],
  [404, '<h1>Not Found</h1>'],
  [404, ''],
])(
  'with bareNotFound: missing a %i of an item is a missing record, whatever it says: %j',
  async (status, body) => {
    const not = typeof body === 'string' ? new Response(body, { status }) : problemResponse(status, body);
    const strict = scriptedClient(scriptedFetch(not, jsonResponse({ id: '8' }), not, not));
    const advice = async (id: string) => {
      const error = (await caught(strict.products.find(id))) as Error;
      expect(error).toMatchObject({ status });
      return error.message.includes("set bareNotFound: 'missing'");
    };
    // Only after a record with such an id was found: the route itself may not take ids with a dot.
    expect(await advice('7')).toBe(false);
    await strict.products.get('8');
    expect(await advice('7')).toBe(true);
    expect(await advice('a.7')).toBe(false);
    const lost = networkError('ECONNRESET');
    const options = { bareNotFound: 'missing', retry: { baseDelayMs: 0 } } as const;
    const client = scriptedClient(scriptedFetch(not, not, lost, not), options);
    expect(await client.products.find('7')).toBeUndefined();
    const missing = { code: 'not_found', missing: true, status };
    expect(await caught(client.products.get('7'))).toMatchObject(missing);
    // A delete whose response was lost is done.
    await client.products.delete('7');
    for (const [other, code] of [
      [problemResponse(404, { type: 'forbidden' }), 'forbidden'],
      [new Response('No', { status: 403 }), 'unknown_problem'],
    ] as const) {
      const find = scriptedClient(scriptedFetch(other), options).products.find('7');
      expect(await caught(find)).toMatchObject({ code });
    }
  },
);
