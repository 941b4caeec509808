import { parseProblem } from '../schemas/problem.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { addBrand, type CallFacts } from './accounting-error.ts';
import { ApiErrorFields, type ErrorResponse } from './api-error.ts';

/** What the rate limiter knows of a quota that is used up. */
export interface UsedUpQuota {
  readonly retryAfterMs: number | undefined;
  readonly rateLimit: RateLimit | undefined;
}

/**
 * The quota of the key is used up, and a wait for the next one would exceed the caller's limits: `retryAfterMs` and
 * `retryAt` say when it is back. Either the service said so with 429 `rate_limited`, or the rate limiter of this
 * package did not send the call: then `status` is undefined, `outcome` is `not_sent`, and it is not an ApiError.
 */
export class RateLimitedError extends ApiErrorFields {
  static override readonly brand: string = 'RateLimitedError';
  override readonly code = 'rate_limited';
  /** 429; undefined if the call was not sent. */
  declare readonly status: number | undefined;

  constructor(message: string, facts: CallFacts, response: ErrorResponse | UsedUpQuota) {
    const hasResponse = 'status' in response;
    super(message, facts, hasResponse ? response : withoutResponse(response));
    if (hasResponse) addBrand(this, 'ApiError');
  }
}

function withoutResponse(quota: UsedUpQuota) {
  return { ...quota, status: undefined, problem: parseProblem(undefined), requestId: undefined, headers: {} };
}
