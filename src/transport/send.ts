import type { KyInstance } from 'ky';
import { MAX_TIMER_MS } from '../internal/sleep.ts';
import type { Call } from './call.ts';
import { Failure, timeUp } from './failure.ts';
import { untilAborted } from './limits.ts';
import { networkFailure, targetOf } from './network-failure.ts';
import { Body } from './read-body.ts';
import { copyCause } from './redact.ts';
import type { Method } from './request.ts';
import { commonHeaders } from './request-headers.ts';

/** `fetch`, as this package calls it: a URL and an init, never a Request. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** One HTTP request. */
export interface Outgoing {
  readonly url: string;
  readonly method: Method;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** What sends the requests of one client. */
export interface Sender {
  readonly ky: KyInstance;
  /** What ky adds to the headers of each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly isTimeout: (error: unknown) => boolean;
  /** The caller's own `fetch`. */
  readonly fetch: FetchFunction | undefined;
}

/** Loads ky. It makes a Request when it is loaded, which takes Node 34 ms: too long for a program that sends nothing. */
export async function loadSender({
  fetch,
  userAgent,
}: {
  readonly fetch: FetchFunction | undefined;
  readonly userAgent: string | undefined;
}): Promise<Sender> {
  const { default: ky, isTimeoutError } = await import('ky');
  const headers = commonHeaders(userAgent);
  return {
    ky: ky.create({
      headers,
      // One loop retries: p-retry in transport.ts.
      retry: 0,
      throwHttpErrors: false,
      // `fetch` would carry the key to wherever a redirect points.
      redirect: 'manual',
      // Looked up now, so that a test double which was started after the client is not bypassed.
      fetch: (input, init) => globalThis.fetch(input, init),
    }),
    headers,
    isTimeout: isTimeoutError,
    fetch,
  };
}

/**
 * Sends one request and resolves with the response as soon as its headers have arrived, within the time that is left to
 * the call. Rejects with a Failure, or with the reason of the call's signal.
 */
export async function send(outgoing: Outgoing, call: Call, sender: Sender): Promise<Response> {
  const { ky, isTimeout } = sender;
  const { url, method, headers, body } = outgoing;
  const { signal } = call;
  const { ms, limit } = call.timeLeft();
  if (ms <= 0) throw new Failure('unsent', { kind: 'time', limit, waitingFor: 'response' });

  const request = async () =>
    ky(url, {
      method,
      headers,
      timeout: ms <= MAX_TIMER_MS ? ms : false,
      ...(body === undefined ? {} : { body }),
      // A signal costs ky as much as the rest of its work.
      ...(signal === undefined ? {} : { signal }),
      ...(sender.fetch === undefined
        ? {}
        : { fetch: callersFetch(sender.fetch, { ...outgoing, headers: { ...sender.headers, ...headers } }) }),
    });
  try {
    // ky stops for the timeout, but waits for a `fetch` that ignores the signal.
    return signal === undefined ? await request() : await untilAborted(request, signal);
  } catch (error) {
    if (signal?.aborted) throw signal.reason;
    if (error instanceof Failure) throw error;
    if (isTimeout(error)) throw timeUp(limit, 'response');
    throw networkFailure(error, targetOf(url, { ownFetch: false }));
  }
}

/**
 * Adapts the caller's `fetch` to ky. It gets the URL and plain values, because another implementation rejects ky's
 * Request, and a body taken from there would be sent as a stream, without Content-Length.
 */
function callersFetch(fetch: FetchFunction, { url, method, headers, body }: Outgoing) {
  return async (input: unknown): Promise<Response> => {
    const { signal } = input as Request;
    const init = {
      method,
      headers,
      redirect: 'manual',
      signal,
      ...(body === undefined ? {} : { body }),
    } as const;
    let response: unknown;
    try {
      response = await fetch(url, init);
    } catch (error) {
      const cause = copyCause(error, headers['x-auth-token'] ?? '');
      throw networkFailure(error, targetOf(url, { ownFetch: true }), cause);
    }
    if (!isFetchResponse(response)) throw new Failure('not_a_response', { kind: 'not_a_response' });
    // This `fetch` ignored the signal: the attempt is over.
    if (signal.aborted) new Body(response).cancel();
    return response;
  };
}

/** What the transport reads of a Response. Not `instanceof`: the caller's `fetch` may have a Response class of its own. */
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
