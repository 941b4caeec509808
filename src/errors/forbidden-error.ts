import { ApiError } from './api-error.ts';

/** 403 `forbidden`: the key is good, the operation is not allowed. Not a missing scope: see ScopeRequiredError. */
export class ForbiddenError extends ApiError {
  static override readonly brand: string = 'ForbiddenError';
  override readonly code = 'forbidden';
}
