import pRetry from 'p-retry';
import { isAccountingError, showsMissingRecord } from '../errors/guards.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { notify } from '../internal/notify.ts';
import { MAX_TIMER_MS, sleep } from '../internal/sleep.ts';
import { withTimeout } from '../internal/with-timeout.ts';
import { type Limiters, limitersFor } from '../rate-limiter/limiters.ts';
import type { LimitedCall } from '../rate-limiter/rate-limiter.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { KeySource } from './api-key.ts';
import { type AttemptConfig, attempt } from './attempt.ts';
import { Call, type ServiceAddress } from './call.ts';
import { CallStopped } from './call-options.ts';
import { asPage, Failure, timeUp } from './failure.ts';
import { isOutage } from './outage.ts';
import type { OutlastingCall } from './outage-clock.ts';
import type { Received } from './received.ts';
import type { ApiRequest, ApiResponse, Expected, Transport } from './request.ts';
import { isMergePatch } from './request-headers.ts';
import { RetryBudget } from './retry-budget.ts';
import { isRateLimited, waitAfter429 } from './retry-policy.ts';
import { requestUrl } from './url.ts';

/** What a transport is made of, every default applied. */
export interface TransportConfig extends AttemptConfig {
  /** Ends in `/api/public/v1`: see parseBaseUrl. */
  readonly baseUrl: string;
  readonly keys: KeySource;
  /** Who shares the rate limiter of a key. Without one a Retry-After is waited for here. */
  readonly rateLimiter: 'shared' | 'client' | false;
}

/** How long a call waits for another key after a 401, even if it has no limits of its own. */
const LONGEST_REFRESH_MS = 30_000;

/** Sends requests to the service, and retries them with p-retry. */
export class HttpTransport implements Transport {
  readonly #config: TransportConfig;
  readonly #service: ServiceAddress;
  readonly #budget = new RetryBudget();
  readonly #limiters: Limiters;
  /** Whether the service accepted an update only as merge-patch. */
  #mergesPatches = false;
  /** Whether the service has returned JSON that could be read. */
  #hasRead = false;
  #rateLimit: RateLimit | undefined;

  constructor(config: TransportConfig) {
    this.#config = config;
    this.#limiters = limitersFor(config.rateLimiter);
    const { origin, pathname } = new URL(config.baseUrl);
    this.#service = { origin, basePath: pathname };
  }

  async askForKey(): Promise<string> {
    const { keys } = this.#config;
    return keys.fixed ?? (await keys.ask());
  }

  async digestOf(key: string, salt: string): Promise<string> {
    const bytes = new TextEncoder().encode(`${salt} ${this.#service.origin} ${key}`);
    const { subtle } = globalThis.crypto as Partial<Crypto>;
    if (subtle === undefined) throw noSubtle();
    const digest = new Uint8Array(await subtle.digest('SHA-256', bytes));
    // Long enough to tell keys apart, too short to find one by.
    return [...digest.subarray(0, 8)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  }

  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit;
  }

