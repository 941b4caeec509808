import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { checkHeaders } from './request-headers.ts';

/** How a call is retried. */
export interface RetryOptions {
  /** Attempts in all, the first included. A 429 and a refreshed key cost none. Default: 5. */
  maxAttempts?: number | undefined;
  /** The first backoff is a random time from this up to twice this; both double with each retry. Default: 500. */
  baseDelayMs?: number | undefined;
  /** No backoff is longer. Default: 20,000. */
  maxDelayMs?: number | undefined;
  /** Whether a PATCH that may have been applied is sent again. It assigns absolute values. Default: true. */
  updates?: boolean | undefined;
  /**
   * Whether a POST that may have been applied is sent again, under the same Idempotency-Key. Set `false` for a service
   * that ignores the key: a second request would create a second record. The create then ends with
   * `outcome: 'unknown'`. A POST that was not sent, or that was rejected with 429, is sent again anyway.
   *
   * @default true
   */
  creates?: boolean | undefined;
  /**
   * Last segments of `type` by which a 409 says that the first request with this Idempotency-Key is still running.
   * Not shown in the contract. Default: `idempotency_key_in_use`, `idempotency_in_progress`, `request_in_progress`.
   */
  inProgressTypes?: readonly string[] | undefined;
}

export const RETRY_OPTIONS: OptionNames<RetryOptions> = {
  maxAttempts: true,
  baseDelayMs: true,
  maxDelayMs: true,
  updates: true,
  creates: true,
  inProgressTypes: true,
};

/** Limits and habits of a call: options of the client and of each call. */
export interface CallOptions {
  /** The longest that one attempt may take, body included. Default: 30,000. `Infinity` for no limit. */
  timeoutMs?: number | undefined;
  /** The longest that a call may take with all attempts and waits; each page of a walk anew. Default: 120,000. */
  deadlineMs?: number | undefined;
  /** The longest single wait: a Retry-After beyond it is thrown at once, a backoff is cut to it. Default: 60,000. */
  maxWaitMs?: number | undefined;
  retry?: RetryOptions | undefined;
}

export const CALL_OPTIONS: OptionNames<CallOptions> = {
  timeoutMs: true,
  deadlineMs: true,
  maxWaitMs: true,
  retry: RETRY_OPTIONS,
};

/** What an answer looked like, without its body. */
export interface ResponseMeta {
  readonly status: number;
  /** Response headers on the allow-list, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attempts of the call so far, this one included. */
  readonly attempts: number;
  /** Time that the call spent waiting: backoff, Retry-After, the rate gate. */
  readonly waitedMs: number;
  readonly rateLimit: RateLimit | undefined;
  /** The service's own id of the request, where it sends one. */
  readonly requestId: string | undefined;
}

/** Options of every call. */
export interface RequestOptions extends CallOptions {
  /** Stops the call, its waits included; it rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Further request headers. X-AUTH-TOKEN and Idempotency-Key are refused here. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Told of the answer that ended the call, an error answer included. */
  onResponse?: ((meta: ResponseMeta) => void) | undefined;
  /** Told before this call waits, for the budget of its key or to retry: how long in ms, where that is known. */
  onWait?: ((waitMs: number | undefined) => void) | undefined;
}

export const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  ...CALL_OPTIONS,
  signal: true,
  headers: true,
  onResponse: true,
  onWait: true,
};

/** RetryOptions with every default applied. */
export type RetryPolicy = { readonly [K in keyof Required<RetryOptions>]: NonNullable<RetryOptions[K]> };

/** CallOptions with every default applied. */
export interface CallSettings {
  readonly timeoutMs: number;
  readonly deadlineMs: number;
  readonly maxWaitMs: number;
  readonly retry: RetryPolicy;
}

/** The options of one call over the settings of its client. Checked here, before anything is sent. */
export function callSettings(settings: CallSettings, options: CallOptions): CallSettings {
  checkObject(options, 'options');
  const { timeoutMs, deadlineMs, maxWaitMs, retry } = options;
  if (timeoutMs === undefined && deadlineMs === undefined && maxWaitMs === undefined && retry === undefined) {
    return settings;
  }
  return {
    timeoutMs: duration(timeoutMs, 'timeoutMs', 1) ?? settings.timeoutMs,
    deadlineMs: duration(deadlineMs, 'deadlineMs', 1) ?? settings.deadlineMs,
    maxWaitMs: duration(maxWaitMs, 'maxWaitMs', 0) ?? settings.maxWaitMs,
    retry: retry === undefined ? settings.retry : retryPolicy(settings.retry, retry),
  };
}

function retryPolicy(policy: RetryPolicy, options: RetryOptions): RetryPolicy {
  checkObject(options, 'retry');
  const { maxAttempts, baseDelayMs, maxDelayMs, updates, creates, inProgressTypes } = options;
  if (inProgressTypes !== undefined && !isListOfNames(inProgressTypes)) {
    throw new InvalidInputError('retry.inProgressTypes', 'must be an array of strings, none of them empty');
  }
  if (maxAttempts !== undefined && !(Number.isInteger(maxAttempts) && maxAttempts >= 1)) {
    throw new InvalidInputError('retry.maxAttempts', 'must be a whole number of at least 1');
  }
  return {
    maxAttempts: maxAttempts ?? policy.maxAttempts,
    baseDelayMs: duration(baseDelayMs, 'retry.baseDelayMs', 0) ?? policy.baseDelayMs,
    maxDelayMs: duration(maxDelayMs, 'retry.maxDelayMs', 0) ?? policy.maxDelayMs,
    updates: flag(updates, 'retry.updates') ?? policy.updates,
    creates: flag(creates, 'retry.creates') ?? policy.creates,
    inProgressTypes: inProgressTypes ?? policy.inProgressTypes,
  };
}

function flag(value: boolean | undefined, argument: string): boolean | undefined {
  if (value === undefined || typeof value === 'boolean') return value;
  throw new InvalidInputError(argument, 'must be true or false');
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
}

/** Options come from JavaScript too, where anything may stand in their place. */
export function checkObject(value: unknown, argument: string): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidInputError(argument, 'must be an object');
  }
}

function duration(ms: number | undefined, argument: string, least: number): number | undefined {
  if (ms === undefined) return undefined;
  if (typeof ms !== 'number' || !(ms >= least)) {
    throw new InvalidInputError(argument, `must be a number of milliseconds, at least ${least}`);
  }
  return ms;
}

/** Options that only one call can have. */
export function checkRequestOptions(options: RequestOptions): void {
  checkObject(options, 'options');
  const { headers, signal } = options;
  if (headers !== undefined) checkHeaders(headers);
  if (
    signal !== undefined &&
    typeof (signal as Partial<AbortSignal> | null)?.addEventListener !== 'function'
  ) {
    throw new InvalidInputError('signal', 'must be an AbortSignal');
  }
}
