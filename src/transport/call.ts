import type { CallOutcome } from '../errors/accounting-error.ts';
import type { AnyAccountingError } from '../errors/guards.ts';
import type { CallEvent, EndEvent } from '../events.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { ResponseMeta } from './call-options.ts';
import { worseOf } from './call-outcomes.ts';
import { errorOf } from './error-of.ts';
import type { Failure, Limit } from './failure.ts';
import { withOutage } from './outage.ts';
import type { FailedCall } from './outage-clock.ts';
import type { Received } from './received.ts';
import type { Redactor } from './redact.ts';
import type { ApiRequest } from './request.ts';
import {
  afterFailure,
  BEGUN,
  type Course,
  mayHaveApplied,
  mustLookFirst,
  type NextStep,
} from './retry-policy.ts';
import { displayPath } from './url.ts';

let calls = 0;

export type ServiceAddress = Pick<CallEvent, 'origin' | 'basePath'>;

/** Whether an update means the same as merge-patch, and whether the service accepts only that. */
interface MergePatch {
  readonly allowed: boolean;
  readonly required: boolean;
}

/** One logical request over all its attempts: what is counted, and what the service may have done. */
export class Call {
  /** The caller's. */
  readonly signal: AbortSignal | undefined;
  readonly #id = ++calls;
  readonly #startedAt = monotonicMs();
  readonly request: ApiRequest<unknown>;
  readonly #service: ServiceAddress;
  readonly #redactor: Redactor;
  readonly #mergePatch: MergePatch;
  apiKey = '';
  #course: Course = BEGUN;
  /** Attempts that count: neither a 429 that was waited for nor a 401 that was sent again with another key. */
  attempts = 0;
  /** When the caller gives up, in ms of the monotonic clock. */
  deadlineAt: number;
  /** What the service may have done in the last attempt, if that has not failed: `unknown` while it is in flight. */
  #last: CallOutcome = 'not_sent';
  #waitedMs = 0;
  #waitingSince: number | undefined;
  /** The response of the last attempt; undefined if it got none. */
  received: Received | undefined;
  #result: EndEvent['result'] = 'error';

  constructor(
    request: ApiRequest<unknown>,
    service: ServiceAddress,
    redactor: Redactor,
    mergePatch: MergePatch,
  ) {
    this.#redactor = redactor;
    this.#mergePatch = mergePatch;
    this.request = request;
    this.#service = service;
    this.deadlineAt = this.#startedAt + request.settings.deadlineMs;
    this.signal = request.options.signal;
  }

  /** What follows the last attempt. */
  get step(): NextStep {
    return this.#course.step;
  }

  /** 429s so far. */
  get rejections(): number {
    return this.#course.rejections;
  }

  /** Whether the body is sent as merge-patch. */
  get mergesPatch(): boolean {
    const { allowed, required } = this.#mergePatch;
    return allowed && (required || this.#course.used.includes('merge_patch'));
  }

  /** The response of the last attempt; undefined if it got none. */
  get meta(): ResponseMeta | undefined {
    if (this.received === undefined) return undefined;
    const { shown, headers } = this.received;
    return { ...shown, headers, attempts: this.attempts, waitedMs: this.#waitedMs };
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

  /** What its last failure says about the service; undefined if it is no sign of an outage, or must not be sent again. */
  outage({ fault, retryAfterMs = 0 }: Failure): Omit<FailedCall, 'wasRepeated' | 'hasWorked'> | undefined {
    const { outage } = this.#course;
    if (outage === undefined || (this.step.next !== 'retry' && fault !== 'throttled')) return undefined;
    const isTooLong = retryAfterMs > this.request.settings.maxWaitMs;
    return { ...outage, notBeforeMs: isTooLong ? Number.POSITIVE_INFINITY : monotonicMs() + retryAfterMs };
  }

  /** After a wait for a service that is down. `deadlineMs` limits what happens between two of these waits. */
  restart(): void {
    this.deadlineAt = monotonicMs() + this.request.settings.deadlineMs;
    // If the last attempt was throttled, it was not sent: the next one is the first that counts.
    this.#course = { ...this.#course, step: BEGUN.step };
  }

  /** A wait begins. It ends with the next attempt, or with the call. */
  wait(): void {
    this.#waitingSince ??= monotonicMs();
  }

  /** An attempt begins. The response to an earlier one is not the response to this one. */
  begin(): void {
    this.#stopWaiting();
    this.#last = 'unknown';
    if (this.step.next === 'retry') this.attempts += 1;
    this.received = undefined;
  }

  /** Takes a failed attempt into account and decides what follows. `at`: see `afterFailure`. */
  failed(failure: Failure, at: number): void {
    this.#last = 'not_sent';
    const { method, settings } = this.request;
    const { allowed, required } = this.#mergePatch;
    const rules = { method, retry: settings.retry, canMergePatch: allowed && !required };
    this.#course = afterFailure(this.#course, failure, rules, at);
  }

  /** An attempt has succeeded. */
  succeeded(): void {
    this.#last = 'applied';
  }

  end(result: EndEvent['result']): void {
    this.#stopWaiting();
    this.#result = result;
  }

  /** What the service may have done, over all attempts. */
  get outcome(): CallOutcome {
    return worseOf(this.#course.outcome, this.#last);
  }

  event(): CallEvent {
    const { method } = this.request;
    return {
      call: this.#id,
      method,
      ...this.#service,
      path: this.#path,
      template: this.#redactor.ownText(this.request.template),
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
    const { step, outcome, rejection, timeouts } = this.#course;
    const decisive = failure.fault === 'throttled' ? (rejection ?? failure) : failure;
    const facts = {
      method: this.request.method,
      path: this.#path,
      query: this.#query,
      attempts: this.attempts,
      idempotencyKey: this.request.idempotencyKey,
      formWasFound: this.request.formWasFound?.(),
      outcome,
      // What would have been sent again, had attempts been left, may be sent again by the caller.
      retryable: this.#mustNotRepeat(failure)
        ? false
        : step.next === 'retry' && step.once === undefined
          ? true
          : undefined,
    };
    const { timeoutMs, deadlineMs } = this.request.settings;
    return withOutage(errorOf(decisive, facts, { timeoutMs, deadlineMs, timeouts }), failure);
  }

  #stopWaiting(): void {
    if (this.#waitingSince !== undefined) this.#waitedMs += monotonicMs() - this.#waitingSince;
    this.#waitingSince = undefined;
  }

  get #query(): string | undefined {
    const { shownQuery } = this.request;
    return shownQuery && this.#redactor.ownText(shownQuery);
  }

  /** The path for errors and events: without the key, even if the service has put it into an id. */
  get #path(): string {
    return this.#redactor.ownText(displayPath(this.request.path));
  }

  /** Whether a create that is sent again could create a second record: after a 2xx, or if the service ignores its key. */
  #mustNotRepeat(failure: Failure): boolean {
    const { method, settings } = this.request;
    const isIgnored = method === 'POST' && !settings.retry.creates && mayHaveApplied(this.#course.outcome);
    return isIgnored || mustLookFirst(method, failure);
  }
}
