import type { IncomingMessage } from 'node:http';
import type { ServiceResponse } from '../message.ts';
import { nodeHttp, nodeZlib } from '../node-modules.ts';
import { CORS_HEADERS } from './cors.ts';

/** How a listening sandbox sends. */
export interface SendOptions {
  readonly cors: boolean;
  /** The names that `Host` may have; undefined for any. */
  readonly hosts: readonly string[] | undefined;
}

/** A response as bytes and headers. */
interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Smaller bodies are not compressed: on one machine that takes longer than to send them. */
const GZIP_FROM_BYTES = 16_384;
const NOTHING = new Uint8Array();

/** Encodes a response. A HEAD has the headers of a GET, without its body. */
export function encode(
  { method, headers: requested }: Pick<IncomingMessage, 'method' | 'headers'>,
  { status, headers: sent, body = NOTHING }: ServiceResponse,
  { cors }: Pick<SendOptions, 'cors'>,
): WireResponse {
  const isLarge = body.byteLength >= GZIP_FROM_BYTES;
  const compresses = isLarge && /\bgzip\b/i.test(`${requested['accept-encoding']}`);
  // Level 1, because speed matters here and size does not.
  const bytes = compresses ? nodeZlib().gzipSync(body, { level: 1 }) : body;
  const headers = {
    ...sent,
    ...(cors ? CORS_HEADERS : {}),
    ...(isLarge ? { Vary: 'Accept-Encoding' } : {}),
    ...(compresses ? { 'Content-Encoding': 'gzip' } : {}),
    ...(status === 204 ? {} : { 'Content-Length': String(bytes.byteLength) }),
  };
  return { status, headers, body: method === 'HEAD' ? NOTHING : bytes };
}

/** Status line and headers. `more` replaces headers of the same name. */
export function head({ status, headers }: WireResponse, more: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ ...headers, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${nodeHttp().STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n`;
}
