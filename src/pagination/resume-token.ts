import { CheckpointError } from '../errors/checkpoint-error.ts';
import type { ResumePosition } from './page.ts';

/** What a token belongs to: a position is valid only for the list that it was taken from. */
export interface ResumeScope {
  readonly baseUrl: string;
  readonly collection: string;
  /** The caller's query, by parameter. Never a key or another secret. */
  readonly filters: Readonly<Record<string, string | undefined>>;
}

const TOKEN_VERSION = 5;

/** A position takes some 400 characters; a much longer string is not a token. */
const MAX_TOKEN_LENGTH = 4096;

/** A short name for a scope: the same for the same scope, in any order of its filters. It is not a secret, and does not hide one. */
export function scopeFingerprint(scope: ResumeScope): string {
  const filters = Object.entries(scope.filters)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return digest(JSON.stringify([scope.baseUrl, scope.collection, filters]));
}

/** A position as an opaque string, good for the same scope only. */
export function encodeResumeToken(scope: ResumeScope, position: ResumePosition): string {
  const of = scopeFingerprint(scope);
  // Without the members that are undefined, so that the checksum covers what is decoded later.
  const at = JSON.stringify(position);
  return toBase64Url(JSON.stringify({ v: TOKEN_VERSION, of, at: JSON.parse(at), ok: digest(of + at) }));
}

/** The position of a token. Anything but a whole token of the same scope is a CheckpointError. */
export function decodeResumeToken(token: string, scope: ResumeScope): ResumePosition {
  const content = parse(token);
  if (content.v !== TOKEN_VERSION) throw invalidToken('is of a version that this package does not know');

  const { of, at } = content;
  if (typeof of !== 'string' || !isPosition(at) || content.ok !== digest(of + JSON.stringify(at))) {
    throw invalidToken('is damaged');
  }
  if (of !== scopeFingerprint(scope)) {
    throw invalidToken('belongs to another base URL, collection or set of filters');
  }
  return at;
}

function parse(token: unknown): Record<string, unknown> {
  if (typeof token !== 'string' || token.length > MAX_TOKEN_LENGTH)
    throw invalidToken('was not issued by this package');
  try {
    const content: unknown = JSON.parse(fromBase64Url(token));
    if (typeof content === 'object' && content !== null) return content as Record<string, unknown>;
  } catch {
    // Thrown below. The parser's own message would quote the token.
  }
  throw invalidToken('is damaged');
}

function isPosition(value: unknown): value is ResumePosition {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((member) => member === null || typeof member !== 'object')
  );
}

function invalidToken(what: string): CheckpointError {
  return new CheckpointError(`The resume token ${what}.`, {
    hint: 'Read from the start instead: leave resumeFrom out.',
  });
}

/** Of a string in ASCII, as every token is. */
function toBase64Url(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromBase64Url(token: string): string {
  return atob(token.replaceAll('-', '+').replaceAll('_', '/'));
}

/** 53 bits of a multiplicative hash: it detects mix-ups and damage, not forgery. */
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
