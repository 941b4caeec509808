import { checkFlag, checkFunction, checkMs, checkObject, checkWhole } from '../errors/check-input.ts';
import { InvalidInputError } from '../errors/invalid-input-error.ts';
import type { OptionNames } from '../internal/option-names.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { checkHeaders } from './request-headers.ts';

/** How a call is retried. */
export interface RetryOptions {
  /** Attempts in all, the first included. A 429 and a refreshed key are not counted. Default: 5. */
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
   * The API documentation does not say. Default: `idempotency_key_in_use`, `idempotency_in_progress`, `request_in_progress`,
   * `idempotency`. After an attempt of the same call whose outcome is unknown, a 409 of any other type is retried once.
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

/** Timeouts, waits and retries: options of the client and of each call. */
export interface CallOptions {
  /** The longest that one attempt may take, body included. Default: 30,000. `Infinity` for no limit. */
  timeoutMs?: number | undefined;
  /** The longest that a call may take with all attempts and waits; each page of a list has its own. Default: 120,000. */
  deadlineMs?: number | undefined;
  /** The longest single wait: a Retry-After beyond it is thrown at once, a backoff is cut to it. Default: 60,000. */
  maxWaitMs?: number | undefined;
  /** How a failed call is sent again. `false` for one attempt; a 429 is waited for anyway. */
  retry?: RetryOptions | false | undefined;
}

export const CALL_OPTIONS: OptionNames<CallOptions> = {
  timeoutMs: true,
  deadlineMs: true,
  maxWaitMs: true,
  retry: RETRY_OPTIONS,
};

/** What a response looked like, without its body. */
export interface ResponseMeta {
  readonly status: number;
  /** Response headers on the allow-list, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attempts of the call so far, this one included. */
  readonly attempts: number;
  /** Time that the call spent waiting: backoff, Retry-After, the rate limiter. */
  readonly waitedMs: number;
  readonly rateLimit: RateLimit | undefined;
  /** The service's own id of the request, if it sends one. */
  readonly requestId: string | undefined;
}

/** Options of every call. */
export interface RequestOptions extends CallOptions {
  /** Stops the call, its waits included; it rejects with the signal's own reason. */
  signal?: AbortSignal | undefined;
  /** Further request headers. X-AUTH-TOKEN and Idempotency-Key are rejected here. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** Called with the response that ended the call, even if it is an error. */
  onResponse?: ((meta: ResponseMeta) => void) | undefined;
  /** Called before this call waits: for how long, in ms, if that is known, and why. */
  onWait?: ((waitMs: number | undefined, reason: WaitReason) => void) | undefined;
}

/**
 * Why a call waits.
 * - `rate_limit`: for the quota of its key.
 * - `retry`: an attempt has failed, and another follows.
 * - `outage`: the service is down; `sync`, `changes`, `reconcile` and `push` send the call again until `maxOutageMs` is over.
 */
export type WaitReason = 'rate_limit' | 'retry' | 'outage';

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
  /** How long a call is sent again while the service is down; 0 outside of `sync`, `reconcile`, `push` and the command. */
  readonly maxOutageMs: number;
  /** Called before each attempt. A CallStopped that it throws ends the call as an abort does. */
  readonly beforeAttempt?: (() => void) | undefined;
}

/** Another attempt must not be sent. */
export class CallStopped extends Error {}

/** Options of the calls of a run, such as a sync. Users cannot set them: no method knows their names. */
export interface RunCallOptions extends RequestOptions {
  /** How long a call is sent again while the service is down. */
  readonly maxOutageMs?: number | undefined;
  readonly beforeAttempt?: CallSettings['beforeAttempt'];
}

/** The options of one call over the settings of its client. Checked here, before anything is sent. */
export function callSettings(settings: CallSettings, options: RunCallOptions): CallSettings {
  checkCallOptions(options);
  const { timeoutMs, deadlineMs, maxWaitMs, retry, maxOutageMs, beforeAttempt } = options;
  const given = { timeoutMs, deadlineMs, maxWaitMs, maxOutageMs, beforeAttempt };
  if (retry !== undefined) {
    const policy = changed(settings.retry, retry === false ? { maxAttempts: 1 } : retry);
    return changed(settings, { ...given, retry: policy });
  }
  return Object.values(given).every((value) => value === undefined) ? settings : changed(settings, given);
}

/** Settings with the options that are given. */
export function changed<Settings extends object>(
  settings: Settings,
  options: { readonly [Name in keyof Settings]?: Settings[Name] | undefined },
): Settings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return { ...settings, ...Object.fromEntries(given) };
}

/** Only `undefined` means the default: null is invalid. */
export function checkCallOptions(options: CallOptions): void {
  checkObject(options, 'options');
  const { timeoutMs, deadlineMs, maxWaitMs, retry } = options;
  if (timeoutMs !== undefined) checkMs(timeoutMs, 'timeoutMs', 1);
  if (deadlineMs !== undefined) checkMs(deadlineMs, 'deadlineMs', 1);
  if (maxWaitMs !== undefined) checkMs(maxWaitMs, 'maxWaitMs', 0);
  if (retry === undefined || retry === false) return;

  checkObject(retry, 'retry');
  const { maxAttempts, baseDelayMs, maxDelayMs, updates, creates, inProgressTypes } = retry;
  if (maxAttempts !== undefined) checkWhole(maxAttempts, 'retry.maxAttempts', 1);
  if (baseDelayMs !== undefined) checkMs(baseDelayMs, 'retry.baseDelayMs', 0);
  if (maxDelayMs !== undefined) checkMs(maxDelayMs, 'retry.maxDelayMs', 0);
  if (updates !== undefined) checkFlag(updates, 'retry.updates');
  if (creates !== undefined) checkFlag(creates, 'retry.creates');
  if (inProgressTypes !== undefined && !isNames(inProgressTypes)) {
    throw new InvalidInputError('retry.inProgressTypes', 'must be an array of strings, none of them empty');
  }
}

function isNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && name !== '');
}

/** Options that only one call can have. */
export function checkRequestOptions(options: RequestOptions): void {
  checkObject(options, 'options');
  const { headers, signal, onResponse, onWait } = options;
  if (headers !== undefined) checkHeaders(headers);
  // Not `instanceof`: the signal may come from another implementation.
  const isSignal = typeof (signal as Partial<AbortSignal> | null)?.throwIfAborted === 'function';
  if (signal !== undefined && !isSignal) throw new InvalidInputError('signal', 'must be an AbortSignal');
  if (onResponse !== undefined) checkFunction(onResponse, 'onResponse');
  if (onWait !== undefined) checkFunction(onWait, 'onWait');
}
