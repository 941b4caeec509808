import { ExactNumber, type Json, type Request } from './api.ts';
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

/** JSON in one line, with the digits of numbers as they were. */
export function jsonText(value: unknown): string {
  if (value instanceof ExactNumber) return value.digits;
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, inner]) => `${JSON.stringify(name)}:${jsonText(inner)}`)
    .join(',')}}`;
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

/** The request as a test: the fault that it met, and the call. */
export function testOf(request: Request, rule: Json | undefined, conditions: readonly string[]): string {
  const fault = rule === undefined ? [] : [ruleCode(rule, conditions)];
  return [...fault, `await ${callOf(request)};`].join('\n');
}

/** The call of a client that sends a request like this. */
function callOf(request: Request): string {
  const { method, path, query, body, idempotencyKey } = request;
  const [segment = '', id, ...rest] = path.startsWith(API) ? path.slice(API.length).split('/') : [];
  const isKnown = segment !== '' && id !== '' && rest.length === 0;
  const records = `client.${collectionOf(segment)}`;
  const idText = id === undefined ? '' : literal(decoded(id));
  if (isKnown && method === 'GET' && id !== undefined) return `${records}.get(${idText})`;
  if (isKnown && method === 'GET') return listCall(records, query);
  if (isKnown && method === 'POST' && id === undefined) {
    const options = idempotencyKey === null ? '' : `, { idempotencyKey: ${literal(idempotencyKey)} }`;
    return `${records}.create(${literal(body)}${options})`;
  }
  if (isKnown && method === 'PATCH' && id !== undefined)
    return `${records}.update(${idText}, ${literal(body)})`;
  if (isKnown && method === 'DELETE' && id !== undefined) return `${records}.delete(${idText})`;
  return otherCall(request);
}

/** A request that no collection sends, or that no client can send. */
function otherCall({ method, path, url, query, body, bodyBytes, idempotencyKey }: Request): string {
  if (!path.startsWith(API) || !['GET', 'POST', 'PATCH', 'DELETE'].includes(method)) {
    const options = method === 'GET' ? '' : `, { method: ${literal(method)} }`;
    return `sandbox.fetch(sandbox.baseUrl + ${literal(url)}${options})`;
  }
  const request = {
    method,
    path: path.slice(API.length - 1),
    ...(Object.keys(query).length > 0 && { query }),
    ...(bodyBytes > 0 && method !== 'GET' && { body }),
    ...(idempotencyKey !== null && method === 'POST' && { idempotencyKey }),
  };
  return `client.request(${literal(request)})`;
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