  async send<T>(request: ApiRequest<T>): Promise<ApiResponse<T>> {
    const mergePatch = { allowed: this.#canMergePatch(request), required: this.#mergesPatches };
    const call = new Call(request, this.#service, this.#config.redactor, mergePatch);
    try {
      const response = await this.#retried(request, call);
      call.end('ok');
      return response;
    } catch (error) {
      return await this.#conclude(request, call, error);
    } finally {
      const { onResponse, outcomes } = request.options;
      outcomes?.add(call);
      const meta = onResponse && call.meta;
      if (meta !== undefined) this.#notify('onResponse', onResponse, meta);
      this.#config.listeners.end?.(call.endEvent());
    }
  }

  /** Makes attempts until one succeeds or must not be followed by another. */
  async #retried<T>(request: ApiRequest<T>, call: Call): Promise<ApiResponse<T>> {
    const { outage } = request.options;
    // Once in a call: a function that fails on a retry would hide what the earlier attempts may have done. And first,
    // because an error shows no path from which the key was not removed.
    await this.#takeKey(call);
    const url = requestUrl(this.#config.baseUrl, request.path, request.query);
    const send = () => this.#attempts(request, call, url);
    const response = await (outage === undefined ? send() : outage.outlast(this.#outlasting(call), send));
    this.#budget.giveBack(call.attempts > 1);
    return response;
  }

  #attempts<T>(request: ApiRequest<T>, call: Call, url: string): Promise<ApiResponse<T>> {
    const { retry, maxWaitMs } = request.settings;
    const { outage } = request.options;
    return pRetry(() => this.#attempt(request, call, url), {
      // p-retry stops before it asks shouldRetry if no retries are left, even for a failure that does not count.
      retries: retry.maxAttempts,
      minTimeout: Math.min(retry.baseDelayMs, MAX_TIMER_MS),
      maxTimeout: Math.min(retry.maxDelayMs, maxWaitMs, MAX_TIMER_MS),
      randomize: true,
      signal: call.signal,
      shouldConsumeRetry: ({ error, retriesConsumed }) =>
        error instanceof Failure && call.step.next === 'retry' && retriesConsumed < retry.maxAttempts - 1,
      shouldRetry: async ({ error, retryDelay, retriesConsumed }) => {
        if (!(error instanceof Failure)) return false;
        const { next } = call.step;
        if (next === 'refresh_key') return this.#refreshKey(call);
        if (next === 'merge_patch') return true;
        if (next === 'wait') return this.#waitForQuota(call, error);
        if (next !== 'retry' || retriesConsumed >= retry.maxAttempts - 1) return false;
        // One attempt of each call is enough while another one has used all of its own.
        if (outage?.isDeclared && isOutage(error)) return false;
        return this.#backOff(call, error, retryDelay);
      },
    });
  }

  /** Enters the rate limiter and sends the request as soon as its quota allows. */
  async #attempt<T>(request: ApiRequest<T>, call: Call, url: string): Promise<ApiResponse<T>> {
    const { settings, options } = request;
    options.beforeAttempt?.();
    let sentAt = 0;
    const limitedCall: LimitedCall = {
      wasRejected: call.step.next === 'wait',
      signal: call.signal,
      deadlineAt: call.deadlineAt,
      maxWaitMs: settings.maxWaitMs,
      timeoutMs: settings.timeoutMs,
      onWait: (waitMs) => this.#waits(call, waitMs),
      giveUp: (limit, retryAfterMs) =>
        new Failure('throttled', { kind: 'throttled', limit, retryAfterMs, rateLimit: this.#rateLimit }),
    };
    try {
      const limiter = this.#limiters(this.#service.origin, call.apiKey);
      const response = await limiter.run(limitedCall, (permit) => {
        call.begin();
        sentAt = options.outage?.tick() ?? 0;
        const onReceived = (received: Received) => {
          call.received = received;
          this.#rateLimit = received.rateLimit ?? this.#rateLimit;
          // The body of another error may say that the quota is used up.
          if (received.status < 400 || received.status === 429) permit.settle(received);
        };
        const sent = attempt(request, call, { config: this.#config, url, onReceived });
        return sent.catch((error) => {
          const { status, rateLimit, retryAfterMs } = call.received ?? {};
          if (status !== undefined)
            permit.settle({ status: quotaStatus(error) ?? status, rateLimit, retryAfterMs });
          throw error;
        });
      });
      this.#hasRead ||= call.received?.isJson === true;
      options.outage?.responded(sentAt);
      call.succeeded();
      return response;
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const failure = this.#hasRead && request.method === 'GET' ? asPage(error) : error;
      const failedAt = options.outage?.tick() ?? 0;
      call.failed(failure, failedAt);
      if (isOutage(failure)) options.outage?.failed(call.error(failure), failedAt, sentAt);
      else if (call.received !== undefined && call.received.status < 500) options.outage?.responded(sentAt);
      if (call.mergesPatch && call.received?.status === 415)
        this.#mergesPatches = call.step.next === 'merge_patch';
      throw failure;
    }
  }

  #canMergePatch({ method, body, contentType }: ApiRequest<unknown>): boolean {
    const isOpen = contentType === undefined && this.#config.contentTypes.update === undefined;
    return method === 'PATCH' && body !== undefined && isOpen && isMergePatch(body);
  }

  /** The key of a call. In a run one that it may use. */
  async #takeKey(call: Call): Promise<void> {
    const { keys } = this.#config;
    const { apiKey, callerCode } = call.request.options;
    const ask = () => (callerCode ? callerCode.run('apiKey', () => keys.ask()) : keys.ask());
    call.apiKey = apiKey ?? keys.fixed ?? (await keyWithin(call, ask));
    try {
      await this.#admit(call);
    } catch (error) {
      // The service has rejected it before this call was sent.
      if (!isAccountingError(error, 'unauthenticated') || !(await this.#refreshKey(call))) throw error;
    }
  }

  async #admit(call: Call): Promise<void> {
    const { admission } = call.request.options;
    if (admission === undefined) return;
    const wait = { signal: call.signal, ms: Number.POSITIVE_INFINITY, onTimeout: () => new Error() };
    await withTimeout(() => admission.admit(call.apiKey, call.request.options), wait);
  }

  /** After the first 401 of a call, its key function is called for another key. */
  async #refreshKey(call: Call): Promise<boolean> {
    if (call.request.options.apiKey !== undefined) return false;
    let key: string | undefined;
    try {
      key = await keyWithin(call, () => this.#config.keys.replace(call.apiKey), LONGEST_REFRESH_MS);
    } catch {
      // No other key: the caller sees the 401.
    }
    if (key === undefined) return false;
    call.apiKey = key;
    await this.#admit(call);
    return true;
  }

  /** After a 429 the rate limiter waits. Without one, the call does. */
  async #waitForQuota(call: Call, { retryAfterMs }: Failure): Promise<boolean> {
    const { retry, maxWaitMs } = call.request.settings;
    if (this.#config.rateLimiter !== false) return call.canWait(retryAfterMs ?? 0);

    const waitMs = waitAfter429({ retryAfterMs, rejections: call.rejections }, retry, maxWaitMs);
    if (waitMs === undefined || !call.canWait(waitMs)) return false;

    this.#waits(call, waitMs);
    await sleep(waitMs, call.signal);
    return true;
  }

  async #backOff(call: Call, failure: Failure, retryDelay: number): Promise<boolean> {
    const { retryAfterMs = 0 } = failure;
    const waitMs = Math.max(retryDelay, retryAfterMs);
    const { outage } = call.request.options;
    const isTooLong =
      outage !== undefined && isOutage(failure) && retryAfterMs > Math.max(retryDelay, outage.leftMs);
    if (isTooLong || !call.canWait(waitMs) || !this.#budget.take()) return false;

    this.#waitsToRetry(call, failure, waitMs, 'retry');
    // p-retry waits for the rest.
    if (waitMs > retryDelay) await sleep(waitMs - retryDelay, call.signal);
    return true;
  }

  /** A call of a run, which is sent again for as long as an outage lasts. */
  #outlasting(call: Call): OutlastingCall {
    let failure: Failure | undefined;
    return {
      signal: call.signal,
      outage: (error) => {
        failure = error instanceof Failure ? error : undefined;
        return failure && call.outage(failure);
      },
      restart: () => call.restart(),
      waits: (waitMs) => {
        if (failure !== undefined) this.#waitsToRetry(call, failure, waitMs, 'outage');
      },
    };
  }

  /** The call waits before it is sent again: for so many ms, if that is known. */
  #waitsToRetry(call: Call, failure: Failure, waitMs: number | undefined, why: 'retry' | 'outage'): void {
    const reason = failure.status === undefined ? failure.fault : `status ${failure.status}`;
    if (waitMs !== undefined) this.#config.listeners.retry?.({ ...call.event(), reason, waitMs });
    call.wait();
    this.#notify('onWait', () => call.request.options.onWait?.(waitMs, why), undefined);
  }

  /** The call waits for the quota of its key. */
  #waits(call: Call, waitMs: number | undefined): void {
    call.wait();
    this.#config.listeners.wait?.({ ...call.event(), waitMs });
    this.#notify('onWait', () => call.request.options.onWait?.(waitMs, 'rate_limit'), undefined);
  }

  #notify<V>(who: string, listener: ((value: V) => unknown) | undefined, value: V): void {
    notify(listener, value, (thrown) => this.#config.listeners.listenerFailed?.(who, thrown));
  }

  /** No further attempt: decides what the call ends with. */
  async #conclude<T>(request: ApiRequest<T>, call: Call, thrown: unknown): Promise<ApiResponse<T>> {
    const isStopped = call.signal?.aborted || thrown instanceof CallStopped;
    const response =
      isStopped || !(thrown instanceof Failure) ? undefined : await this.#recover(request, call);
    if (response !== undefined) {
      call.end('ok');
      return response;
    }
    if (call.signal?.aborted || isStopped) {
      call.end('aborted');
      throw call.signal?.aborted ? call.signal.reason : thrown;
    }
    const error = thrown instanceof Failure ? call.error(thrown) : thrown;
    const isResult = isAccountingError(error) && request.isResult?.(error) === true;
    call.end(isResult ? 'ok' : 'error');
    if (isAccountingError(error) && !isResult) this.#config.listeners.error?.({ ...call.event(), error });
    throw error;
  }

