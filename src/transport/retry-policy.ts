import type { Outcome } from '../errors/accounting-error.ts';
import type { RetryPolicy } from './call-options.ts';
import type { FailedStatus, Failure, Fault } from './failure.ts';
import type { Method } from './request.ts';

/** What follows a failed attempt. */
export type Verdict =
  | 'throw'
  | 'retry'
  /** Retry, but only one time in a call. */
  | 'retry_once'
  /** A 429: no attempt, no retry budget. */
  | 'wait'
  /** The update went through without an answer to show: read the record. */
  | 'reread'
  /** The delete has happened. */
  | 'done';

type ByMethod = Readonly<Record<Method, Verdict>>;

const all = (verdict: Verdict): ByMethod => ({
  GET: verdict,
  POST: verdict,
  PATCH: verdict,
  DELETE: verdict,
});

/** Fault × method. An error status has a table of its own below. */
const VERDICTS: Readonly<Record<Exclude<Fault, 'status'>, ByMethod>> = {
  unsent: all('retry'),
  blocked: all('throw'),
  lost: all('retry'),
  not_a_response: all('throw'),
  cut: { GET: 'retry', POST: 'retry', PATCH: 'retry', DELETE: 'done' },
  empty: { GET: 'throw', POST: 'retry_once', PATCH: 'reread', DELETE: 'done' },
  wrong_content: { GET: 'throw', POST: 'retry_once', PATCH: 'throw', DELETE: 'throw' },
  unreadable: { GET: 'throw', POST: 'throw', PATCH: 'throw', DELETE: 'done' },
  too_large: { GET: 'throw', POST: 'throw', PATCH: 'throw', DELETE: 'done' },
  redirect: all('throw'),
  held_back: all('throw'),
};

const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 500, 502, 503, 504]);

/** What the service may have done in an attempt that failed so. */
const EFFECTS: Readonly<Record<Exclude<Fault, 'status' | 'redirect'>, Outcome>> = {
  unsent: 'not_sent',
  blocked: 'not_sent',
  held_back: 'not_sent',
  lost: 'unknown',
  not_a_response: 'unknown',
  // A page of some proxy's with status 200 says nothing of the service.
  wrong_content: 'unknown',
  cut: 'applied',
  empty: 'applied',
  unreadable: 'applied',
  too_large: 'applied',
};

/** "Ask over there instead": nothing was done here. A 302 or 303 may also follow a request that was carried out. */
const REJECTING_REDIRECTS: ReadonlySet<number> = new Set([301, 307, 308]);

/** What decides beside the failure itself. */
export interface Circumstances {
  readonly method: Method;
  readonly retry: RetryPolicy;
  /** What the earlier attempts of the call left behind. */
  readonly outcomeBefore: Outcome;
  /** Whether a `retry_once` was used up. */
  readonly repeated: boolean;
}

/** What follows a failure, by the tables above. */
export function verdictOn(failure: Failure, circumstances: Circumstances): Verdict {
  const { method, retry, repeated } = circumstances;
  const { fault, answer } = failure;
  const verdict =
    fault === 'status' && answer !== undefined
      ? statusVerdict(answer, circumstances)
      : VERDICTS[fault as Exclude<Fault, 'status'>][method];
  const resends = verdict === 'retry' || verdict === 'retry_once';
  if (resends && !mayRepeat(method, retry) && mayHaveApplied(effectOf(failure, retry))) return 'throw';
  if (verdict === 'retry_once' && repeated) return 'throw';
  return verdict;
}

/** Whether the caller allows to send a request again that may have been applied. */
function mayRepeat(method: Method, { creates, updates }: RetryPolicy): boolean {
  if (method === 'POST') return creates;
  return method !== 'PATCH' || updates;
}

function statusVerdict(answer: FailedStatus, { method, retry, outcomeBefore }: Circumstances): Verdict {
  const { status } = answer;
  if (status === 429) return 'wait';
  if (RETRIED_STATUSES.has(status)) return 'retry';
  // What proxies and content delivery networks add, such as 520 to 527: a read that is sent again does no harm.
  if (method === 'GET' && status >= 506 && status <= 599) return 'retry';
  if (method === 'POST' && isStillRunning(answer, retry)) return 'retry';
  // An earlier attempt of this call may have deleted it: that is what the caller asked for. A 404 of a proxy would
  // prove nothing.
  if (method === 'DELETE' && isGone(answer) && mayHaveApplied(outcomeBefore)) return 'done';

  return 'throw';
}

function isGone({ status, missing }: FailedStatus): boolean {
  return missing && (status === 404 || status === 410);
}

/** A 409 which says that the first request with this key has not ended. */
function isStillRunning({ status, problemType }: FailedStatus, retry: RetryPolicy): boolean {
  return status === 409 && retry.inProgressTypes.includes(problemType);
}

function mayHaveApplied(outcome: Outcome): boolean {
  return outcome === 'unknown' || outcome === 'applied';
}

/** What the service may have done in this one attempt. */
export function effectOf({ fault, answer }: Failure, retry: RetryPolicy): Outcome {
  if (fault === 'redirect') return REJECTING_REDIRECTS.has(answer?.status ?? 0) ? 'rejected' : 'unknown';
  if (fault !== 'status' || answer === undefined) return EFFECTS[fault as keyof typeof EFFECTS];

  const uncertain = answer.status >= 500 || answer.status === 408 || isStillRunning(answer, retry);
  return uncertain ? 'unknown' : 'rejected';
}

const WEIGHT: Readonly<Record<Outcome, number>> = { not_sent: 0, rejected: 1, unknown: 2, applied: 3 };

/** The outcome of a call is that of its most consequential attempt: never `rejected` after one whose end is unknown. */
export function worseOf(a: Outcome, b: Outcome): Outcome {
  return WEIGHT[a] >= WEIGHT[b] ? a : b;
}

/**
 * Exponential backoff with jitter: the delay doubles with each retry and is multiplied by a random factor from 1 to 2,
 * so that calls that failed together do not come back together, and no wait is shorter than it was meant to be.
 *
 * A deployment answers 502 for 2 to 6 s. With the defaults (five attempts from 500 ms) the four waits are at least
 * 0.5 + 1 + 2 + 4 = 7.5 s together, so a call outlasts it always. It outlasts 2.5 s with three retries, because these
 * take at least 0.5 + 1 + 2 = 3.5 s: 33 calls at once fit into the hundred retries of the retry budget.
 */
export function backoffMs(retryNumber: number, { baseDelayMs, maxDelayMs }: RetryPolicy): number {
  return Math.min(maxDelayMs / 2, exponential(retryNumber, baseDelayMs)) * (1 + Math.random());
}

/** What a call adds to the Retry-After of a second 429 in a row: a random time, because others were told the same. */
export function jitterMs(retryNumber: number, { baseDelayMs, maxDelayMs }: RetryPolicy): number {
  return Math.min(maxDelayMs, exponential(retryNumber - 1, baseDelayMs)) * Math.random();
}

function exponential(retryNumber: number, baseDelayMs: number): number {
  // Limited, because 0 * Infinity is NaN.
  return baseDelayMs * 2 ** Math.min(retryNumber - 1, 100);
}
