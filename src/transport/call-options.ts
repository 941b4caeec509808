import {
  group,
  is,
  type Named,
  type OptionInputs,
  option,
  optional,
  type ResolvedOptions,
  withDefaults,
} from '../internal/options.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import type { CallOutcomes } from './call-outcomes.ts';
import type { OutageView } from './outage-clock.ts';
import { checkHeaders } from './request-headers.ts';

export const retryOptions = {
  /** Attempts in all, the first included. A 429 and a refreshed key are not counted. Default: 5. */
  maxAttempts: option(is.integerFrom(1), 5),
  /** The first backoff is a random time from this up to twice this; both double with each retry. Default: 500. */
  baseDelayMs: option(is.durationFrom(0), 500),
  /** No backoff is longer. Default: 20,000. */
  maxDelayMs: option(is.durationFrom(0), 20_000),
  /** Whether a PATCH that may have been applied is sent again. It assigns absolute values. Default: true. */
  updates: option(is.flag, true),
  /**
   * Whether a POST that may have been applied is sent again, under the same Idempotency-Key. Set `false` for a service
   * that ignores the key: a second request would create a second record. The create then ends with
   * `outcome: 'unknown'`. A POST that was not sent, or that was rejected with 429, is sent again anyway.
   *
   * @default true
   */
  creates: option(is.flag, true),
};

/** How a call is retried. */
export interface RetryOptions extends OptionInputs<typeof retryOptions>, Named {}

export const callOptions = {
  /** The longest that one attempt may take, body included. Default: 30,000. `Infinity` for no limit. */
  timeoutMs: option(is.durationFrom(1), 30_000),
  /** The longest that a call may take with all attempts and waits; each page of a list has its own. Default: 120,000. */
  deadlineMs: option(is.durationFrom(1), 120_000),
  /** The longest single wait: a Retry-After beyond it fails the call at once, a backoff is cut to it. Default: 60,000. */
  maxWaitMs: option(is.durationFrom(0), 60_000),
  /** How a failed call is sent again. `false` for one attempt; a 429 is waited for anyway. */
  retry: group<typeof retryOptions, false, RetryOptions>(retryOptions, false),
};

/** Timeouts, waits and retries: options of the client and of each call. */
export interface CallOptions extends OptionInputs<typeof callOptions>, Named {}

/** What a response looked like, without its body. */
export interface ResponseMeta {
  readonly status: number;
  /** Every response header by its name in lower case, such as `etag` and `link`. The API key is replaced by `[redacted]`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Attempts of the call so far, this one included. */
  readonly attempts: number;
  /** Time that the call spent waiting: backoff, Retry-After, the rate limiter. */
  readonly waitedMs: number;
  readonly rateLimit: RateLimit | undefined;
  /** The service's own id of the request, if it sends one. */
  readonly requestId: string | undefined;
}

/**
 * Why a call of a run waits.
 * - `rate_limit`: for the quota of its key.
 * - `retry`: an attempt has failed, and another follows.
 * - `outage`: the service is down; `sync`, `changes` and `push` send the call again until `maxOutageMs` is over.
 */
export type WaitReason = 'rate_limit' | 'retry' | 'outage';

const ownOptions = {
  /** Stops the call, its waits included; it rejects with the signal's own reason. */
  signal: optional(is.signal),
  /** Further request headers. X-AUTH-TOKEN and Idempotency-Key are rejected here. */
  headers: optional(is.verified<Readonly<Record<string, string>>>(checkHeaders)),
  /** Called with the response that ended the call, even if it is an error. */
  onResponse: optional(is.callback<(meta: ResponseMeta) => void>()),
};

export const requestOptions = { ...callOptions, ...ownOptions };

/** Options of every call. */
export interface RequestOptions extends CallOptions, OptionInputs<typeof ownOptions> {}

export type RetryPolicy = ResolvedOptions<typeof retryOptions>;

export interface CallSettings extends Omit<ResolvedOptions<typeof callOptions>, 'retry'> {
  readonly retry: RetryPolicy;
}

/** What the calls of a run ask before they use a key, and tell of what came back. */
export interface KeyAdmission {
  /**
   * Resolves if calls may be sent with this key. `call`: the options of the call that waits for it. The requests that prove
   * the key belong to this call.
   */
  admit(key: string, call?: RunCallOptions): Promise<void>;
  /** These rows were read. */
  saw(segment: string, rows: readonly unknown[]): void;
}

/** How a run waits for code of the caller. `name`: as messages name it. */
export interface CallsCode {
  run<V>(name: string, work: () => Promise<V>): Promise<V>;
}

/** Another attempt must not be sent. */
export class CallStopped extends Error {}

/** Options of the calls of a run, such as a sync. Users cannot set them: no method knows their names. */
export interface RunCallOptions extends RequestOptions {
  /** Says which keys may be used. */
  readonly admission?: KeyAdmission | undefined;
  /** The key to send, instead of one that is asked for. */
  readonly apiKey?: string | undefined;
  /** Waits for code of the caller, such as the key function. */
  readonly callerCode?: CallsCode | undefined;
  /** Counts what the run has sent. */
  readonly outcomes?: CallOutcomes | undefined;
  /** Outlasts outages of the service. */
  readonly outage?: OutageView | undefined;
  /** Called before each attempt. A CallStopped that it throws ends the call as an abort does. */
  readonly beforeAttempt?: (() => void) | undefined;
  /**
   * Called directly before each request is sent, after every wait of the attempt. If it throws, the request is not sent, and
   * the call ends with what it threw.
   */
  readonly beforeSend?: (() => void | Promise<void>) | undefined;
  /** Called before the call waits: for how long, in ms, if that is known, and why. */
  readonly onWait?: ((waitMs: number | undefined, reason: WaitReason) => void) | undefined;
}

/** The options of a client or of one call, already checked, over other settings or the defaults. */
export function callSettings(settings: Partial<CallSettings>, options: RunCallOptions): CallSettings {
  const { retry, ...own } = withDefaults(callOptions, options, settings);
  const policy = withDefaults(retryOptions, retry === false ? { maxAttempts: 1 } : retry, settings.retry);
  return { ...own, retry: policy };
}
