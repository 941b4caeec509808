import type { KyInstance } from 'ky';
import type { ClientListeners } from '../events.ts';
import { withTimeout } from '../internal/with-timeout.ts';
import type { Permit } from '../rate-limiter/rate-limiter.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { Call } from './call.ts';
import { deprecationOf } from './deprecation.ts';
import { Failure, timeUp } from './failure.ts';
import { Body } from './read-body.ts';
import { type BareNotFound, type Received, readResponse, timedOutFailure } from './read-response.ts';
import type { ApiRequest, ApiResponse } from './request.ts';
import { type ContentTypes, contentTypeOf, MERGE_PATCH, requestHeaders } from './request-headers.ts';
import { allowedHeaders, rateLimitOf, requestIdOf, retryAfterOf, serverTimeOf } from './response-meta.ts';
import { type FetchFunction, send } from './send.ts';

/** What the attempts of one client have in common. */
export interface AttemptConfig {
  readonly listeners: ClientListeners;
  /** The caller's own `fetch`. */
  readonly fetch: FetchFunction | undefined;
  readonly userAgent: string | undefined;
  readonly maxBodyBytes: number;
  /** Names of response headers that errors and events show beside the usual ones. */
  readonly responseHeaders: readonly string[];
  /** What a 404 without a problem document means. */
  readonly bareNotFound: BareNotFound;
  readonly contentTypes: ContentTypes;
}

interface AttemptContext {
  readonly config: AttemptConfig;
  readonly ky: KyInstance;
  readonly url: string;
  readonly permit: Permit;
  /** Called with the quota that the headers of the response report, before the body is read. */
  readonly onRateLimit: (rateLimit: RateLimit) => void;
}

/**
 * One attempt: sends the request and reads the whole response, within the time that is left to the call. Rejects with a
 * Failure, or with the signal's reason.
 */
export async function attempt<T>(
  request: ApiRequest<T>,
  call: Call,
  { config, ky, url, permit, onRateLimit }: AttemptContext,
): Promise<ApiResponse<T>> {
  const { listeners, maxBodyBytes, bareNotFound, responseHeaders } = config;
  const { method, body, idempotencyKey, expected } = request;
  const { apiKey } = call;
  listeners.request?.({ ...call.event(), idempotencyKey });
  // A listener may have aborted it.
  call.signal?.throwIfAborted();
  const { ms, limit } = call.timeLeft();
  if (ms <= 0) throw new Failure('unsent', { kind: 'time', limit, waitingFor: 'response' });

  const over = new AbortController();
  let arrived: Received<T> | undefined;
  const stop = (reason?: unknown) => {
    over.abort(reason);
    arrived?.body.cancel();
  };
  const exchange = async (): Promise<ApiResponse<T>> => {
    const ownType = request.contentType ?? (call.mergesPatch ? MERGE_PATCH : undefined);
    const type = ownType ?? contentTypeOf(method, config.contentTypes);
    const headers = requestHeaders({
      apiKey,
      userAgent: config.userAgent,
      idempotencyKey,
      contentType: body === undefined ? undefined : type,
      own: request.options.headers,
    });
    const requestedAt = Date.now();
    const startedAt = performance.now();
    const response = await send({ url, method, headers, body, signal: over.signal }, ky, config.fetch);
    const durationMs = performance.now() - startedAt;
    const read = { expected, maxBodyBytes, apiKey, bareNotFound, responseHeaders, url };
    arrived = { ...read, response, body: new Body(response) };
    if (over.signal.aborted) {
      // This `fetch` ignored the signal.
      arrived.body.cancel();
      throw over.signal.reason;
    }
    const { status, headers: received } = response;
    const rateLimit = rateLimitOf(received);
    call.received(response, rateLimit);
    if (rateLimit !== undefined) onRateLimit(rateLimit);
    permit.settle({
      status,
      limit: rateLimit?.limit,
      remaining: rateLimit?.remaining,
      retryAfterMs: status === 429 ? retryAfterOf(response) : undefined,
    });
    listeners.response?.({
      ...call.event(),
      status,
      durationMs: Math.floor(durationMs),
      rateLimit,
      requestId: requestIdOf(received, apiKey),
      headers: allowedHeaders(received, apiKey, responseHeaders),
    });
    const deprecation = listeners.deprecated && deprecationOf(allowedHeaders(received, apiKey, []));
    if (deprecation !== undefined) listeners.deprecated?.({ ...call.event(), ...deprecation });
    const value = await readResponse(arrived);
    return { value, rateLimit, serverTime: () => serverTimeOf(response), requestedAt, durationMs };
  };
  return withTimeout(exchange, {
    signal: call.signal,
    onAbort: () => stop(call.signal?.reason),
    ms,
    onTimeout: () => {
      stop();
      return arrived === undefined ? timeUp(limit, 'response') : timedOutFailure(arrived, limit);
    },
  });
}
