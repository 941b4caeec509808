import { ApiError } from './api-error.ts';

/** 422 `idempotency_key_required`: a create came without Idempotency-Key. This package always sends one: something between stripped it. */
export class IdempotencyKeyRequiredError extends ApiError {
  static override readonly brand: string = 'IdempotencyKeyRequiredError';
  override readonly code = 'idempotency_key_required';
}
