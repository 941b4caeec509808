import { type IncomingMessage, STATUS_CODES } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { ServiceResponse } from '../service/message.ts';
import { CORS_HEADERS } from './cors.ts';

/** How a listening sandbox sends. */
export interface SendOptions {
  /** Compress bodies of a kilobyte and more for clients that accept it. */
  readonly gzip: boolean;
  readonly cors: boolean;
}

/** A response as bytes and headers. */
export interface WireResponse {
  readonly status: number;
  /** Name, value, name, value… */
  readonly headers: string[];
  readonly body: Uint8Array;
}

const GZIP_FROM_BYTES = 1024;
const NOTHING = new Uint8Array();
const CORS_LIST = Object.entries(CORS_HEADERS).flat();

/** Compressed bodies of pages that are sent several times. */
const compressed = new WeakMap<Uint8Array, Uint8Array>();

function compress(body: Uint8Array): Uint8Array {
  const known = compressed.get(body);
  if (known !== undefined) return known;
  // Level 1, because speed matters here and size does not.
  const bytes = gzipSync(body, { level: 1 });
  compressed.set(body, bytes);
  return bytes;
}

const ZERO = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

/** Whether Accept-Encoding names gzip with a weight above zero; `*` means every coding that is not named (RFC 9110, 12.5.3). */
function acceptsGzip({ headers }: WireRequest): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  const named = (...names: string[]) =>
    accepted.find((coding) => names.includes((coding.split(';', 1)[0] ?? '').trim().toLowerCase()));
  const coding = named('gzip', 'x-gzip') ?? named('*');
  return coding !== undefined && !ZERO.test(coding);
}

/** The part of a request that the encoding of its response depends on. */
export type WireRequest = Pick<IncomingMessage, 'method' | 'headers'>;

/** Encodes a response. A HEAD has the headers of a GET, without its body. */
export function encode(request: WireRequest, response: ServiceResponse, options: SendOptions): WireResponse {
  const { status } = response;
  const headers: string[] = [];
  for (const name in response.headers) headers.push(name, response.headers[name] ?? '');
  if (options.cors) headers.push(...CORS_LIST);

  let body = response.body ?? NOTHING;
  if (options.gzip && body.byteLength >= GZIP_FROM_BYTES) {
    headers.push('Vary', 'Accept-Encoding');
    if (acceptsGzip(request)) {
      body = compress(body);
      headers.push('Content-Encoding', 'gzip');
    }
  }
  if (status !== 204) headers.push('Content-Length', String(body.byteLength));
  return { status, headers, body: request.method === 'HEAD' ? NOTHING : body };
}

/** Status line and headers. `more` replaces headers of the same name. */
export function head({ status, headers }: WireResponse, more: Readonly<Record<string, string>> = {}): string {
  const lines = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) lines.set(headers[i] ?? '', headers[i + 1] ?? '');
  for (const [name, value] of Object.entries(more)) lines.set(name, value);
  const text = [...lines].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${text}\r\n`;
}
