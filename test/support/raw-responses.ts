import { STATUS_CODES } from 'node:http';
import type { ScriptedResponse } from './scripted-server.ts';

/** A response as the bytes on the wire. */
export interface RawResponse {
  readonly bytes: Buffer;
  /** Where the body begins. */
  readonly bodyAt: number;
}

/** How the end of a body is marked. */
export type Framing = 'length' | 'chunked';

/** The head of a response after which the connection closes. */
export function rawHead(status: number | string, headers: readonly string[]): Buffer {
  const line = typeof status === 'string' ? status : `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
  return Buffer.from([line, ...headers, 'connection: close', '', ''].join('\r\n'));
}

/** A response with a JSON body and correct framing; a 204 has no body. */
export function rawJson(
  status: number,
  value: unknown,
  { framing = 'length', headers = [] }: { framing?: Framing; headers?: readonly string[] } = {},
): RawResponse {
  const body = status === 204 ? '' : JSON.stringify(value);
  const type = status < 400 ? 'application/json' : 'application/problem+json';
  const about = status === 204 ? [] : [`content-type: ${type}`, lengthHeader(framing, body)];
  const head = rawHead(status, [...about, ...headers]);
  return { bytes: Buffer.concat([head, Buffer.from(framed(framing, body))]), bodyAt: head.length };
}

function lengthHeader(framing: Framing, body: string): string {
  return framing === 'length' ? `content-length: ${Buffer.byteLength(body)}` : 'transfer-encoding: chunked';
}

/** In two chunks, so that a body can end between them. */
function framed(framing: Framing, body: string): string {
  if (framing === 'length' || body === '') return body;

  const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
  return `${chunk(body.slice(0, 5))}${chunk(body.slice(5))}0\r\n\r\n`;
}

/** These bytes straight onto the socket, and then the end of the connection. */
export function sendRaw(bytes: Uint8Array): ScriptedResponse {
  return (_, { socket }) => void socket.end(bytes);
}
