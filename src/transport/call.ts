import type { CallOutcome } from '../errors/accounting-error.ts';
import type { AnyAccountingError } from '../errors/guards.ts';
import type { CallEvent, EndEvent } from '../events.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { ResponseMeta } from './call-options.ts';
import { errorOf } from './error-of.ts';
import type { Failure, Limit } from './failure.ts';
import { outageDelayMs, signOfFailure } from './outage.ts';
import type { Received } from './received.ts';
import { redactOwnText } from './redact.ts';
import type { ApiRequest } from './request.ts';
import { effectOf, FIRST_STEP, mayHaveApplied, type NextStep, verdictOn, worseOf } from './retry-policy.ts';
import { displayPath } from './url.ts';

let calls = 0;

export type ServiceAddress = Pick<CallEvent, 'origin' | 'basePath'>;

/** One logical request over all its attempts: what is counted, and what the service may have done. */
export class Call {
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  readonly #id = ++calls;
  readonly #startedAt = monotonicMs();
  readonly request: ApiRequest<unknown>;
  readonly #service: ServiceAddress;
  readonly #canMergePatch: boolean;
  /** The key to send. */
  apiKey = '';
  /** What follows the last attempt. */
  step: NextStep = FIRST_STEP;
  /** Attempts that count: neither a 429 that was waited for nor a 401 that was sent again with another key. */
  attempts = 0;
  /** 429s so far. */
  rejections = 0;
  /** The 429 that the call waits for. */
  #rejection: Failure | undefined;
  /** When the caller gives up, in ms of the monotonic clock. */
  deadlineAt: number;
  /** Since when every attempt has failed in a way that may mean an outage. */
  #downSince: number | undefined;
  #outageWaits = 0;
  #waitedMs = 0;
  #waitingSince: number | undefined;
  /** Attempts that ended because `timeoutMs` ran out. */
  #timeouts = 0;
  #outcome: CallOutcome = 'not_sent';
  /** What has followed a failure and follows only once. */
  readonly #used = new Set<NonNullable<NextStep['once']>>();
  mergesPatch = false;
  /** The response of the last attempt; undefined if it got none. */
  received: Received | undefined;
  #result: EndEvent['result'] = 'error';

  /** `mergePatch`: whether this update means the same as merge-patch, and whether the service accepts only that. */
  constructor(
    request: ApiRequest<unknown>,
    service: ServiceAddress,
    mergePatch: { readonly allowed: boolean; readonly required: boolean },
  ) {
    this.#canMergePatch = mergePatch.allowed;
    this.mergesPatch = mergePatch.allowed && mergePatch.required;
    this.request = request;
    this.#service = service;
    this.deadlineAt = this.#startedAt + request.settings.deadlineMs;
    this.signal = request.options.signal;
  }

