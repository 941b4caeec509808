import pRetry from 'p-retry';
import { isAccountingError } from '../errors/guards.ts';
import { TimeoutError } from '../errors/timeout-error.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import { sleep } from '../internal/sleep.ts';
import { tell } from '../internal/tell.ts';
import { type Limiters, limitersFor } from '../rate-limiter/limiters.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { KeySource } from './api-key.ts';
import { type AttemptConfig, attempt, sendWhenAllowed } from './attempt.ts';
import { Call, type CallBase } from './call.ts';
import { Aborted, Failure } from './failure.ts';
import { type Limit, type Limits, optionOf, withinLimits } from './limits.ts';
import type { Answer, ApiRequest, Expected, Transport } from './request.ts';
import { RetryBudget } from './retry-budget.ts';
import { backoffMs, jitterMs } from './retry-policy.ts';

/** What a transport is made of, every default applied. */
export interface TransportConfig extends AttemptConfig {
  readonly keys: KeySource;
  /** Who shares the rate limiter of a key. Without one a Retry-After is waited for here. */
  readonly rateLimiter: 'shared' | 'client' | false;
}

/** The shortest wait after a 429 that has no Retry-After, or comes again: a service that is asked at once says so again. */
const LEAST_WAIT_AFTER_429_MS = 100;

/** Carries requests to the service: the one place that retries. */
export class HttpTransport implements Transport {
  readonly #config: TransportConfig;
  readonly #base: CallBase;
  readonly #budget = new RetryBudget();
  readonly #limiters: Limiters;
  #rateLimit: RateLimit | undefined;

  constructor(config: TransportConfig) {
    this.#config = config;
    this.#limiters = limitersFor(config.rateLimiter);
    const { origin, pathname } = new URL(config.baseUrl);
    this.#base = { origin, basePath: pathname };
  }

  get rateLimit(): RateLimit | undefined {
    return this.#rateLimit;
  }

  async send<T>(request: ApiRequest<T>): Promise<Answer<T>> {
    const call = new Call(request, this.#base);
    try {
      // Once for a call: on a retry a provider that fails would hide what the earlier attempts may have done.
      call.apiKey = await this.#key(request, call);
      const answer = await pRetry(() => this.#attempt(request, call), {
        // Which failures count, and when to stop, is the policy's to say: a 429 costs no attempt.
        retries: Number.POSITIVE_INFINITY,
        minTimeout: 0,
        // The wait belongs here, where a last failure is never delayed.
        shouldRetry: async ({ error }) =>
          error instanceof Failure && this.#prepareRetry(request, call, error),
      });
      this.#budget.giveBack(call.retries > 0);
      call.result = 'ok';
      return answer;
    } catch (error) {
      const answer = await this.#conclude(request, call, error);
      call.result = 'ok';
      return answer;
    } finally {
      if (call.meta !== undefined) {
        tell(request.options.onResponse, call.meta, this.#listenerFailed('onResponse'));
      }
      this.#config.listeners.end?.(call.endEvent());
    }
  }

  async #attempt<T>(request: ApiRequest<T>, call: Call): Promise<Answer<T>> {
    const config = this.#config;
    const limited = {
      limiter: this.#limiters(this.#base.origin, call.apiKey),
      listeners: config.listeners,
      rateLimit: this.#rateLimit,
    };
    try {
      return await sendWhenAllowed(request, call, limited, (permit) =>
        attempt(request, call, { config, permit }),
      );
    } finally {
      this.#rateLimit = call.meta?.rateLimit ?? this.#rateLimit;
    }
  }

  /** The key of a call. A provider that never answers ends with the call's own limits. */
  async #key<T>({ options, settings }: ApiRequest<T>, call: Call): Promise<string> {
    const { keys } = this.#config;
    if (keys.fixed !== undefined) return keys.fixed;

