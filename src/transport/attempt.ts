import { RateLimitedError } from '../errors/rate-limited-error.ts';
import { TimeoutError } from '../errors/timeout-error.ts';
import type { ClientListeners } from '../events.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { tell } from '../internal/tell.ts';
import type { Limiter } from '../rate-limiter/limiters.ts';
import { type Permit, type QuotaReport, WaitEnded } from '../rate-limiter/rate-limiter.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { Call } from './call.ts';
import { exchange, type FetchFunction } from './exchange.ts';
import { Aborted, Failure } from './failure.ts';
import { type ContentTypes, contentTypeOf, requestHeaders } from './headers.ts';
import { withinLimits } from './limits.ts';
import { type BareNotFound, discard, readResponse, statusFailure, unreadFault } from './read-response.ts';
import { redactOwnText } from './redact.ts';
import type { Answer, ApiRequest, Expected } from './request.ts';
import { responseMeta, serverTimeOf } from './response-meta.ts';
import { parseRetryAfter } from './retry-after.ts';
import { requestUrl } from './url.ts';

/** What attempts of one client share. */
export interface AttemptConfig {
  /** Ends in `/api/public/v1`: see parseBaseUrl. */
  readonly baseUrl: string;
  readonly fetch: FetchFunction | undefined;
  readonly maxBodyBytes: number;
  /** What a 404 without a problem document means. */
  readonly bareNotFound: BareNotFound;
  readonly userAgent: string | undefined;
  readonly contentTypes: ContentTypes;
  readonly listeners: ClientListeners;
}

/** The limiter of a key, and what was last reported of its quota. */
export interface Limited {
  readonly limiter: Limiter;
  readonly listeners: ClientListeners;
  readonly rateLimit: RateLimit | undefined;
}

/** Sends an attempt as soon as the rate limiter allows it. Rejects with a Failure if that is too late, or with Aborted. */
export async function sendWhenAllowed<T, R>(
  request: ApiRequest<T>,
  call: Call,
  { limiter, listeners, rateLimit }: Limited,
  send: (permit: Permit) => Promise<R>,
): Promise<R> {
  const { options, settings, priority } = request;
  const { signal } = options;
  const since = monotonicMs();
  let isQueued = false;
  let isSent = false;
  const leaveQueue = () => {
    if (isQueued) call.waitedMs += monotonicMs() - since;
    isQueued = false;
  };
  const limitedCall = {
    priority,
    wasRejected: call.refused,
    signal,
    deadlineAt: call.deadlineAt,
    maxWaitMs: settings.maxWaitMs,
    timeoutMs: settings.timeoutMs,
    onWait: (waitMs: number | undefined) => {
      isQueued = true;
      listeners.wait?.({ ...call.event(), waitMs });
      tell(options.onWait, waitMs, (thrown) => listeners.listenerFailed?.('onWait', thrown));
    },
  };
  try {
    return await limiter.run(limitedCall, (permit) => {
      leaveQueue();
      isSent = true;
      call.begin();
      return send(permit);
    });
  } catch (error) {
    leaveQueue();
    if (error instanceof WaitEnded) throw notSent(error, rateLimit);
    if (!isSent && signal?.aborted) throw new Aborted(signal.reason);
    throw error;
  }
}

/** A call that the rate limiter did not send. */
function notSent({ reason, retryAfterMs }: WaitEnded, rateLimit: RateLimit | undefined): Failure {
  return new Failure('held_back', (facts) => {
    const what = `${facts.method} ${facts.path} was not sent`;
    const known = { ...facts, retryable: true };
    if (reason === 'deadline') {
      const message = `${what}: deadlineMs ran out while the call waited for the first response to this key. Try again, or raise deadlineMs.`;
      return new TimeoutError(message, known, { limit: 'deadline' });
    }
    const when = retryAfterMs === undefined ? '' : ` It is expected back in ${retryAfterMs} ms.`;
    const message = `${what}: the quota of the key is used up for longer than maxWaitMs or deadlineMs allow.${when} Try again then, or allow longer waits.`;
    return new RateLimitedError(message, known, { retryAfterMs, rateLimit });
  });
}

/** One exchange and the whole of its answer, within the time of an attempt. Rejects with a Failure or Aborted. */
export async function attempt<T>(
  request: ApiRequest<T>,
  call: Call,
  { config, permit }: { config: AttemptConfig; permit: Permit },
): Promise<Answer<T>> {
  const { signal } = request.options;
  const { apiKey } = call;
  const { listeners } = config;
  const requestedAt = Date.now();
  const startedAt = performance.now();
  let answered: Response | undefined;
  const received: Uint8Array[] = [];
  const url = requestUrl(config.baseUrl, request.path, request.query);
  listeners.request?.({ ...call.event(), idempotencyKey: request.idempotencyKey });
  return await withinLimits(
    async (attemptSignal) => {
      const response = await exchange({
        url,
        method: request.method,
        headers: requestHeaders({
          apiKey,
          userAgent: config.userAgent,
          idempotencyKey: request.idempotencyKey,
          contentType:
            request.body === undefined
              ? undefined
              : (request.contentType ?? contentTypeOf(request.method, config.contentTypes)),
          own: request.options.headers,
        }),
        body: request.body,
        signal: attemptSignal,
        fetch: config.fetch,
      });
      // A `fetch` that ignored the signal: this attempt has been given up, nobody may hear of its answer.
      if (attemptSignal.aborted) {
        discard(response);
        throw attemptSignal.reason;
      }
      answered = response;
      const time = { requestedAt, durationMs: performance.now() - startedAt };
      const meta = responseMeta(response, call);
      call.meta = meta;
      permit.settle(quotaReport(response, meta.rateLimit));
      listeners.response?.({
        ...call.event(),
        status: meta.status,
        durationMs: Math.floor(performance.now() - startedAt),
        rateLimit: meta.rateLimit,
        requestId: meta.requestId,
      });
      const { maxBodyBytes, bareNotFound } = config;
      const reading = { expected: request.expected, maxBodyBytes, apiKey, bareNotFound };
      const value = await readResponse(response, reading, received);
      return { value: cleared(value, reading), meta, serverTime: serverTimeOf(response), ...time };
    },
    {
      signal,
      timeoutMs: request.settings.timeoutMs,
      deadlineAt: call.deadlineAt,
      onTimeout: () => {
        if (answered === undefined) return 'lost';
        if (answered.ok) return unreadFault(answered, request.expected, received);
        return statusFailure(answered, undefined, { apiKey, bareNotFound: config.bareNotFound });
      },
    },
  );
}

function cleared<T>(value: T, { expected, apiKey }: { expected: Expected<T>; apiKey: string }): T {
  if (expected.kind === 'nothing' || expected.cleared === undefined) return value;
  return expected.cleared(value, (text) => redactOwnText(text, apiKey));
}

function quotaReport(response: Response, rateLimit: RateLimit | undefined): QuotaReport {
  const { status, headers } = response;
  const retryAfterMs =
    status === 429 ? parseRetryAfter(headers.get('retry-after'), headers.get('date')) : undefined;
  return { status, limit: rateLimit?.limit, remaining: rateLimit?.remaining, retryAfterMs };
}
