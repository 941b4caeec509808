import type { RateLimit } from '../schemas/rate-limit.ts';
import { redactText } from './redact.ts';
import { parseHttpDate, parseRetryAfter } from './retry-after.ts';

/** Response headers that errors and events may show. No other header leaves the transport. */
const ALLOWED = [
  'age',
  'cache-control',
  'content-length',
  'content-type',
  'date',
  'deprecation',
  'etag',
  'link',
  'retry-after',
  'server',
  'sunset',
  'via',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
] as const;

/** Where services put their own id of a request. The API documentation does not say. */
const REQUEST_ID = ['x-request-id', 'request-id', 'x-correlation-id', 'x-amzn-requestid', 'cf-ray'] as const;

/** The headers that may be shown, and those that the caller names, without the API key that the service may echo in them. */
export function allowedHeaders(
  headers: Headers,
  apiKey: string,
  named: readonly string[],
): Readonly<Record<string, string>> {
  const allowed: Record<string, string> = {};
  for (const name of [...ALLOWED, ...REQUEST_ID, ...named]) {
    const value = headers.get(name);
    if (value !== null) allowed[name] = redactText(value, apiKey);
  }
  return allowed;
}

export function requestIdOf(headers: Headers, apiKey: string): string | undefined {
  for (const name of REQUEST_ID) {
    const value = headers.get(name);
    if (value !== null) return redactText(value, apiKey);
  }
  return undefined;
}

/** X-RateLimit-Limit and -Remaining, if both are whole numbers. */
export function rateLimitOf(headers: Headers): RateLimit | undefined {
  const limit = wholeNumber(headers.get('x-ratelimit-limit'));
  const remaining = wholeNumber(headers.get('x-ratelimit-remaining'));
  return limit === undefined || remaining === undefined
    ? undefined
    : { limit, remaining, observedAt: new Date() };
}

function wholeNumber(value: string | null): number | undefined {
  // Some runtimes leave the whitespace after a header's value in place, and a proxy may send a header twice.
  const [, digits] = /^\s*(\d{1,15})(?:\s*,\s*\1)*\s*$/.exec(value ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}

/**
 * The longest pause that a 429 from something other than the service can ask for. A proxy or firewall that returns a page
 * with `Retry-After: 86400` must not stop the key for a day.
 */
const LONGEST_FOREIGN_PAUSE_MS = 60_000;

/** How long a response asks to wait; undefined if it does not say, or not as RFC 9110 has it. */
export function retryAfterOf(response: Response): number | undefined {
  const { status, headers } = response;
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'), headers.get('date'));
  const isOfService = isJson(headers) || rateLimitOf(headers) !== undefined;
  if (retryAfterMs === undefined || status !== 429 || isOfService) return retryAfterMs;
  return Math.min(retryAfterMs, LONGEST_FOREIGN_PAUSE_MS);
}

/** A response without a content type may be JSON. */
export function isJson(headers: Headers): boolean {
  const type = headers.get('content-type');
  return type === null || /^\s*application\/(?:[\w.+-]+\+)?json\s*(?:[;,]|$)/i.test(type);
}

/** The service's clock when it sent the response: `Date`, less the `Age` that a cache adds. */
export function serverTimeOf({ headers }: Response): Date | undefined {
  const at = parseHttpDate(headers.get('date') ?? '');
  if (at === undefined) return undefined;

  const age = headers.get('age')?.trim() ?? '';
  return new Date(at - (/^\d{1,9}$/.test(age) ? Number(age) * 1000 : 0));
}
