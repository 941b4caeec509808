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

const ZERO = /;\s*q=0(?:\.0*)?\s*(?:;|$)/i;

/** Whether Accept-Encoding names gzip with a weight above zero; `*` stands for what is not named (RFC 9110, 12.5.3). */
function acceptsGzip({ headers }: WireRequest): boolean {
  const accepted = String(headers['accept-encoding'] ?? '').split(',');
  const named = (...names: string[]) =>
    accepted.find((coding) => names.includes((coding.split(';', 1)[0] ?? '').trim().toLowerCase()));
  const coding = named('gzip', 'x-gzip') ?? named('*');
  return coding !== undefined && !ZERO.test(coding);
}

/** What the form of a response depends on. */
export type WireRequest = Pick<IncomingMessage, 'method' | 'headers'>;

/** Bytes and headers of a reply. HEAD gets the headers of a GET without its body. */
export function encode(request: WireRequest, reply: ServiceReply, options: SendOptions): WireReply {
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
  return { status, headers, body: request.method === 'HEAD' ? NOTHING : body };
}

/** Status line and headers as text. `more` takes the place of headers of the same name. */
export function head({ status, headers }: WireReply, more: Readonly<Record<string, string>> = {}): string {
  const lines = new Map<string, string>();
  for (let i = 0; i < headers.length; i += 2) lines.set(headers[i] ?? '', headers[i + 1] ?? '');
  for (const [name, value] of Object.entries(more)) lines.set(name, value);
  const text = [...lines].map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${text}\r\n`;
}
