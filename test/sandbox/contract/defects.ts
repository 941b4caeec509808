import { randomUUID } from 'node:crypto';
import { productFields } from './suite/specification.ts';
import type { Send, SendInit, Target } from './suite/target.ts';

/** One way in which a service violates the specification, put between the checks and a sandbox that follows it. */
export interface Defect {
  readonly name: string;
  /** Part of the name of a check that detects it. */
  readonly detectedBy: string;
  readonly inject: (send: Send, target: Target) => Send;
}

/** A request that a defect may change. */
export interface DefectRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Record<string, string>;
  /** The body, if it is a JSON object. */
  body: Record<string, unknown> | undefined;
  readonly text: string | undefined;
}

/** A response that a defect may change. */
export interface DefectResponse {
  status: number;
  readonly headers: Headers;
  text: string;
  readonly request: DefectRequest;
  /** The body as a list; empty if the body is not a list. */
  readonly list: Record<string, unknown>[];
  /** Sends a request that this defect does not change. */
  readonly send: (url: URL, headers: Readonly<Record<string, string>>) => Promise<Response>;
}

function objectIn(text: string | undefined): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function parseRequest(url: string, { method, headers, body }: SendInit): DefectRequest {
  return { method, url: new URL(url), headers: { ...headers }, body: objectIn(body), text: body };
}

function forward(send: Send, { method, url, headers, body, text }: DefectRequest): Promise<Response> {
  const sent = body === undefined ? text : JSON.stringify(body);
  return send(url.href, {
    method,
    headers,
    redirect: 'manual',
    ...(sent === undefined ? {} : { body: sent }),
  });
}

/** A defect that changes every request before the service receives it. */
export function requestDefect(
  name: string,
  detectedBy: string,
  change: (request: DefectRequest, target: Target) => void,
): Defect {
  const inject =
    (send: Send, target: Target): Send =>
    (url, init) => {
      const request = parseRequest(url, init);
      change(request, target);
      return forward(send, request);
    };
  return { name, detectedBy, inject };
}

const WITHOUT_BODY = [204, 304];

/** A defect that changes every response before a check receives it. */
export function responseDefect(
  name: string,
  detectedBy: string,
  change: (response: DefectResponse, target: Target) => void | Promise<void>,
): Defect {
  const inject =
    (send: Send, target: Target): Send =>
    async (url, init) => {
      const request = parseRequest(url, init);
      const received = await forward(send, request);
      const text = await received.text();
      const response: DefectResponse = {
        status: received.status,
        headers: new Headers(received.headers),
        text,
        request,
        list: text.startsWith('[') ? (JSON.parse(text) as Record<string, unknown>[]) : [],
        send: (to, headers) => send(to.href, { method: 'GET', headers, redirect: 'manual' }),
      };
      await change(response, target);
      const body = WITHOUT_BODY.includes(response.status) ? null : response.text;
      return new Response(body, { status: response.status, headers: response.headers });
    };
  return { name, detectedBy, inject };
}

/** Changes each record of a successful response. */
function eachRecord(response: DefectResponse, change: (record: Record<string, unknown>) => void): void {
  if (response.status >= 300 || response.text === '') return;
  const value: unknown = JSON.parse(response.text);
  for (const record of Array.isArray(value) ? value : [value]) change(record as Record<string, unknown>);
  response.text = JSON.stringify(value);
}

const isList = ({ url, method }: DefectRequest) => method === 'GET' && url.pathname.split('/').length === 5;

