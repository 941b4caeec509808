import type { CallFacts } from './accounting-error.ts';
import { ApiError, type ErrorResponse } from './api-error.ts';

/** An error of a type that this version does not know: look at `type` and `status`. New error types are not breaking changes. */
export class UnknownApiError extends ApiError {
  static override readonly brand: string = 'UnknownApiError';
  override readonly code = 'unknown_problem';
  /**
   * Whether each attempt of a create got a 409 which says that an earlier request with its idempotency key is still
   * running. If that lasts, the service crashed during that request.
   */
  readonly inProgress: boolean;

  constructor(message: string, facts: CallFacts, response: ErrorResponse) {
    super(message, facts, response);
    this.inProgress = facts.inProgress ?? false;
  }
}
