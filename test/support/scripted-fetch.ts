import { randomUUID } from 'node:crypto';
import type { ClientOptions, FetchFunction, Schemas } from 'accounting-data-sdk';
import { createClient } from 'accounting-data-sdk';

/** A request as `fetch` was given it. */
export interface FetchedRequest {
  readonly url: URL;
  readonly init: RequestInit;
  readonly headers: Headers;
}

/** One response of a script: a Response, an error that `fetch` rejects with, or a function of the request. */
export type FetchResponse = Response | Error | ((request: FetchedRequest) => Response | Promise<Response>);

/** A `fetch` without a network that returns the responses of a script. The last one is repeated. */
export interface ScriptedFetch extends FetchFunction {
  readonly requests: readonly FetchedRequest[];
}

export function scriptedFetch(...script: readonly FetchResponse[]): ScriptedFetch {
  const requests: FetchedRequest[] = [];
  const fetch: FetchFunction = async (url, init) => {
    const request = { url: new URL(url), init, headers: new Headers(init.headers) };
    requests.push(request);
    const next = script[Math.min(requests.length, script.length) - 1];
    if (next instanceof Error) throw next;
    if (next instanceof Response) return next.clone();
    if (next === undefined) throw new TypeError('the script is empty');
    return next(request);
  };
  return Object.assign(fetch, { requests });
}

/**
 * A new origin, so that two tests do not share a rate limiter. It is random, because a counter would begin again in the
 * files after one that calls `vi.resetModules`, while the limiters of the process stay.
 */
export const newOrigin = () => `https://books-${randomUUID()}.example`;

/** A client with a scripted `fetch` and very short retry delays. */
export function scriptedClient<const S extends Schemas = Record<never, never>>(
  fetch: FetchFunction,
  options: ClientOptions<S> = {},
) {
  return createClient<S>({
    baseUrl: newOrigin(),
    apiKey: 'key-of-the-company',
    retry: { baseDelayMs: 1, maxDelayMs: 5 },
    fetch,
    ...options,
  });
}

/** A `fetch` whose records have the id that was requested, for tests that request several and return one. */
export function withRequestedIds(fetch: FetchFunction): FetchFunction {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (!(response instanceof Response) || !response.ok) return response;
    const id = new URL(url).pathname.split('/v1/')[1]?.split('/')[1];
    if (id === undefined) return response;
    return jsonResponse({ id }, response.status, Object.fromEntries(response.headers));
  };
}

/** A response that never comes: rejects when its request is aborted. */
export function noResponse(signal: AbortSignal | null | undefined, onAbort = () => {}): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener('abort', () => {
      onAbort();
      reject(signal.reason);
    });
  });
}

/** A response with a JSON body. */
export function jsonResponse(value: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
}

/** A problem document. */
export function problemResponse(status: number, members: object = {}, headers: Record<string, string> = {}) {
  return jsonResponse(members, status, { 'content-type': 'application/problem+json', ...headers });
}

/** What Node's `fetch` rejects with: a TypeError whose cause carries the code. */
export function networkError(code: string, message = 'other side closed'): TypeError {
  return new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) });
}
