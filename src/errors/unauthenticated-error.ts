import { ApiError } from './api-error.ts';

/** 401 `unauthenticated`: the key is missing, malformed, revoked or of another company. The same key fails identically. */
export class UnauthenticatedError extends ApiError {
  static override readonly brand: string = 'UnauthenticatedError';
  override readonly code = 'unauthenticated';
}
