import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { redactText } from './redact.ts';
import type { Method } from './request.ts';

/** Response headers that errors and events may show. Nothing else of an answer's head leaves the transport. */
const ALLOWED = [
  'age',
  'cache-control',
  'content-length',
  'content-type',
  'date',
  'etag',
  'retry-after',
  'server',
  'via',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
] as const;

/** Where services put their own id of a request. Not shown in the contract. */
const REQUEST_ID = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'] as const;

/** The headers that may be shown; where the service echoes the API key in one, without it. */
export function allowedHeaders(headers: Headers, apiKey: string): Readonly<Record<string, string>> {
  const allowed: Record<string, string> = {};
  for (const name of [...ALLOWED, ...REQUEST_ID]) {
    const value = headers.get(name);
    if (value !== null) allowed[name] = redactText(value, apiKey);
  }
  return allowed;
}

export function requestIdOf(headers: Headers, apiKey: string): string | undefined {
  for (const name of REQUEST_ID) {
    const value = headers.get(name);
    if (value !== null) return redactText(value, apiKey);
  }
  return undefined;
}

/** X-RateLimit-Limit and -Remaining, where both are whole numbers. */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  return limit === undefined || remaining === undefined
    ? undefined
    : { limit, remaining, observedAt: new Date() };
}

function wholeNumber(value: string | null): number | undefined {
  // Some runtimes leave the whitespace after a header's value in place, and a proxy may send a header twice.
  const [, digits] = /^\s*(\d{1,15})(?:\s*,\s*\1)*\s*$/.exec(value ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Whitespace at either end is no part of a value: `fetch` would send another one than the caller gave. */
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Headers that belong to the connection: `fetch` refuses them, or waits for a body that never comes. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers of the caller's own, checked before `Headers` sees them: its error messages quote values. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) {
    throw new InvalidInputError('headers', 'must be an object of names and values');
  }
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (lower === 'x-auth-token') throw new InvalidInputError(`headers.${lower}`, 'is set from apiKey');
    if (lower === 'idempotency-key')
      throw new InvalidInputError(`headers.${lower}`, 'is set from idempotencyKey');
    if (OF_THE_CONNECTION.has(lower)) {
      throw new InvalidInputError(`headers.${lower}`, 'belongs to the connection');
    }
    if (lower === '__proto__') {
      throw new InvalidInputError(`headers.${lower}`, 'is no header: objects of headers would drop it');
    }
    if (!TOKEN.test(name)) throw new InvalidInputError('headers', 'a name must be a token of RFC 9110');
    if (typeof value !== 'string' || !FIELD_VALUE.test(value)) {
      throw new InvalidInputError(
        `headers.${lower}`,
        'must be printable ASCII without line ends, and without whitespace at either end',
      );
    }
  }
}

/** The content types of request bodies: of a create (POST) and of an update (PATCH). */
export interface ContentTypes {
  readonly create: string;
  readonly update: string;
}

/** The content type of a request's body. */
export function contentTypeOf(method: Method, { create, update }: ContentTypes): string {
  if (method === 'POST') return create;
  return method === 'PATCH' ? update : 'application/json';
}

/** What goes out with a request. */
export interface OutgoingHeaders {
  readonly apiKey: string;
  readonly userAgent: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Of the body; undefined for no body. */
  readonly contentType: string | undefined;
  /** The caller's own, already checked. */
  readonly own: Readonly<Record<string, string>> | undefined;
}

/** JSON first. A service that has only JSON-LD answers 406 to a request that does not name it. */
const ACCEPT = 'application/json, application/ld+json;q=0.9, application/problem+json;q=0.9';

/** The caller's headers first, so that they cannot replace those that the contract asks for. */
export function requestHeaders({ apiKey, userAgent, idempotencyKey, contentType, own }: OutgoingHeaders) {
  const headers: Record<string, string> = { accept: ACCEPT };
  if (userAgent !== undefined) headers['user-agent'] = userAgent;
  for (const [name, value] of Object.entries(own ?? {})) headers[name.toLowerCase()] = value;
  headers['x-auth-token'] = apiKey;
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  if (contentType !== undefined) headers['content-type'] = contentType;
  return headers;
}
