import { ApiError } from './api-error.ts';

/** 422 `idempotency_key_required`: a create arrived without Idempotency-Key, which this package always sends. A proxy may remove it. */
export class IdempotencyKeyRequiredError extends ApiError {
  static override readonly brand: string = 'IdempotencyKeyRequiredError';
  override readonly code = 'idempotency_key_required';
}
