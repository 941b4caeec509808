import type { IncomingMessage } from 'node:http';

/** Headers of the service that a page may read; without this list a browser hides them. */
const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Date, Link, Location';

/** The headers with which a browser lets a page read a response. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
};

/** Whether a browser asks for permission before the actual request. Such a request has no key and is not counted. */
export function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

/** Permission for every method and header; the browser stores it for ten minutes. */
export function preflightHeaders(request: IncomingMessage): Record<string, string> {
  const requested = request.headers['access-control-request-headers'];
  return {
    ...CORS_HEADERS,
    'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE',
    'Access-Control-Allow-Headers': requested ?? 'X-AUTH-TOKEN, Idempotency-Key, Content-Type',
    'Access-Control-Max-Age': '600',
    // Without it a page on a public host must not call this machine.
    ...(request.headers['access-control-request-private-network'] === 'true'
      ? { 'Access-Control-Allow-Private-Network': 'true' }
      : {}),
  };
}
