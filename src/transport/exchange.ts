import ky from 'ky';
import { ConnectionError } from '../errors/connection-error.ts';
import { outcomeAdvice } from '../errors/outcome-advice.ts';
import { copyCause } from './copy-cause.ts';
import { Failure } from './failure.ts';
import { networkFailure, targetOf } from './network-failure.ts';

/** `fetch`, as this package calls it: a URL and an init, never a Request. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** One HTTP exchange. */
export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  readonly fetch: FetchFunction | undefined;
}

/**
 * Sends one request and resolves with the head of its response. Redirects come back as responses: `fetch` would carry the
 * key to wherever they point. Rejects with a Failure.
 */
export async function exchange({ url, method, headers, body, signal, fetch }: Exchange): Promise<Response> {
  const init: RequestInit = {
    method,
    headers,
    signal,
    redirect: 'manual',
    ...(body === undefined ? {} : { body }),
  };
  let isResponse = true;
  try {
    return await ky(url, {
      method,
      retry: 0,
      timeout: false,
      throwHttpErrors: false,
      // Not ky's Request: a `fetch` of another implementation refuses it. So ky is given no header, body or signal to
      // make one of. Looked up now, so that a test double which was started after the client is not bypassed.
      fetch: async () => {
        const response: unknown = await (fetch ?? globalThis.fetch)(url, init);
        if (isFetchResponse(response)) return response;
        isResponse = false;
        throw new TypeError();
      },
    });
  } catch (error) {
    if (!isResponse) throw notAResponse();
    // Of the runtime's own `fetch` the code says everything; what the caller's threw is for the caller to see.
    const cause = fetch === undefined ? undefined : copyCause(error, headers['x-auth-token'] ?? '');
    throw networkFailure(error, targetOf(url, fetch === undefined), cause);
  }
}

/** What the transport reads of a Response. Not `instanceof`: the caller's `fetch` may bring a Response class of its own. */
function isFetchResponse(value: unknown): value is Response {
  if (typeof value !== 'object' || value === null) return false;

  const { status, ok, type, headers, body } = value as Partial<Response>;
  // A browser's opaque redirect has status 0; so has Response.error(), which says nothing about the service.
  const hasStatus = Number.isInteger(status) && Number(status) >= 200 && Number(status) <= 599;
  return (
    (hasStatus || type === 'opaqueredirect') &&
    typeof ok === 'boolean' &&
    hasHeaders(headers) &&
    (body === null || (typeof body?.getReader === 'function' && typeof body.cancel === 'function'))
  );
}

/** A Map has `get` too, but its names are not those of headers. */
function hasHeaders(headers: Headers | undefined): boolean {
  try {
    const type: unknown = headers?.get('content-type');
    return type === null || typeof type === 'string';
  } catch {
    return false;
  }
}

function notAResponse(): Failure {
  return new Failure('not_a_response', (facts) => {
    const message = `${facts.method} ${facts.path} got no response: the function given as fetch did not return a Response of the Fetch standard. ${outcomeAdvice(facts) ?? 'Make it return one.'}`;
    return new ConnectionError(message, { ...facts, retryable: false });
  });
}