    // Asked within the limits: a function that rejects once the call has ended must not be an unhandled rejection.
    return withinLimits(() => keys.ask(), keyLimits(options.signal, settings.timeoutMs, call));
  }

  /** Decides on a failed attempt and, where there is to be another, waits for its time. */
  async #prepareRetry<T>(request: ApiRequest<T>, call: Call, failure: Failure): Promise<boolean> {
    const verdict = call.judge(failure);
    if (failure.answer?.status === 401) return this.#replaceKey(request, call);
    if (verdict === 'wait') return this.#waitForQuota(request, call, failure);
    if (verdict === 'retry' || verdict === 'retry_once') return this.#backOff(request, call, failure);

    return false;
  }

  /** After the first 401 of a call the provider is asked once more; only a different key is tried, at no attempt's cost. */
  async #replaceKey<T>({ options, settings }: ApiRequest<T>, call: Call): Promise<boolean> {
    if (call.keyReplaced) return false;

    call.keyReplaced = true;
    const limits = keyLimits(options.signal, settings.timeoutMs, call);
    try {
      const key = await withinLimits((signal) => this.#config.keys.replace(call.apiKey, signal), limits);
      if (key === undefined) return false;
      call.apiKey = key;
    } catch {
      // No new key to be had: the 401 is what the caller needs to hear of, unless it was the caller who stopped it.
      return false;
    }
    call.attempts -= 1;
    return true;
  }

  /** A 429: the rate limiter waits for Retry-After. Without one, or at a second 429 in a row, the call also backs off. */
  async #waitForQuota<T>(request: ApiRequest<T>, call: Call, failure: Failure): Promise<boolean> {
    call.refusals += 1;
    const { maxWaitMs } = request.settings;
    const retryAfterMs = failure.answer?.retryAfterMs;
    const isFirstWithTime = retryAfterMs !== undefined && call.refusals === 1;
    const askedMs = retryAfterMs ?? 0;
    const ownMs = Math.min(ownWaitMs(request, call, retryAfterMs), Math.max(0, maxWaitMs - askedMs));
    // A shorter maxWaitMs would send the same request again without a pause, for as long as the deadline allows.
    if (!isFirstWithTime && askedMs + ownMs < LEAST_WAIT_AFTER_429_MS) return false;
    if (!call.canWait(askedMs + ownMs)) return false;

    call.refused = true;
    call.attempts -= 1;
    const waitMs = this.#config.rateLimiter === false ? askedMs + ownMs : ownMs;
    if (waitMs > 0) {
      this.#config.listeners.wait?.({ ...call.event(), waitMs });
      await this.#wait(request, call, waitMs);
    }
    return true;
  }

  async #backOff<T>(request: ApiRequest<T>, call: Call, failure: Failure): Promise<boolean> {
    const { retry, maxWaitMs } = request.settings;
    if (call.attempts >= retry.maxAttempts) return false;

    // Only a wait that the service asks for can be too long: how long the client backs off is its own choice.
    const ownMs = Math.min(backoffMs(call.retries + 1, retry), maxWaitMs);
    const waitMs = Math.max(ownMs, failure.answer?.retryAfterMs ?? 0);
    if (!call.canWait(waitMs) || !this.#budget.take()) return false;

    call.retries += 1;
    const reason = failure.answer === undefined ? failure.fault : `status ${failure.answer.status}`;
    this.#config.listeners.retry?.({ ...call.event(), reason, waitMs });
    await this.#wait(request, call, waitMs);
    return true;
  }

  #listenerFailed(who: string): (thrown: unknown) => void {
    return (thrown) => this.#config.listeners.listenerFailed?.(who, thrown);
  }

  async #wait<T>({ options }: ApiRequest<T>, call: Call, waitMs: number): Promise<void> {
    tell(options.onWait, waitMs, this.#listenerFailed('onWait'));
    await sleep(waitMs, options.signal);
    call.waitedMs += waitMs;
  }

  /** No further attempt: what the call comes to. */
  async #conclude<T>(request: ApiRequest<T>, call: Call, error: unknown): Promise<Answer<T>> {
    const { signal } = request.options;
    if (error instanceof Aborted || signal?.aborted) call.result = 'aborted';
    if (error instanceof Aborted) throw error.reason;
    // A wait that was cut short rejects with the reason as it is.
    if (signal?.aborted) throw signal.reason;
    if (!(error instanceof Failure)) {
      // No attempt failed: the key could not be had, or the request could not be written.
      if (isAccountingError(error)) this.#config.listeners.error?.({ ...call.event(), error });
      throw error;
    }
    if (call.verdict === 'reread') return this.#reread(request, call, error);
    const nothing = call.verdict === 'done' ? await emptyValue(request.expected) : undefined;
    if (nothing !== undefined && call.meta !== undefined) {
      return { ...nothing, meta: call.meta, serverTime: undefined, requestedAt: Date.now(), durationMs: 0 };
    }
    throw this.#report(call, error);
  }

  /** An update that was answered without the record: it went through, so the record is read. */
  async #reread<T>(request: ApiRequest<T>, call: Call, failure: Failure): Promise<Answer<T>> {
    const settings = { ...request.settings, deadlineMs: Math.max(1, call.deadlineAt - monotonicMs()) };
    try {
      const options = { ...request.options, onResponse: undefined };
      return await this.send({ ...request, method: 'GET', body: undefined, settings, options });
    } catch (error) {
      if (request.options.signal?.aborted) {
        call.result = 'aborted';
        throw error;
      }
      throw this.#report(call, failure);
    }
  }

  #report(call: Call, failure: Failure) {
    const error = call.error(failure);
    this.#config.listeners.error?.({ ...call.event(), error });
    return error;
  }
}

/** How long a call waits after a 429 beyond its Retry-After. */
function ownWaitMs<T>(
  { settings }: ApiRequest<T>,
  { refusals }: Call,
  retryAfterMs: number | undefined,
): number {
  if (retryAfterMs === undefined)
    return Math.max(LEAST_WAIT_AFTER_429_MS, backoffMs(refusals, settings.retry));
  if (refusals === 1) return 0;

  return Math.max(LEAST_WAIT_AFTER_429_MS, jitterMs(refusals, settings.retry));
}

/** What a call comes to whose answer has nothing to show; undefined where a body is due all the same. */
async function emptyValue<T>(expected: Expected<T>): Promise<{ value: T } | undefined> {
  if (expected.kind === 'nothing') return { value: expected.value };
  if (expected.mayBeEmpty !== true) return undefined;
  try {
    return { value: await expected.read(undefined) };
  } catch {
    return undefined;
  }
}

/** Nothing has been sent yet while a key is asked for. */
function keyLimits(signal: AbortSignal | undefined, timeoutMs: number, { deadlineAt }: Call): Limits {
  return { signal, timeoutMs, deadlineAt, onTimeout: noKeyInTime };
}

function noKeyInTime(limit: Limit): Failure {
  return new Failure('unsent', (facts) => {
    const message = `${facts.method} ${facts.path} was not sent: the function given as apiKey returned no key within ${optionOf(limit)}. Check that function.`;
    return new TimeoutError(message, { ...facts, retryable: true }, { limit });
  });
}
