import { ApiError } from './api-error.ts';

/** 404 `not_found` (also 410): no such record for the company of the key. A record of another company looks the same. */
export class NotFoundError extends ApiError {
  static override readonly brand: string = 'NotFoundError';
  override readonly code = 'not_found';
}