  /** The response to a write that succeeded although its last attempt failed; undefined if there is none. */
  async #recover<T>(request: ApiRequest<T>, call: Call): Promise<ApiResponse<T> | undefined> {
    const { method, expected } = request;
    const { next } = call.step;
    let isDone = next === 'done';
    if (next === 'reread') {
      const settings = { ...request.settings, deadlineMs: Math.max(1, call.deadlineAt - monotonicMs()) };
      const options = { ...request.options, onResponse: undefined };
      try {
        const isResult = method === 'DELETE' ? showsMissingRecord : undefined;
        const get = { ...request, method: 'GET', body: undefined, isResult, settings, options } as const;
        const read = await this.send(get);
        return method === 'DELETE' ? undefined : read;
      } catch (error) {
        isDone = method === 'DELETE' && showsMissingRecord(error);
      }
    }
    const empty = isDone ? await emptyValue(expected) : undefined;
    if (empty === undefined) return undefined;
    const rateLimit = call.received?.rateLimit;
    const shown = { serverTime: () => undefined, header: () => undefined, headers: () => ({}) };
    return { ...empty, rateLimit, ...shown, requestedAt: Date.now(), durationMs: 0 };
  }
}

/** What the caller's key function returns. One that never returns ends with the call's own limits. */
function keyWithin<Key>(
  call: Call,
  ask: () => Promise<Key>,
  mostMs = Number.POSITIVE_INFINITY,
): Promise<Key> {
  const { ms, limit } = call.timeLeft();
  const onTimeout = () => timeUp(limit, 'apiKey');
  return withTimeout(ask, { signal: call.signal, ms: Math.min(ms, mostMs), onTimeout });
}

/** Browsers hide it on pages over http that are not on this machine. */
function noSubtle(): InvalidInputError {
  return new InvalidInputError(
    'crypto.subtle',
    'is missing, and a store remembers a key by its SHA-256: serve the page over https or from localhost',
  );
}

/** 429 if the quota of the key is used up, whatever the status of the response. */
function quotaStatus(error: unknown): 429 | undefined {
  if (!(error instanceof Failure) || error.details.kind !== 'status') return undefined;
  return isRateLimited(error.details.response) ? 429 : undefined;
}

/** The value of a response without content; undefined if content is expected. */
async function emptyValue<T>(expected: Expected<T>): Promise<{ value: T } | undefined> {
  if (expected.kind === 'nothing') return { value: expected.value };
  if (expected.mayBeEmpty !== true) return undefined;
  try {
    return { value: await expected.read(undefined) };
  } catch {
    return undefined;
  }
}
