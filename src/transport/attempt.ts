import type { ClientListeners } from '../events.ts';
import type { Permit } from '../rate-limiter/rate-limiter.ts';
import type { Call } from './call.ts';
import { withinLimits } from './limits.ts';
import { Body } from './read-body.ts';
import { type BareNotFound, readResponse, timedOutFailure } from './read-response.ts';
import type { ApiRequest, ApiResponse } from './request.ts';
import { type ContentTypes, contentTypeOf, requestHeaders } from './request-headers.ts';
import { responseMeta, retryAfterOf, serverTimeOf } from './response-meta.ts';
import { type Sender, send } from './send.ts';

/** What the attempts of one client have in common. */
export interface AttemptConfig {
  readonly listeners: ClientListeners;
  readonly maxBodyBytes: number;
  /** What a 404 without a problem document means. */
  readonly bareNotFound: BareNotFound;
  readonly contentTypes: ContentTypes;
}

/** What an attempt needs beside its request and its call. */
export interface AttemptContext {
  readonly config: AttemptConfig;
  readonly sender: Sender;
  readonly url: string;
  readonly permit: Permit;
}

/** One attempt: sends the request and reads the whole response. Rejects with a Failure, or with the signal's reason. */
export async function attempt<T>(
  request: ApiRequest<T>,
  call: Call,
  { config, sender, url, permit }: AttemptContext,
): Promise<ApiResponse<T>> {
  const { listeners, maxBodyBytes, bareNotFound } = config;
  const { method, body, idempotencyKey, expected } = request;
  const { signal, apiKey } = call;
  const requestedAt = Date.now();
  const startedAt = performance.now();
  const { ms, limit } = call.timeLeft();
  listeners.request?.({ ...call.event(), idempotencyKey });
  // A listener may have aborted it.
  signal?.throwIfAborted();

  const type = request.contentType ?? contentTypeOf(method, config.contentTypes);
  const headers = requestHeaders({
    apiKey,
    idempotencyKey,
    contentType: body === undefined ? undefined : type,
    own: request.options.headers,
  });
  const response = await send({ url, method, headers, body }, call, sender);
  const durationMs = performance.now() - startedAt;
  const meta = responseMeta(response, call.effort, apiKey);
  call.received(meta);
  const { status, rateLimit } = meta;
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
    requestId: meta.requestId,
  });
  const reading = { response, body: new Body(response), expected, maxBodyBytes, apiKey, bareNotFound };
  const value = await withinLimits(() => readResponse(reading), {
    signal,
    onAbort: () => reading.body.cancel(),
    // Never 0: after a stalled event loop the body may have arrived too.
    ms: Math.max(1, ms - durationMs),
    onTimeout: () => {
      reading.body.cancel();
      return timedOutFailure(reading, limit);
    },
  });
  return { value, meta, serverTime: serverTimeOf(response), requestedAt, durationMs };
}
