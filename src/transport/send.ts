import type { KyInstance } from 'ky';
import { isError } from '../internal/realm.ts';
import { Failure } from './failure.ts';
import { networkFailure } from './network-failure.ts';
import type { Redactor } from './redact.ts';
import type { Method } from './request.ts';

/** `fetch`, as this package calls it: a URL and an init, never a Request. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

interface HttpRequest {
  readonly url: string;
  readonly method: Method;
  /** Lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Fires when the attempt is over, whatever ended it. */
  readonly signal: AbortSignal;
}

let loaded: KyInstance | undefined;

/**
 * No cache may respond in place of the service: Next.js caches requests of a route unless they say so. Only where the
 * runtime knows the option: workerd with an older compatibility date throws for it.
 */
const uncached = (): RequestInit => ('cache' in Request.prototype ? { cache: 'no-store' } : {});

/** Loads ky. It makes a Request when it is loaded, which takes Node 34 ms: too long for a program that sends nothing. */
async function loadKy(): Promise<KyInstance> {
  const { default: ky } = await import('ky');
  loaded = ky.create({
    // One loop retries: p-retry in transport.ts.
    retry: 0,
    throwHttpErrors: false,
    // `fetch` would carry the key to wherever a redirect points.
    redirect: 'manual',
    // One timer limits the whole attempt, body included: see attempt.ts.
    timeout: false,
  });
  return loaded;
}

/** Who sends, and who hides the keys in what it throws. */
interface Sender {
  /** The caller's own `fetch`. */
  readonly fetch: FetchFunction | undefined;
  readonly redactor: Redactor;
}

/** Sends one request and resolves with the response as soon as its headers have arrived. Rejects with a Failure. */
export async function send(request: HttpRequest, { fetch, redactor }: Sender): Promise<Response> {
  const { url, method, headers, body, signal } = request;
  try {
    const ky = loaded ?? (await loadKy());
    signal.throwIfAborted();
    return await ky(url, {
      method,
      headers,
      body: body ?? null,
      // The signal goes straight to `fetch`: through ky it costs as much as the rest of ky's work. `fetch` is looked up
      // now, so that a test double which was started after the client is not bypassed.
      fetch:
        fetch === undefined
          ? async (request) => checked(await globalThis.fetch(request, { signal, ...uncached() }), 'fetch')
          : () => callersFetch(fetch, request, redactor),
    });
  } catch (error) {
    throw error instanceof Failure ? error : thrownBy(error, { url, redactor });
  }
}

/**
 * Calls the caller's `fetch`. It gets the URL and plain values, because another implementation rejects ky's Request, and a
 * body taken from there would be sent as a stream, without Content-Length.
 */
async function callersFetch(
  fetch: FetchFunction,
  { url, method, headers, body, signal }: HttpRequest,
  redactor: Redactor,
): Promise<Response> {
  const init = {
    method,
    headers,
    redirect: 'manual',
    signal,
    ...uncached(),
    ...(body === undefined ? {} : { body }),
  } as const;
  // It may have fired while ky prepared the request, and not every `fetch` looks at it.
  signal.throwIfAborted();
  let response: unknown;
  try {
    response = await fetch(url, init);
  } catch (error) {
    throw thrownBy(error, { url, redactor, ofCaller: true });
  }
  return checked(response, 'the function given as fetch');
}

/** What a call fails with whose `fetch` threw: a Failure, or what Next.js throws to make a route dynamic and looks for by its `digest`. */
function thrownBy(error: unknown, of: Parameters<typeof networkFailure>[1]): unknown {
  return isError(error) && 'digest' in error ? error : networkFailure(error, of);
}

/** A test double may return anything. */
function checked(response: unknown, by: string): Response {
  if (isFetchResponse(response)) return response;
  throw new Failure('not_a_response', { kind: 'not_a_response', by });
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
