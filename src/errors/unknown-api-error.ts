import { ApiError } from './api-error.ts';

/** An error of a type that this version does not know: look at `type` and `status`. New error types are not breaking changes. */
export class UnknownApiError extends ApiError {
  static override readonly brand: string = 'UnknownApiError';
  override readonly code = 'unknown_problem';
}
