import { ApiError } from './api-error.ts';

/** 403 `scope_required`: the key lacks a permission. Use a key that has it, created by a user who has it. */
export class ScopeRequiredError extends ApiError {
  static override readonly brand: string = 'ScopeRequiredError';
  override readonly code = 'scope_required';
}
