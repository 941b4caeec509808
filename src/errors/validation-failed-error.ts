import { ApiError } from './api-error.ts';

/** 422 `validation_failed`: the content was understood and rejected; `violations` says which field and why. */
export class ValidationFailedError extends ApiError {
  static override readonly brand: string = 'ValidationFailedError';
  override readonly code = 'validation_failed';
}
