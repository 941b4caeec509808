import type { CallFacts } from './accounting-error.ts';
import { ApiError, type ErrorResponse } from './api-error.ts';

/**
 * 404 `not_found` (also 410): no such record for the company of the key. A record of another company looks the same.
 * A wrong `baseUrl` causes 404s too: see `missing`.
 */
export class NotFoundError extends ApiError {
  static override readonly brand: string = 'NotFoundError';
  override readonly code = 'not_found';
  /**
   * Whether the response shows that the record does not exist: its body is a problem document, or the client has
   * `bareNotFound: 'missing'`. Only then does `find` resolve with undefined.
   */
  readonly missing: boolean;

  constructor(message: string, facts: CallFacts, response: ErrorResponse) {
    super(message, facts, response);
    this.missing = (response.content ?? 'problem') === 'problem';
  }
}
