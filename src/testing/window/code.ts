import { ExactNumber, type Json, jsonText, type Request } from './api.ts';
import { decoded } from './text.ts';

// What a user copies: a request as a command, and as a test of a connector that is written with this package.

const API = '/api/public/v1/';

/** A word of a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Headers that a command sets by itself, or that belong to one connection. */
const OF_THE_CLIENT =
  /^(?:host|connection|content-length|accept-encoding|accept-language|user-agent|sec-.*|x-auth-token|transfer-encoding)$/;

/** The request as a curl command. The value of an unknown key is not in the log. */
export function curlOf(
  request: Request,
  { origin, key }: { readonly origin: string; readonly key: string | undefined },
): string {
  const { method, url, headers, body, bodyBytes } = request;
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`}${/[[\]{}]/.test(url) ? ' -g' : ''} ${quoted(origin + url)}`,
    `-H ${quoted(`X-AUTH-TOKEN: ${key ?? 'YOUR_KEY'}`)}`,
    ...Object.entries(headers)
      .filter(([name, value]) => !OF_THE_CLIENT.test(name) && !(name === 'accept' && value === '*/*'))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(bodyBytes === 0 ? [] : [`--data-raw ${quoted(typeof body === 'string' ? body : jsonText(body))}`]),
  ];
  return lines.join(' \\\n  ');
}

/** A value as TypeScript, in one line. */
export function literal(value: unknown): string {
  if (value instanceof ExactNumber) return value.digits;
  if (typeof value === 'string')
    return `'${JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${memberName(name)}: ${literal(inner)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

const memberName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name));

/** A collection by the segment of its path: `account-addresses` is `accountAddresses`. */
export function collectionOf(segment: string): string {
  return segment.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A fault as code that adds it. `conditions` are the names of those that a fault can have. */
export function ruleCode(rule: Json, conditions: readonly string[]): string {
  const entries = Object.entries(rule);
  const fault = Object.fromEntries(entries.filter(([name]) => !conditions.includes(name)));
  const match = Object.fromEntries(entries.filter(([name]) => conditions.includes(name)));
  const names = Object.keys(match);
  if (names.length === 1 && match.times === 1) return `sandbox.faults.next(${literal(fault)});`;
  return `sandbox.faults.add(${[literal(fault), ...(names.length === 0 ? [] : [literal(match)])].join(', ')});`;
}

/** A fault as a request to the control. */
export function ruleCurl(rule: Json, origin: string): string {
  return `curl ${origin}/_sandbox/faults \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(jsonText(rule))}`;
}

/** A fault as a flag of the command. */
export function ruleFlag(rule: Json): string {
  return `npx accounting-data-sdk sandbox --fault ${quoted(jsonText(rule))}`;
}

/** What the sandbox says about itself. */
export interface Known {
  /** The names of the conditions that a fault can have. */
  readonly conditions: readonly string[];
  readonly collections: readonly string[];
}

/** The request as a test: the faults that it met, and the call. */
export function testOf(request: Request, rules: readonly Json[], known: Known): string {
  const faults = rules.map((rule) => ruleCode(rule, known.conditions));
  return [...faults, `await ${callOf(request, known.collections)};`].join('\n');
}

/** The call of a client that sends a request like this. */
function callOf(request: Request, collections: readonly string[]): string {
  const { method, path, query, body, idempotencyKey } = request;
  const [segment = '', id, ...rest] = path.startsWith(API) ? path.slice(API.length).split('/') : [];
  const name = collectionOf(segment);
  const records = `client.${name}`;
  if (!collections.includes(name) || id === '' || rest.length > 0) return otherCall(request);
  const idText = id === undefined ? '' : literal(decoded(id));
  if (method === 'GET') return id === undefined ? listCall(records, query) : `${records}.get(${idText})`;
  // Nothing else can be written.
  if (name !== 'products') return otherCall(request);
  if (method === 'POST' && id === undefined && isObject(body)) {
    const options = idempotencyKey === null ? '' : `, { idempotencyKey: ${literal(idempotencyKey)} }`;
    return `${records}.create(${literal(body)}${options})`;
  }
  if (method === 'PATCH' && id !== undefined && isObject(body))
    return `${records}.update(${idText}, ${literal(body)})`;
  if (method === 'DELETE' && id !== undefined) return `${records}.delete(${idText})`;
  return otherCall(request);
}

const isObject = (body: unknown) => typeof body === 'object' && body !== null && !Array.isArray(body);

/** A request that no collection sends, or that no client can send. */
function otherCall(request: Request): string {
  const { method, path, query, body, bodyBytes, idempotencyKey } = request;
  const isSent = ['GET', 'POST', 'PATCH', 'DELETE'].includes(method) && typeof body !== 'string';
  if (!path.startsWith(API) || !isSent) return fetchCall(request);
  const options = {
    method,
    path: path.slice(API.length - 1),
    ...(Object.keys(query).length > 0 && { query }),
    ...(bodyBytes > 0 && method !== 'GET' && { body }),
    ...(idempotencyKey !== null && method === 'POST' && { idempotencyKey }),
  };
  return `client.request(${literal(options)})`;
}

/** Headers of a body, or of a create. */
const KEPT_HEADERS = ['content-type', 'idempotency-key'];

function fetchCall({ method, url, key, headers, body, bodyBytes }: Request): string {
  const given = [
    // Only the keys that each sandbox has are known to a test.
    ...(key === null || !/^[a-z]+$/i.test(key) ? [] : [`'X-AUTH-TOKEN': sandbox.keys.${key}`]),
    ...Object.entries(headers)
      .filter(([name]) => KEPT_HEADERS.includes(name))
      .map(([name, value]) => `${memberName(name)}: ${literal(value)}`),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: ${literal(method)}`]),
    ...(given.length === 0 ? [] : [`headers: { ${given.join(', ')} }`]),
    ...(bodyBytes === 0 ? [] : [`body: ${literal(typeof body === 'string' ? body : jsonText(body))}`]),
  ];
  const more = options.length === 0 ? '' : `, { ${options.join(', ')} }`;
  return `sandbox.fetch(sandbox.baseUrl + ${literal(url)}${more})`;
}

/** A list with the filters of a request. Its pages are the client's own to request. */
function listCall(records: string, query: Readonly<Record<string, string>>): string {
  const bounds = Object.entries(query).flatMap(([name, value]) => {
    const [, operator] = /^id\[(gte?|lte?)\]$/.exec(name) ?? [];
    return operator === undefined ? [] : [[operator, value] as const];
  });
  const { updatedSince } = query;
  const filters = {
    ...(updatedSince !== undefined && { updatedSince }),
    ...(bounds.length > 0 && { id: Object.fromEntries(bounds) }),
  };
  const given = Object.keys(filters).length === 0 ? '' : literal(filters);
  return `${records}.list(${given}).toArray({ limit: 100 })`;
}
