import type { CallOutcome } from '../errors/accounting-error.ts';
import type { ErrorResponse } from '../errors/api-error.ts';
import { errorTypeOf, isStillRunning } from '../errors/api-error-of.ts';
import { showsMissing } from '../errors/not-found-error.ts';
import type { RetryPolicy } from './call-options.ts';
import { worseOf } from './call-outcomes.ts';
import type { AttemptFault, Failure } from './failure.ts';
import { isOutage } from './outage.ts';
import type { Method } from './request.ts';

/** What follows a failed attempt. */
export interface NextStep {
  readonly next: Next;
  /** Set if this step follows only once in a call. */
  readonly once?: OnlyOnce | undefined;
}

type Next =
  | 'throw'
  /** The only step that counts: as one of `maxAttempts`, and against the retry budget. */
  | 'retry'
  /** A 429: the same request again, once there is quota. */
  | 'wait'
  /** The first 401: the same request with another key, if there is one. */
  | 'refresh_key'
  /** The first 415 to an update as JSON: the same body as merge-patch, which means the same. */
  | 'merge_patch'
  /** The response does not show what became of the record: read it. */
  | 'reread'
  /** The delete has happened. */
  | 'done';

/** Why a step follows only once. */
type OnlyOnce = 'refresh_key' | 'merge_patch' | 'conflict';

/** What the attempts of a call have come to. */
export interface Course {
  /** What follows the last attempt. */
  readonly step: NextStep;
  /** What the service may have done. */
  readonly outcome: CallOutcome;
  /** What has followed a failure and follows only once. */
  readonly used: readonly OnlyOnce[];
  /** 429s so far. */
  readonly rejections: number;
  /** The 429 that the call waits for. */
  readonly rejection: Failure | undefined;
  /** Attempts that ended because `timeoutMs` ran out. */
  readonly timeouts: number;
  /** The failures in a row that may mean an outage: the first and the last, by the clock of the run. */
  readonly outage: { readonly since: number; readonly failedAt: number } | undefined;
}

/** Before the first attempt, which counts. */
export const BEGUN: Course = {
  step: { next: 'retry' },
  outcome: 'not_sent',
  used: [],
  rejections: 0,
  rejection: undefined,
  timeouts: 0,
  outage: undefined,
};

type Rule = Exclude<Next, 'wait' | 'refresh_key' | 'merge_patch'>;

type ByMethod = Readonly<Record<Method, Rule>>;

const all = (rule: Rule): ByMethod => ({ GET: rule, POST: rule, PATCH: rule, DELETE: rule });

/**
 * Fault × method. An error status has a table of its own below. A create is never sent again after a 2xx: the record
 * exists, and a service that ignores the key would create a second one.
 */
const RULES: Readonly<Record<Exclude<AttemptFault, 'status'>, ByMethod>> = {
  unsent: all('retry'),
  blocked: all('throw'),
  lost: all('retry'),
  not_a_response: all('throw'),
  cut: { GET: 'retry', POST: 'throw', PATCH: 'retry', DELETE: 'done' },
  empty: { GET: 'throw', POST: 'throw', PATCH: 'reread', DELETE: 'done' },
  wrong_content: all('throw'),
  page: { GET: 'retry', POST: 'throw', PATCH: 'throw', DELETE: 'throw' },
  wrong_record: { GET: 'throw', POST: 'throw', PATCH: 'throw', DELETE: 'reread' },
  unreadable: { GET: 'throw', POST: 'throw', PATCH: 'throw', DELETE: 'done' },
  too_large: { GET: 'throw', POST: 'throw', PATCH: 'throw', DELETE: 'done' },
  redirect: all('throw'),
  throttled: all('throw'),
};

const RETRIED_STATUSES: ReadonlySet<number> = new Set([408, 425, 500, 502, 503, 504]);

/** What proxies and content delivery networks add, such as 520 to 527. */
const isOfProxy = (status: number) => status >= 506 && status <= 599;

/** Whether the same call may succeed later, by its last response alone. */
export function isTransient(response: ErrorResponse): boolean {
  const { status } = response;
  return RETRIED_STATUSES.has(status) || isOfProxy(status) || isRateLimited(response);
}

/** What the service may have done in an attempt that failed in this way. */
const EFFECTS: Readonly<Record<Exclude<AttemptFault, 'status' | 'redirect'>, CallOutcome>> = {
  unsent: 'not_sent',
  blocked: 'not_sent',
  throttled: 'not_sent',
  lost: 'unknown',
  not_a_response: 'unknown',
  // A page of a proxy with status 200 says nothing about the service.
  wrong_content: 'unknown',
  page: 'unknown',
  // Some services report a rejection so, such as `{"success":false}`.
  wrong_record: 'unknown',
  cut: 'applied',
  empty: 'applied',
  unreadable: 'applied',
  too_large: 'applied',
};

/** "Send it there instead": nothing was done here. A 302 or 303 may also follow a request that was applied. */
const REJECTING_REDIRECTS: ReadonlySet<number> = new Set([301, 307, 308]);

/** What does not change during a call. */
interface CallRules {
  readonly method: Method;
  readonly retry: RetryPolicy;
  /** Whether the request is sent as JSON and means the same as merge-patch. */
  readonly canMergePatch: boolean;
}

/** What decides beside the failure itself. */
type CallState = CallRules & Pick<Course, 'outcome' | 'used'>;