  /** The response of the last attempt; undefined if it got none. */
  get meta(): ResponseMeta | undefined {
    return this.received && { ...this.received.shown, attempts: this.attempts, waitedMs: this.#waitedMs };
  }

  /** The time that is left for an attempt, or for what must be done before one. */
  timeLeft(): { readonly ms: number; readonly limit: Limit } {
    const { timeoutMs } = this.request.settings;
    const leftMs = this.deadlineAt - monotonicMs();
    return timeoutMs <= leftMs ? { ms: timeoutMs, limit: 'attempt' } : { ms: leftMs, limit: 'deadline' };
  }

  /** Whether a wait ends within the caller's limits. */
  canWait(waitMs: number): boolean {
    return waitMs <= this.request.settings.maxWaitMs && monotonicMs() + waitMs < this.deadlineAt;
  }

  /** How long to wait for a service that is down; undefined if it has been down for `maxOutageMs`. */
  outageWait(retryAfterMs = 0): number | undefined {
    const { maxOutageMs, maxWaitMs } = this.request.settings;
    if (this.#downSince === undefined || retryAfterMs > maxWaitMs) return undefined;
    const leftMs = this.#downSince + maxOutageMs - monotonicMs();
    if (leftMs <= 0) return undefined;

    this.#outageWaits += 1;
    // maxWaitMs limits what the service asks for: a shorter delay would send more requests to a service that is down.
    return Math.max(retryAfterMs, Math.min(outageDelayMs(this.#outageWaits), leftMs));
  }

  /** After a wait for a service that is down. `deadlineMs` limits what happens between two of these waits. */
  restart(): void {
    this.deadlineAt = monotonicMs() + this.request.settings.deadlineMs;
    // If the last attempt was throttled, it was not sent: the next one is the first that counts.
    this.step = FIRST_STEP;
  }

  /** A wait begins. It ends with the next attempt, or with the call. */
  wait(): void {
    this.#waitingSince ??= monotonicMs();
  }

  /** An attempt begins. The response to an earlier one is not the response to this one. */
  begin(): void {
    this.#stopWaiting();
    if (this.step.next === 'retry') this.attempts += 1;
    this.received = undefined;
  }

  /** Takes a failed attempt into account and decides what follows. */
  failed(failure: Failure): void {
    const { method, settings } = this.request;
    const step = verdictOn(failure, {
      method,
      retry: settings.retry,
      outcomeBefore: this.#outcome,
      used: this.#used,
      canMergePatch: this.#canMergePatch && !this.mergesPatch,
    });
    if (step.once !== undefined) this.#used.add(step.once);
    if (step.next === 'merge_patch') this.mergesPatch = true;
    if (step.next === 'wait') {
      this.rejections += 1;
      this.#rejection = failure;
    } else if (failure.fault !== 'throttled') {
      this.#rejection = undefined;
    }
    const { details } = failure;
    if (details.kind === 'time' && details.limit === 'attempt') this.#timeouts += 1;
    if (signOfFailure(failure) === undefined) this.#downSince = undefined;
    else this.#downSince ??= monotonicMs();
    this.#outcome = worseOf(this.#outcome, effectOf(failure));
    this.step = step;
  }

  end(result: EndEvent['result']): void {
    this.#stopWaiting();
    this.#result = result;
  }

  event(): CallEvent {
    const { method } = this.request;
    return {
      call: this.#id,
      method,
      ...this.#service,
      path: this.#path,
      template: redactOwnText(this.request.template, this.apiKey),
      query: this.#query,
      attempt: this.attempts,
    };
  }

  endEvent(): EndEvent {
    const durationMs = monotonicMs() - this.#startedAt;
    return { ...this.event(), result: this.#result, durationMs, waitedMs: this.#waitedMs };
  }

  /**
   * The error that this call ends with. A call that got a 429 and was then throttled failed because of the 429, which
   * says what the service asked for.
   */
  error(failure: Failure): AnyAccountingError {
    const { step } = this;
    const decisive = failure.fault === 'throttled' ? (this.#rejection ?? failure) : failure;
    const facts = {
      method: this.request.method,
      path: this.#path,
      query: this.#query,
      attempts: this.attempts,
      idempotencyKey: this.request.idempotencyKey,
      outcome: this.#outcome,
      // What would have been sent again, had attempts been left, may be sent again by the caller.
      retryable: this.#mustNotRepeat
        ? false
        : step.next === 'retry' && step.once === undefined
          ? true
          : undefined,
    };
    const { timeoutMs, deadlineMs } = this.request.settings;
    return errorOf(decisive, facts, { timeoutMs, deadlineMs, timeouts: this.#timeouts });
  }

  #stopWaiting(): void {
    if (this.#waitingSince !== undefined) this.#waitedMs += monotonicMs() - this.#waitingSince;
    this.#waitingSince = undefined;
  }

  get #query(): string | undefined {
    const { shownQuery } = this.request;
    return shownQuery && redactOwnText(shownQuery, this.apiKey);
  }

  /** The path for errors and events: without the key, even if the service has put it into an id. */
  get #path(): string {
    return redactOwnText(displayPath(this.request.path), this.apiKey);
  }

  /** Whether a service that ignores Idempotency-Key may have applied a create: sent again, it could create a second record. */
  get #mustNotRepeat(): boolean {
    const { method, settings } = this.request;
    return method === 'POST' && !settings.retry.creates && mayHaveApplied(this.#outcome);
  }
}
