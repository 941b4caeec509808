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
   * Whether the response shows that the record does not exist: its status is 404 or 410, and its body is a problem
   * document, or the client has `bareNotFound: 'missing'`. Only then does `find` resolve with undefined.
   */
  readonly missing: boolean;

  constructor(message: string, facts: CallFacts, response: ErrorResponse) {
    super(message, facts, response);
    this.missing = showsMissing(response);
  }
}

/** Whether a response of the type `not_found` shows that the record does not exist. */
export function showsMissing({
  status,
  content = 'problem',
}: Pick<ErrorResponse, 'status' | 'content'>): boolean {
  return isNotFoundStatus(status) && (content === 'problem' || content === 'missing');
}

/** Whether a status says that there is no such record or page. The type `not_found` of another status proves neither. */
export function isNotFoundStatus(status: number | undefined): boolean {
  return status === 404 || status === 410;
}
