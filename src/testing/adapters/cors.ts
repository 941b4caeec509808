import type { IncomingMessage } from 'node:http';

/** Headers of the service that a page may read; without this list a browser hides them. */
const EXPOSED = 'X-RateLimit-Limit, X-RateLimit-Remaining, Retry-After, Date, Location';

/** What lets a browser's page read an answer. */
export const CORS_HEADERS: Readonly<Record<string, string>> = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
};

/** Whether a request is a browser's question before the real one. It has no key and is not counted. */
export function isPreflight(request: IncomingMessage): boolean {
  return request.method === 'OPTIONS' && request.headers['access-control-request-method'] !== undefined;
}

/** The answer to it: any method and any header, kept by the browser for ten minutes. */
export function preflightHeaders(request: IncomingMessage): Record<string, string> {
  const asked = request.headers['access-control-request-headers'];
  return {
    ...CORS_HEADERS,
    'Access-Control-Allow-Methods': 'GET, POST, PATCH, DELETE',
    'Access-Control-Allow-Headers': asked ?? 'X-AUTH-TOKEN, Idempotency-Key, Content-Type',
    'Access-Control-Max-Age': '600',
    // A page on a public host may call this machine only when this machine says so.
    ...(request.headers['access-control-request-private-network'] === 'true'
      ? { 'Access-Control-Allow-Private-Network': 'true' }
      : {}),
  };
}
