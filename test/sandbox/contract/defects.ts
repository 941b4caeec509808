import { randomUUID } from 'node:crypto';
import { productFields } from './suite/specification.ts';
import type { Send, SendInit, Target } from './suite/target.ts';

/** Another service in place of the one that a target sends to. */
type Inject = (send: Send, target: Target) => Send;

/** One way in which a service violates the specification, put between the checks and a sandbox that follows it. */
export interface Defect {
  readonly name: string;
  /** Part of the name of a check that detects it. */
  readonly detectedBy: string;
  readonly inject: Inject;
}

interface ChangedRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: Record<string, string>;
  body: string | undefined;
}

/** Changes every request before the service receives it. */
const changedRequest =
  (change: (request: ChangedRequest, target: Target) => void): Inject =>
  (send, target) =>
  (href, { method, headers, body: text, redirect }) => {
    const request: ChangedRequest = { url: new URL(href), method, headers: { ...headers }, body: text };
    change(request, target);
    const { url, body, ...init } = request;
    return send(url.href, { ...init, redirect, ...(body === undefined ? {} : { body }) });
  };

interface ChangedResponse {
  status: number;
  readonly headers: Headers;
  text: string;
}

interface Sent extends SendInit {
  readonly url: URL;
  readonly send: Send;
}

/** Changes every response before a check receives it. */
const changedResponse =
  (change: (response: ChangedResponse, sent: Sent, target: Target) => void | Promise<void>): Inject =>
  (send, target) =>
  async (href, init) => {
    const received = await send(href, init);
    const { status, headers } = received;
    const response = { status, headers: new Headers(headers), text: await received.text() };
    await change(response, { ...init, url: new URL(href), send }, target);
    return new Response([204, 304].includes(response.status) ? null : response.text, response);
  };

/** Changes each record of a successful response. */
const changedRecords = (change: (record: Record<string, unknown>) => void): Inject =>
  changedResponse((response) => {
    if (response.status >= 300 || response.text === '') return;
    const value: unknown = JSON.parse(response.text);
    for (const record of Array.isArray(value) ? value : [value]) change(record as Record<string, unknown>);
    response.text = JSON.stringify(value);
  });

/** At least one defect for each section of the specification. */
export const defects: readonly Defect[] = [
  {
    name: 'createdAt has a local form',
    detectedBy: 'createdAt and updatedAt as ISO 8601',
    inject: changedRecords((record) => {
      if (typeof record.createdAt === 'string') record.createdAt = '31-01-2026 12:00';
    }),
  },
  {
    name: 'every version in the path works',
    detectedBy: 'the version is part of the path',
    inject: changedRequest(({ url }) => {
      url.pathname = url.pathname.replace(/\/v\d+\//, '/v1/');
    }),
  },
  {
    name: 'a list contains a record of another company',
    detectedBy: 'a key sees the data of its own company alone',
    inject: changedResponse(async (response, { url, method, send }, { keys }) => {
      if (method !== 'GET' || !response.text.startsWith('[{')) return;
      const headers = { 'X-AUTH-TOKEN': keys.otherCompany ?? '' };
      const other = await send(url.href, { method, headers, redirect: 'manual' });
      const [foreign] = (await other.json()) as unknown[];
      if (foreign !== undefined) response.text = JSON.stringify([...JSON.parse(response.text), foreign]);
    }),
  },
  {
    name: 'id[gt] is inclusive',
    detectedBy: 'id[gt] is greater than the value',
    inject: changedRequest(({ url: { searchParams } }) => {
      const bound = searchParams.get('id[gt]');
      searchParams.delete('id[gt]');
      if (bound !== null) searchParams.set('id[gte]', bound);
    }),
  },
  {
    name: 'updatedSince is ignored',
    detectedBy: 'updatedSince leaves out what was modified before',
    inject: changedRequest(({ url }) => url.searchParams.delete('updatedSince')),
  },
  {
    name: 'page 3 repeats page 2',
    detectedBy: 'the pages up to an empty one contain every record once',
    inject: changedRequest(({ url }) => {
      if (url.searchParams.get('_page') === '3') url.searchParams.set('_page', '2');
    }),
  },
  {
    name: 'money is a number',
    detectedBy: 'money is a decimal string',
    inject: changedRecords((record) => {
      if (typeof record.salePrice === 'string') record.salePrice = Number(record.salePrice);
    }),
  },
  {
    name: 'a record that does not exist is an empty 200',
    detectedBy: 'is 404 not_found where there is no such record',
    inject: changedResponse((response) => {
      if (response.status === 404) Object.assign(response, { status: 200, text: '{}' });
    }),
  },
  {
    name: 'a read-only collection accepts writes',
    detectedBy: 'cannot be written: two operations, no more',
    inject: changedResponse((response) => {
      if (response.status === 405) response.status = 200;
    }),
  },
  {
    name: 'a repeat of a create adds a second record',
    detectedBy: 'a repeat with the same Idempotency-Key',
    inject: changedRequest(({ headers }) => {
      if (headers['Idempotency-Key'] !== undefined) headers['Idempotency-Key'] = randomUUID();
    }),
  },
  {
    name: 'an update replaces the record',
    detectedBy: 'a field left out keeps its value',
    inject: changedRequest((request) => {
      if (request.method !== 'PATCH') return;
      const cleared = productFields
        .filter(({ responseOnly }) => !responseOnly)
        .map(({ name }) => [name, null]);
      const body = JSON.parse(request.body ?? '{}') as object;
      request.body = JSON.stringify({ ...Object.fromEntries(cleared), ...body });
    }),
  },
  {
    name: 'a delete deletes nothing',
    detectedBy: 'a deleted product is gone',
    inject: (send) => async (url, init) =>
      init.method === 'DELETE' ? new Response(null, { status: 204 }) : send(url, init),
  },
  {
    name: 'an unreadable body is 422',
    detectedBy: 'update: a body that is not a JSON object is 400',
    inject: changedResponse((response) => {
      if (response.status === 400) response.status = 422;
    }),
  },
  {
    name: 'a revoked key works',
    detectedBy: 'a revoked key is 401',
    inject: changedRequest(({ headers }, { keys }) => {
      if (headers['X-AUTH-TOKEN'] === keys.revoked) headers['X-AUTH-TOKEN'] = keys.main;
    }),
  },
  {
    name: 'a read-only key can write',
    detectedBy: 'create: a key that only reads gets 403',
    inject: changedRequest(({ headers }, { keys }) => {
      if (headers['X-AUTH-TOKEN'] === keys.readOnly) headers['X-AUTH-TOKEN'] = keys.main;
    }),
  },
  {
    name: 'errors have no type',
    detectedBy: 'every error is a JSON object with a type',
    inject: changedResponse((response) => {
      if (response.status >= 400) response.text = response.text.replace(/"type":"[a-z_]+",/, '');
    }),
  },
  {
    name: 'Remaining never changes',
    detectedBy: 'each request takes one of it',
    inject: changedResponse(({ headers }) => headers.set('X-RateLimit-Remaining', '5')),
  },
  {
    name: '429 has no Retry-After',
    detectedBy: 'over the quota: 429 rate_limited',
    inject: changedResponse(({ headers }) => headers.delete('Retry-After')),
  },
];
