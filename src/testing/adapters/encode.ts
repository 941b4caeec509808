import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { ServiceReply } from '../service/message.ts';
import { CORS_HEADERS } from './cors.ts';

/** How a listening sandbox sends. */
export interface SendOptions {
  /** Pack bodies of a kilobyte and more for clients that accept it. */
  readonly gzip: boolean;
  readonly cors: boolean;
}

/** An answer as it goes on the wire. */
export interface WireReply {
  readonly status: number;
  /** Name, value, name, value… */
  readonly headers: string[];
  readonly body: Uint8Array;
}

const GZIP_FROM_BYTES = 1024;
const NOTHING = new Uint8Array();
const CORS_LIST = Object.entries(CORS_HEADERS).flat();

/** Packed bodies of pages that are sent again and again. */
const packed = new WeakMap<Uint8Array, Uint8Array>();

function pack(body: Uint8Array): Uint8Array {
  const known = packed.get(body);
  if (known !== undefined) return known;
  // Level 1: the sandbox is to be quick, not small.
  const made = gzipSync(body, { level: 1 });
  packed.set(body, made);
  return made;
}

const acceptsGzip = (request: IncomingMessage) =>
  /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));

/** Bytes and headers of a reply. */
export function encode(request: IncomingMessage, reply: ServiceReply, options: SendOptions): WireReply {
  const { status } = reply;
  const headers: string[] = [];
  for (const name in reply.headers) headers.push(name, reply.headers[name] ?? '');
  if (options.cors) headers.push(...CORS_LIST);

  let body = reply.body ?? NOTHING;
  if (options.gzip && body.byteLength >= GZIP_FROM_BYTES) {
    headers.push('Vary', 'Accept-Encoding');
    if (acceptsGzip(request)) {
      body = pack(body);
      headers.push('Content-Encoding', 'gzip');
    }
  }
  if (status !== 204) headers.push('Content-Length', String(body.byteLength));
  return { status, headers, body };
}

/** Status line and headers as text. `more` takes the place of headers of the same name. */
export function head({ status, headers }: WireReply, more: Readonly<Record<string, string>> = {}): string {
  const lines = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) lines.set(headers[i] ?? '', headers[i + 1] ?? '');
  for (const [name, value] of Object.entries(more)) lines.set(name, value);
  const text = [...lines].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${text}\r\n`;
}
