import type { ClientOptions, FetchFunction, Schemas } from 'accounting-data-sdk';
import { createClient } from 'accounting-data-sdk';

/** A request as `fetch` was given it. */
export interface FetchedRequest {
  readonly url: URL;
  readonly init: RequestInit;
  readonly headers: Headers;
}

/** One answer of a script: a Response, what `fetch` rejects with, or what decides by the request. */
export type FetchResponse = Response | Error | ((request: FetchedRequest) => Response | Promise<Response>);

/** A `fetch` that answers by a script without any network; the last answer is given again and again. */
export interface ScriptedFetch extends FetchFunction {
  readonly requests: readonly FetchedRequest[];
}

export function scriptedFetch(...script: readonly FetchResponse[]): ScriptedFetch {
  const requests: FetchedRequest[] = [];
  const fetch: FetchFunction = async (url, init) => {
    const request = { url: new URL(url), init, headers: new Headers(init.headers) };
    requests.push(request);
    const answer = script[Math.min(requests.length, script.length) - 1];
    if (answer instanceof Error) throw answer;
    if (answer instanceof Response) return answer.clone();
    if (answer === undefined) throw new TypeError('the script is empty');
    return answer(request);
  };
  return Object.assign(fetch, { requests });
}

let origins = 0;

/** An origin of its own, so that the shared rate gates of two tests do not meet. */
export const newOrigin = () => `https://books-${++origins}.example`;

/** A client on a scripted `fetch`, with waits of next to nothing. */
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

/** An answer with a JSON body. */
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
