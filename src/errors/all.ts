// Every error of the package, for the entry points: files of `src` import the one they need.

export type { ErrorContent, Problem, Violation } from '../schemas/problem.ts';
export { AccountingError, type CallFacts, type Outcome } from './accounting-error.ts';
export { ApiError, type ErrorResponse } from './api-error.ts';
export { CheckpointError } from './checkpoint-error.ts';
export { ConcurrentRunError } from './concurrent-run-error.ts';
export { ConnectionError } from './connection-error.ts';
export { FilterIgnoredError } from './filter-ignored-error.ts';
export { ForbiddenError } from './forbidden-error.ts';
export {
  type AccountingErrorCode,
  type AnyAccountingError,
  type AnyApiError,
  type ApiErrorCode,
  isAccountingError,
  isApiError,
} from './guards.ts';
export { IdempotencyKeyRequiredError } from './idempotency-key-required-error.ts';
export { InvalidInputError } from './invalid-input-error.ts';
export { MalformedRequestError } from './malformed-request-error.ts';
export { NotFoundError } from './not-found-error.ts';
export { PushError } from './push-error.ts';
export { RateLimitedError } from './rate-limited-error.ts';
export { ReconcileAbortedError, type ReconcileAbortReason } from './reconcile-aborted-error.ts';
export { RedirectError } from './redirect-error.ts';
export { ScopeRequiredError } from './scope-required-error.ts';
export { type CollectionFailure, SyncError } from './sync-error.ts';
export { TimeoutError } from './timeout-error.ts';
export { UnauthenticatedError } from './unauthenticated-error.ts';
export { type UnexpectedReason, UnexpectedResponseError } from './unexpected-response-error.ts';
export { UnknownApiError } from './unknown-api-error.ts';
export { ValidationFailedError } from './validation-failed-error.ts';
