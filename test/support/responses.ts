import { STATUS_CODES } from 'node:http';
import { gzipSync } from 'node:zlib';
import { productJson } from './records.ts';
import type { ScriptedResponse, Wire } from './scripted-server.ts';

type Headers = Readonly<Record<string, string>>;

/** A well-formed response with these bytes. */
export function respond(status: number, headers: Headers, body: string | Uint8Array = ''): ScriptedResponse {
  return (_, { response }) => void response.writeHead(status, headers).end(body);
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** A JSON value. */
export function json(value: unknown, status = 200, headers: Headers = {}): ScriptedResponse {
  return respond(status, { ...JSON_TYPE, ...headers }, JSON.stringify(value));
}

/** A problem document. */
export function problem(status: number, members: object = {}, headers: Headers = {}): ScriptedResponse {
  const body = JSON.stringify({ status, ...members });
  return respond(status, { 'content-type': 'application/problem+json', ...headers }, body);
}

/** The HTML page of a proxy. */
export const html = (status = 200): ScriptedResponse =>
  respond(status, { 'content-type': 'text/html' }, '<!doctype html><h1>Sign in</h1>');

export const empty = (status: number): ScriptedResponse => respond(status, {});

export const redirect = (status: number, location: string): ScriptedResponse => respond(status, { location });

/** The successful response to each method, with the id that was requested. */
export const success: ScriptedResponse = (request, wire) => {
  const status = { POST: 201, DELETE: 204 }[request.method] ?? 200;
  const id = /\/v1\/[^/?#]+\/([^/?#]+)/.exec(request.url)?.[1];
  const product = JSON.parse(productJson);
  if (id !== undefined) product.id = decodeURIComponent(id);
  return (status === 204 ? empty(status) : json(product, status))(request, wire);
};

/** Bytes straight onto the socket, which is then closed. */
function raw(bytes: string | Uint8Array, then: (socket: Wire['socket']) => void): ScriptedResponse {
  return (_, { socket }) => void socket.write(bytes, () => then(socket));
}

const head = (status: number, headers: Headers) =>
  [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    ...Object.entries({ ...JSON_TYPE, ...headers }).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');

const end = (socket: Wire['socket']) => void socket.destroy();
const length = Buffer.byteLength(productJson);

/** Ways in which a response does not arrive. */
export const misbehave = {
  close: ((_, { socket }) => void socket.destroy()) as ScriptedResponse,
  reset: ((_, { socket }) => void socket.resetAndDestroy()) as ScriptedResponse,
  closeInHeaders: raw('HTTP/1.1 200 OK\r\ncontent-ty', end),
  garbage: raw('SSH-2.0-OpenSSH_9.6\r\n\r\n', end),
  closeInBody: raw(`${head(200, { 'content-length': String(length) })}${productJson.slice(0, 9)}`, end),
  corruptGzip: respond(
    200,
    { ...JSON_TYPE, 'content-encoding': 'gzip' },
    gzipSync(productJson).fill(0xff, 12, 40),
  ),
  truncatedJson: respond(200, JSON_TYPE, productJson.slice(0, -1)),
  /** A page of another content type whose end is missing. */
  cutPage: (type: string, text = '<!doctype html><h1>Sign in') =>
    raw(`${head(200, { 'content-type': type, 'content-length': '500' })}${text}`, end),
  /** Nothing comes. */
  stall: (() => {}) as ScriptedResponse,
  /** The head comes, the body never ends. */
  stallInBody: raw(`${head(200, { 'content-length': String(length) })}${productJson.slice(0, 9)}`, () => {}),
} as const;

/** Far larger decompressed than on the wire. */
export const gzipBomb = (bytes: number): ScriptedResponse =>
  respond(200, { ...JSON_TYPE, 'content-encoding': 'gzip' }, gzipSync(`"${' '.repeat(bytes)}"`));
