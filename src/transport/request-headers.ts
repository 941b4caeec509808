import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { isPlainObject } from '../internal/options.ts';
import { isObject } from '../schemas/validate.ts';

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Whitespace at either end is not part of a value: `fetch` would send a different one than the caller gave. */
const FIELD_VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;

/** `fetch` rejects these headers, or waits for a body that never comes. */
const OF_THE_CONNECTION =
  'connection content-length expect host keep-alive te trailer transfer-encoding upgrade'.split(' ');

/** What is wrong with a header of this name. */
const REJECTED: ReadonlyMap<string, string> = new Map([
  ['x-auth-token', 'is set from apiKey'],
  ['idempotency-key', 'is set from idempotencyKey'],
  ['__proto__', 'is not a header: objects of headers would drop it'],
  ...OF_THE_CONNECTION.map((name) => [name, 'belongs to the connection'] as const),
]);

/** The caller's own headers, checked before `Headers` sees them: its error messages quote values. */
export function checkHeaders(headers: Readonly<Record<string, string>>): void {
  if (!isPlainObject(headers)) {
    throw new InvalidInputError('headers', 'must be an object of names and values');
  }
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    const problem = REJECTED.get(lower);
    if (problem !== undefined) throw new InvalidInputError(`headers.${lower}`, problem);
    if (!TOKEN.test(name)) throw new InvalidInputError('headers', 'a name must be a token of RFC 9110');
    if (typeof value !== 'string' || !FIELD_VALUE.test(value)) {
      throw new InvalidInputError(
        `headers.${lower}`,
        'must be printable ASCII without line breaks, and without whitespace at either end',
      );
    }
  }
}

/** The content types of request bodies: of a create (POST) and of an update (PATCH). */
export interface ContentTypes {
  readonly create: string;
  /** Undefined for JSON, which becomes merge-patch for a service that returns 415. */
  readonly update: string | undefined;
}

export function contentTypeOf(method: string, { create, update }: ContentTypes): string {
  if (method === 'POST') return create;
  return (method === 'PATCH' ? update : undefined) ?? 'application/json';
}

/** The only content type in which API Platform accepts an update, unless it is configured otherwise. */
export const MERGE_PATCH = 'application/merge-patch+json';

/** Whether an update means the same as merge-patch, which merges an object into the one that the record has. */
export function isMergePatch(body: string): boolean {
  const patch: unknown = JSON.parse(body);
  return isObject(patch) && !Object.values(patch).some(isObject);
}

/** JSON first. A service that has only JSON-LD returns 406 to a request that does not name it. */
const ACCEPT = 'application/json, application/ld+json;q=0.9, application/problem+json;q=0.9';

interface HeaderParts {
  readonly apiKey: string;
  readonly userAgent: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** Of the body; undefined for no body. */
  readonly contentType: string | undefined;
  /** The caller's own, already checked. */
  readonly own: Readonly<Record<string, string>> | undefined;
}

/** The headers of one request. The caller's cannot replace those of the specification, which come after them. */
export function requestHeaders({ apiKey, userAgent, idempotencyKey, contentType, own }: HeaderParts) {
  const headers: Record<string, string> = { accept: ACCEPT };
  if (userAgent !== undefined) headers['user-agent'] = userAgent;
  for (const [name, value] of Object.entries(own ?? {})) headers[name.toLowerCase()] = value;
  headers['x-auth-token'] = apiKey;
  if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
  if (contentType !== undefined) headers['content-type'] = contentType;
  return headers;
}
