import { ApiError } from './api-error.ts';

/**
 * 429 `rate_limited`: the budget of the key is gone, and waiting for the next would pass the caller's limits:
 * `retryAfterMs` and `retryAt` say what the service asked for.
 */
export class RateLimitedError extends ApiError {
  static override readonly brand: string = 'RateLimitedError';
  override readonly code = 'rate_limited';
}
