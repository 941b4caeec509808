import type { CallFacts, Outcome } from '../errors/accounting-error.ts';
import type { AnyAccountingError } from '../errors/guards.ts';
import type { CallEvent, EndEvent } from '../events.ts';
import { monotonicMs } from '../internal/monotonic-clock.ts';
import type { ResponseMeta } from './call-options.ts';
import type { Failure } from './failure.ts';
import { redactOwnText } from './redact.ts';
import type { ApiRequest } from './request.ts';
import { effectOf, type Verdict, verdictOn, worseOf } from './retry-policy.ts';
import { displayPath } from './url.ts';

let calls = 0;

/** Where the calls of a client go. */
export type CallBase = Pick<CallEvent, 'origin' | 'basePath'>;

/** One logical request over all its attempts: what is counted, and what the service may have done. */
export class Call {
  readonly id = ++calls;
  /** When the caller gives up, in ms of the monotonic clock. */
  readonly deadlineAt: number;
  /** Attempts that count. */
  attempts = 0;
  /** 429s so far. */
  refusals = 0;
  /** Retries so far. */
  retries = 0;
  waitedMs = 0;
  /** The key was refused with 401 and asked for again. */
  keyReplaced = false;
  /** The last attempt ended in a 429: the next goes to the front of the queue. */
  refused = false;
  /** The key to send. */
  apiKey = '';
  /** The answer of the last attempt; undefined where it got none. */
  meta: ResponseMeta | undefined;
  /** What followed from the last failure. */
  verdict: Verdict = 'throw';
  outcome: Outcome = 'not_sent';
  /** How it ended: a failure, until something else is known. */
  result: EndEvent['result'] = 'error';
  readonly #startedAt = monotonicMs();
  readonly #request: ApiRequest<unknown>;
  readonly #base: CallBase;
  #shown = { apiKey: '', path: '' };
  #repeated = false;
  #refusal: Failure | undefined;

  constructor(request: ApiRequest<unknown>, base: CallBase) {
    this.#request = request;
    this.#base = base;
    this.deadlineAt = this.#startedAt + request.settings.deadlineMs;
  }

  /** The path for errors and events: without the key, also where the service has put it into an id. */
  get path(): string {
    const { apiKey } = this;
    if (this.#shown.path === '' || this.#shown.apiKey !== apiKey) {
      this.#shown = { apiKey, path: redactOwnText(displayPath(this.#request.path), apiKey) };
    }
    return this.#shown.path;
  }

  /** An attempt begins. What an earlier one was answered does not count as the answer of this one. */
  begin(): void {
    this.attempts += 1;
    this.meta = undefined;
  }

  /** Takes a failed attempt into account and says what follows. */
  judge(failure: Failure): Verdict {
    const { method, settings } = this.#request;
    this.verdict = verdictOn(failure, {
      method,
      retry: settings.retry,
      outcomeBefore: this.outcome,
      repeated: this.#repeated,
    });
    if (this.verdict === 'retry_once') this.#repeated = true;
    this.refused = false;
    if (this.verdict === 'wait') this.#refusal = failure;
    else if (failure.fault !== 'held_back') this.#refusal = undefined;
    this.outcome = worseOf(this.outcome, effectOf(failure, settings.retry));
    return this.verdict;
  }

  /** Whether a wait ends within the caller's limits. */
  canWait(waitMs: number): boolean {
    return waitMs <= this.#request.settings.maxWaitMs && monotonicMs() + waitMs < this.deadlineAt;
  }

  event(): CallEvent {
    const { method, template } = this.#request;
    return { call: this.id, method, ...this.#base, path: this.path, template, attempt: this.attempts };
  }

  endEvent(): EndEvent {
    const { result, waitedMs } = this;
    return { ...this.event(), result, durationMs: monotonicMs() - this.#startedAt, waitedMs };
  }

  /**
   * The error that this call ends with. One that was refused with 429 and then held back failed for the 429: that
   * says what the service asked for. Its attempt, which was to cost nothing, counts after all.
   */
  error(failure: Failure): AnyAccountingError {
    const refusal = failure.fault === 'held_back' ? this.#refusal : undefined;
    const facts: CallFacts = {
      method: this.#request.method,
      path: this.path,
      attempts: refusal === undefined ? this.attempts : this.attempts + 1,
      idempotencyKey: this.#request.idempotencyKey,
      outcome: this.outcome,
      // What would have been tried again, had attempts been left, may be tried again by the caller.
      retryable: this.verdict === 'retry' ? true : this.#mustNotRepeat() ? false : undefined,
    };
    return (refusal ?? failure).toError(facts);
  }

  /** Whether a create may have been carried out by a service that ignores Idempotency-Key: again could be a second one. */
  #mustNotRepeat(): boolean {
    const { method, settings } = this.#request;
    return (
      method === 'POST' &&
      !settings.retry.creates &&
      this.outcome !== 'not_sent' &&
      this.outcome !== 'rejected'
    );
  }
}
