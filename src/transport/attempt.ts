import type { ClientListeners } from '../events.ts';
import { withTimeout } from '../internal/with-timeout.ts';
import type { Call } from './call.ts';
import { Failure, timeUp } from './failure.ts';
import { readResponse, timedOutFailure } from './read-response.ts';
import { type ReadingConfig, Received } from './received.ts';
import type { ApiRequest, ApiResponse } from './request.ts';
import { type ContentTypes, contentTypeOf, MERGE_PATCH, requestHeaders } from './request-headers.ts';
import { type FetchFunction, send } from './send.ts';

/** What the attempts of one client have in common. */
export interface AttemptConfig extends ReadingConfig {
  readonly listeners: ClientListeners;
  /** The caller's own `fetch`. */
  readonly fetch: FetchFunction | undefined;
  readonly userAgent: string | undefined;
  readonly contentTypes: ContentTypes;
}

interface AttemptContext {
  readonly config: AttemptConfig;
  readonly url: string;
  /** Called when the headers of a response have arrived, before its body is read. */
  readonly onReceived: (received: Received) => void;
}

/**
 * One attempt: sends the request and reads the whole response, within the time that is left to the call. Rejects with a
 * Failure, or with the signal's reason.
 */
export async function attempt<T>(
  request: ApiRequest<T>,
  call: Call,
  { config, url, onReceived }: AttemptContext,
): Promise<ApiResponse<T>> {
  const { listeners } = config;
  const { method, body, idempotencyKey } = request;
  listeners.request?.({ ...call.event(), idempotencyKey });
  const { ms, limit } = call.timeLeft();
  if (ms <= 0) throw new Failure('unsent', { kind: 'time', limit, waitingFor: 'response' });

  const over = new AbortController();
  let received: Received | undefined;
  const stop = (reason?: unknown) => {
    over.abort(reason);
    received?.body.cancel();
  };
  const exchange = async (): Promise<ApiResponse<T>> => {
    const ownType = request.contentType ?? (call.mergesPatch ? MERGE_PATCH : undefined);
    const type = ownType ?? contentTypeOf(method, config.contentTypes);
    const headers = requestHeaders({
      apiKey: call.apiKey,
      userAgent: config.userAgent,
      idempotencyKey,
      contentType: body === undefined ? undefined : type,
      own: request.options.headers,
    });
    if (request.options.beforeSend !== undefined) await request.options.beforeSend();
    const requestedAt = Date.now();
    const startedAt = performance.now();
    const response = await send({ url, method, headers, body, signal: over.signal }, config);
    const durationMs = performance.now() - startedAt;
    const arrived = new Received(response, { url, method }, config);
    received = arrived;
    if (over.signal.aborted) {
      // This `fetch` ignored the signal.
      arrived.body.cancel();
      throw over.signal.reason;
    }
    onReceived(arrived);
    listeners.response?.({ ...call.event(), ...arrived.shown, durationMs: Math.floor(durationMs) });
    const value = await readResponse(arrived, request.expected);
    return {
      value,
      rateLimit: arrived.rateLimit,
      serverTime: () => arrived.serverTime,
      header: (name) => response.headers.get(name) ?? undefined,
      headers: () => arrived.headers,
      requestedAt,
      durationMs,
    };
  };
  return withTimeout(exchange, {
    signal: call.signal,
    onAbort: () => stop(call.signal?.reason),
    ms,
    onTimeout: () => {
      stop();
      return received === undefined ? timeUp(limit, 'response') : timedOutFailure(received, limit);
    },
  });
}
