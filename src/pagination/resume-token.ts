import { CheckpointError } from '../errors/checkpoint-error.ts';
import type { WalkPosition } from './page.ts';

/** What a token belongs to: a position means something only in the walk that it was taken from. */
export interface ResumeScope {
  readonly baseUrl: string;
  readonly collection: string;
  /** The caller's query, by parameter. Never a key or another secret. */
  readonly filters: Readonly<Record<string, string | undefined>>;
}

const VERSION = 1;

/** A position takes some 150 characters; what is far longer was never one of ours. */
const MAX_TOKEN_LENGTH = 4096;

/** A short name for a scope: the same for the same scope, in any order of its filters. No secret, and hides none. */
export function scopeFingerprint(scope: ResumeScope): string {
  const filters = Object.entries(scope.filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return digest(JSON.stringify([scope.baseUrl, scope.collection, filters]));
}

/** A position as an opaque string, good for the same scope only. */
export function encodeResumeToken(scope: ResumeScope, position: WalkPosition): string {
  const of = scopeFingerprint(scope);
  // JSON without the members that are undefined, so that the check is over what the reader will see.
  const at = JSON.stringify(position);
  return toBase64Url(JSON.stringify({ v: VERSION, of, at: JSON.parse(at), ok: digest(of + at) }));
}

/** The position of a token. Anything but a whole token of the same scope is a CheckpointError. */
export function decodeResumeToken(token: string, scope: ResumeScope): WalkPosition {
  const content = parse(token);
  if (content.v !== VERSION) throw refusal('is of a version that this package does not know');

  const { of, at } = content;
  if (typeof of !== 'string' || !isPosition(at) || content.ok !== digest(of + JSON.stringify(at))) {
    throw refusal('is damaged');
  }
  if (of !== scopeFingerprint(scope)) {
    throw refusal('belongs to another base URL, collection or set of filters');
  }
  return at;
}

function parse(token: unknown): Record<string, unknown> {
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH) throw refusal('is none of this package');
  try {
    const content: unknown = JSON.parse(fromBase64Url(token));
    if (typeof content === 'object' && content !== null) return content as Record<string, unknown>;
  } catch {
    // Said below. The parser's own message would quote the token.
  }
  throw refusal('is damaged');
}

function isPosition(value: unknown): value is WalkPosition {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((member) => member === null || typeof member !== 'object')
  );
}

function refusal(what: string): CheckpointError {
  return new CheckpointError(
    `The resume token ${what}: the walk cannot be taken up there, and a silent restart would hide it.`,
  );
}

function toBase64Url(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(token: string): string {
  const binary = atob(token.replaceAll('-', '+').replaceAll('_', '/'));
  return new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
}

/** 53 bits of a multiplicative hash: against mix-ups and damage, not against forgery, from which nobody gains. */
function digest(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x9e3779b1);
    low = Math.imul(low ^ code, 0x5f356495);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85ebca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85ebca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2ae35);
  return (4294967296 * (0x1fffff & low) + (high >>> 0)).toString(36);
}