/** Takes a failed attempt into account. `at`: when it failed, by the outage clock of the run. */
export function afterFailure(course: Course, failure: Failure, rules: CallRules, at: number): Course {
  const { fault, details } = failure;
  const step = verdictOn(failure, { ...rules, ...course });
  const isRejected = step.next === 'wait';
  const isTimeout = details.kind === 'time' && details.limit === 'attempt';
  return {
    step,
    outcome: worseOf(course.outcome, effectOf(failure)),
    used: step.once === undefined ? course.used : [...course.used, step.once],
    rejections: course.rejections + Number(isRejected),
    // It was not sent, so the 429 still decides.
    rejection: isRejected ? failure : fault === 'throttled' ? course.rejection : undefined,
    timeouts: course.timeouts + Number(isTimeout),
    outage: isOutage(failure) ? { since: course.outage?.since ?? at, failedAt: at } : undefined,
  };
}

/** What follows a failure, by the tables above. */
function verdictOn(failure: Failure, state: CallState): NextStep {
  const { method, retry, used } = state;
  const step = ruleFor(failure, state);
  const isSpent = step.once !== undefined && used.includes(step.once);
  const mayResend = { GET: true, POST: retry.creates, PATCH: retry.updates, DELETE: true }[method];
  const isForbidden = step.next === 'retry' && !mayResend && mayHaveApplied(effectOf(failure));
  return isSpent || isForbidden ? { next: 'throw' } : step;
}

function ruleFor({ fault, details }: Failure, state: CallState): NextStep {
  if (details.kind === 'status') return statusRule(details.response, state);
  return { next: RULES[fault as Exclude<AttemptFault, 'status'>][state.method] };
}

function statusRule(response: ErrorResponse, state: CallState): NextStep {
  const { method, outcome, used, canMergePatch } = state;
  const { status } = response;
  // The rate limiter and the outage know nothing of it.
  if (response.within !== undefined) return { next: 'throw' };
  if (isRateLimited(response)) return { next: 'wait' };
  if (status === 401 && !used.includes('refresh_key')) return { next: 'refresh_key', once: 'refresh_key' };
  if (status === 415 && canMergePatch) return { next: 'merge_patch', once: 'merge_patch' };
  if (RETRIED_STATUSES.has(status)) return { next: 'retry' };
  // Reading again does no harm.
  if (method === 'GET' && isOfProxy(status)) return { next: 'retry' };
  if (method === 'POST' && isStillRunning(response)) return { next: 'retry' };
  // The first request of this call may still be running, whatever this service calls it.
  if (method === 'POST' && status === 409 && mayHaveApplied(outcome))
    return { next: 'retry', once: 'conflict' };
  // An earlier attempt of this call may have deleted it: that is what the caller wanted. A 404 of a proxy would prove
  // nothing.
  if (method === 'DELETE' && isMissing(response) && mayHaveApplied(outcome)) return { next: 'done' };

  return { next: 'throw' };
}

/** Whether the quota of the key is used up. Services and gateways say so under 403, 400 and 503 too. */
export function isRateLimited(response: ErrorResponse): boolean {
  return response.status === 429 || errorTypeOf(response) === 'rate_limited';
}

/** Whether the response shows that the record does not exist. */
function isMissing(response: ErrorResponse): boolean {
  return showsMissing(response) && errorTypeOf(response) === 'not_found';
}

/** The faults of a response that is a 2xx. */
const AFTER_SUCCESS: ReadonlySet<AttemptFault> = new Set([
  'cut',
  'empty',
  'wrong_content',
  'wrong_record',
  'unreadable',
  'too_large',
]);

/** Whether a create must not be sent again by anyone who did not look for its record first. */
export function mustLookFirst(method: string | undefined, { fault }: Failure): boolean {
  return method === 'POST' && AFTER_SUCCESS.has(fault);
}

export function mayHaveApplied(outcome: CallOutcome): boolean {
  return outcome === 'unknown' || outcome === 'applied';
}

/** What the service may have done in this one attempt. */
function effectOf({ fault, details }: Failure): CallOutcome {
  if (details.kind === 'redirect') return REJECTING_REDIRECTS.has(details.status) ? 'rejected' : 'unknown';
  if (details.kind !== 'status') return EFFECTS[fault as keyof typeof EFFECTS];

  const { response } = details;
  const { status } = response;
  const isUnnamed = status < 400 && errorTypeOf(response) === undefined;
  const isUncertain = isUnnamed || status >= 500 || status === 408 || isStillRunning(response);
  return isUncertain ? 'unknown' : 'rejected';
}

/** A service that returned 429 returns it again if the next request follows at once. */
const LEAST_WAIT_AFTER_429_MS = 100;

/**
 * How long a client without a rate limiter waits after a 429. Undefined if `maxWaitMs` allows less than 100 ms: the same
 * request would be sent again and again, for as long as the deadline allows.
 */
export function waitAfter429(
  { retryAfterMs, rejections }: { retryAfterMs: number | undefined; rejections: number },
  { baseDelayMs, maxDelayMs }: RetryPolicy,
  maxWaitMs: number,
): number | undefined {
  // Limited, because 0 * Infinity is NaN.
  const backoffMs = Math.min(maxDelayMs / 2, baseDelayMs * 2 ** Math.min(rejections - 1, 100));
  const wantedMs =
    retryAfterMs === undefined
      ? backoffMs * (1 + Math.random())
      : // Every caller was given the same time: from the second 429 on, they spread.
        retryAfterMs + (rejections > 1 ? (backoffMs / 2) * Math.random() : 0);
  // Only a wait that the service asks for can be too long.
  const waitMs = Math.max(
    retryAfterMs ?? 0,
    Math.min(maxWaitMs, Math.max(LEAST_WAIT_AFTER_429_MS, Math.round(wantedMs))),
  );
  return waitMs < LEAST_WAIT_AFTER_429_MS ? undefined : waitMs;
}
