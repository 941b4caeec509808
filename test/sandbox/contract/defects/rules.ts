import { type Defect, misread, missay } from './defect.ts';

const isError = (status: number) => status >= 400;

const keys: readonly Defect[] = [
  misread('a missing key is let in', 'without the header is 401', ({ headers }, target) => {
    headers['X-AUTH-TOKEN'] ??= target.keys.main;
  }),
  misread('a revoked key is let in', 'a revoked key is 401', ({ headers }, target) => {
    if (headers['X-AUTH-TOKEN'] === target.keys.revoked) headers['X-AUTH-TOKEN'] = target.keys.main;
  }),
  misread('a key of a foreign company is let in', 'that is not served here is 401', ({ headers }, target) => {
    if (headers['X-AUTH-TOKEN'] === target.keys.foreign) headers['X-AUTH-TOKEN'] = target.keys.main;
  }),
  misread('a key is compared by its beginning', 'something behind it is 401', ({ headers }, target) => {
    if (headers['X-AUTH-TOKEN']?.startsWith(target.keys.main)) headers['X-AUTH-TOKEN'] = target.keys.main;
  }),
  misread('a Bearer token is let in', 'the key counts in its header alone', ({ headers }) => {
    const bearer = headers.Authorization?.replace('Bearer ', '');
    if (bearer !== undefined) headers['X-AUTH-TOKEN'] ??= bearer;
  }),
  misread(
    'a key that only reads can write',
    'create: a key that only reads gets 403',
    ({ headers }, target) => {
      if (headers['X-AUTH-TOKEN'] === target.keys.readOnly) headers['X-AUTH-TOKEN'] = target.keys.main;
    },
  ),
  misread(
    'a key without permission can read',
    'a key that lacks a permission is 403',
    ({ headers }, target) => {
      if (headers['X-AUTH-TOKEN'] === target.keys.powerless) headers['X-AUTH-TOKEN'] = target.keys.main;
    },
  ),
  misread(
    'a record that refuses is changed',
    'a record that refuses the operation is 403',
    ({ url }, target) => {
      const locked = target.lockedProduct ?? '';
      if (url.pathname.endsWith(`/${locked}`))
        url.pathname = url.pathname.replace(locked, String(Number(locked) - 1));
    },
  ),
];

const errors: readonly Defect[] = [
  missay('401 is answered as 403', 'an unknown key is 401', (answer) => {
    if (answer.status === 401) answer.status = 403;
  }),
  missay('401 is plain JSON', '401 is application/problem+json', ({ status, headers }) => {
    if (status === 401) headers.set('Content-Type', 'application/json');
  }),
  missay('403 has a type of its own', 'a key that lacks a permission is 403', (answer) => {
    if (answer.status === 403)
      answer.text = answer.text.replaceAll(/"type":"[a-z_]+"/g, '"type":"access_denied"');
  }),
  missay('errors have no type', 'every error is a JSON object with a type', (answer) => {
    if (isError(answer.status)) answer.text = answer.text.replace(/"type":"[a-z_]+",/, '');
  }),
  missay('errors are XML', 'every error is a JSON object with a type', ({ status, headers }) => {
    if (isError(status)) headers.set('Content-Type', 'application/xml');
  }),
  misread('any version will do', 'the version is part of the path', ({ url }) => {
    url.pathname = url.pathname.replace(/\/v\d+\//, '/v1/');
  }),
];

const limits: readonly Defect[] = [
  missay(
    'errors do not carry the budget',
    'every answer to a read carries the budget',
    ({ status, headers }) => {
      if (isError(status)) headers.delete('X-RateLimit-Remaining');
    },
  ),
  missay(
    'writes do not carry the budget',
    'every answer to a write carries the budget',
    ({ request, headers }) => {
      if (request.method !== 'GET') headers.delete('X-RateLimit-Limit');
    },
  ),
  missay('403 does not carry the budget', 'a 403 carries the budget', ({ status, headers }) => {
    if (status === 403) headers.delete('X-RateLimit-Limit');
  }),
  missay('Remaining stands still', 'each request takes one of it', ({ headers }) =>
    headers.set('X-RateLimit-Remaining', '5'),
  ),
  missay(
    'Remaining tells more than there is',
    'nothing is refused before the budget',
    ({ headers, status }) => {
      const remaining = Number(headers.get('X-RateLimit-Remaining'));
      if (status === 200) headers.set('X-RateLimit-Remaining', String(Math.min(5, remaining + 1)));
    },
  ),
  missay('429 has no Retry-After', 'over the budget: 429 rate_limited', ({ headers }) =>
    headers.delete('Retry-After'),
  ),
  missay('Retry-After is a date', 'over the budget: 429 rate_limited', ({ headers, status }) => {
    if (status === 429) headers.set('Retry-After', 'Sat, 31 Jan 2026 12:01:00 GMT');
  }),
  missay('Retry-After is too short', 'after Retry-After the key is let in again', ({ headers, status }) => {
    if (status === 429) headers.set('Retry-After', '1');
  }),
  missay('429 is plain JSON', 'over the budget: 429 rate_limited', ({ headers, status }) => {
    if (status === 429) headers.set('Content-Type', 'application/json');
  }),
  missay('over the budget it is 503', 'over the budget every operation is 429', (answer) => {
    if (answer.status === 429 && answer.request.url.pathname.endsWith('/1')) answer.status = 503;
  }),
  misread('all keys share one budget', 'the budget is that of one key', ({ headers, method }, target) => {
    if (method === 'GET' && headers['X-AUTH-TOKEN'] === target.keys.readOnly)
      headers['X-AUTH-TOKEN'] = target.keys.main;
  }),
];

export const rulesDefects: readonly Defect[] = [...keys, ...errors, ...limits];