/** At least one defect for each section of the specification. */
export const defects: readonly Defect[] = [
  responseDefect('createdAt has a local form', 'createdAt and updatedAt as ISO 8601', (response) =>
    eachRecord(response, (record) => {
      if (typeof record.createdAt === 'string') record.createdAt = '31-01-2026 12:00';
    }),
  ),
  requestDefect('every version in the path works', 'the version is part of the path', ({ url }) => {
    url.pathname = url.pathname.replace(/\/v\d+\//, '/v1/');
  }),
  responseDefect(
    'a list contains a record of another company',
    'a key sees the data of its own company alone',
    async (response, { keys }) => {
      if (!isList(response.request) || response.status !== 200 || response.list.length === 0) return;
      const other = await response.send(response.request.url, { 'X-AUTH-TOKEN': keys.otherCompany ?? '' });
      const [foreign] = JSON.parse(await other.text()) as unknown[];
      if (foreign !== undefined) response.text = JSON.stringify([...response.list, foreign]);
    },
  ),
  requestDefect('id[gt] is inclusive', 'id[gt] is greater than the value', ({ url: { searchParams } }) => {
    const bound = searchParams.get('id[gt]');
    searchParams.delete('id[gt]');
    if (bound !== null) searchParams.set('id[gte]', bound);
  }),
  requestDefect('updatedSince is ignored', 'updatedSince leaves out what was modified before', ({ url }) =>
    url.searchParams.delete('updatedSince'),
  ),
  requestDefect(
    'page 3 repeats page 2',
    'the pages up to an empty one contain every record once',
    ({ url }) => {
      if (url.searchParams.get('_page') === '3') url.searchParams.set('_page', '2');
    },
  ),
  responseDefect('money is a number', 'money is a decimal string', (response) =>
    eachRecord(response, (record) => {
      if (typeof record.salePrice === 'string') record.salePrice = Number(record.salePrice);
    }),
  ),
  responseDefect(
    'a record that does not exist is an empty 200',
    'is 404 not_found where there is no such record',
    (response) => {
      if (response.status !== 404) return;
      response.status = 200;
      response.text = '{}';
    },
  ),
  responseDefect(
    'a read-only collection accepts writes',
    'cannot be written: two operations, no more',
    (response) => {
      if (response.status === 405) response.status = 200;
    },
  ),
  requestDefect(
    'a repeat of a create adds a second record',
    'a repeat with the same Idempotency-Key',
    ({ headers }) => {
      if (headers['Idempotency-Key'] !== undefined) headers['Idempotency-Key'] = randomUUID();
    },
  ),
  requestDefect('an update replaces the record', 'a field left out keeps its value', (request) => {
    if (request.method !== 'PATCH' || request.body === undefined) return;
    const cleared = productFields.filter(({ responseOnly }) => !responseOnly).map(({ name }) => [name, null]);
    request.body = { ...Object.fromEntries(cleared), ...request.body };
  }),
  {
    name: 'a delete deletes nothing',
    detectedBy: 'a deleted product is gone',
    inject: (send) => (url, init) =>
      init.method === 'DELETE' ? Promise.resolve(new Response(null, { status: 204 })) : send(url, init),
  },
  responseDefect(
    'an unreadable body is 422',
    'update: a body that is not a JSON object is 400',
    (response) => {
      if (response.status === 400) response.status = 422;
    },
  ),
  requestDefect('a revoked key works', 'a revoked key is 401', ({ headers }, { keys }) => {
    if (headers['X-AUTH-TOKEN'] === keys.revoked) headers['X-AUTH-TOKEN'] = keys.main;
  }),
  requestDefect(
    'a read-only key can write',
    'create: a key that only reads gets 403',
    ({ headers }, { keys }) => {
      if (headers['X-AUTH-TOKEN'] === keys.readOnly) headers['X-AUTH-TOKEN'] = keys.main;
    },
  ),
  responseDefect('errors have no type', 'every error is a JSON object with a type', (response) => {
    if (response.status >= 400) response.text = response.text.replace(/"type":"[a-z_]+",/, '');
  }),
  responseDefect('Remaining never changes', 'each request takes one of it', ({ headers }) =>
    headers.set('X-RateLimit-Remaining', '5'),
  ),
  responseDefect('429 has no Retry-After', 'over the quota: 429 rate_limited', ({ headers }) =>
    headers.delete('Retry-After'),
  ),
];
