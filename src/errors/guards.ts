import { isBranded } from './accounting-error.ts';
import { ApiError } from './api-error.ts';
import type { CheckpointError } from './checkpoint-error.ts';
import type { ConcurrentRunError } from './concurrent-run-error.ts';
import type { ConnectionError } from './connection-error.ts';
import type { DeletionsAbortedError } from './deletions-aborted-error.ts';
import type { FilterIgnoredError } from './filter-ignored-error.ts';
import type { ForbiddenError } from './forbidden-error.ts';
import type { IdempotencyKeyRequiredError } from './idempotency-key-required-error.ts';
import type { InvalidInputError } from './invalid-input-error.ts';
import type { MalformedRequestError } from './malformed-request-error.ts';
import type { NotFoundError } from './not-found-error.ts';
import type { PushError } from './push-error.ts';
import type { RateLimitedError } from './rate-limited-error.ts';
import type { RedirectError } from './redirect-error.ts';
import type { ScopeRequiredError } from './scope-required-error.ts';
import type { SyncError } from './sync-error.ts';
import type { TimeoutError } from './timeout-error.ts';
import type { UnauthenticatedError } from './unauthenticated-error.ts';
import type { UnexpectedResponseError } from './unexpected-response-error.ts';
import type { UnknownApiError } from './unknown-api-error.ts';
import type { ValidationFailedError } from './validation-failed-error.ts';

/** The classes of errors that exist with a response only. */
type ResponseError =
  | MalformedRequestError
  | UnauthenticatedError
  | ForbiddenError
  | ScopeRequiredError
  | NotFoundError
  | ValidationFailedError
  | IdempotencyKeyRequiredError
  | UnknownApiError;

/** Every error that a response of the service becomes: `switch (error.code)` narrows it. */
export type AnyApiError = ResponseError | (RateLimitedError & { readonly status: number });

/** Every error of this package: `switch (error.code)` narrows it. */
export type AnyAccountingError =
  | ResponseError
  | RateLimitedError
  | ConnectionError
  | TimeoutError
  | RedirectError
  | UnexpectedResponseError
  | InvalidInputError
  | FilterIgnoredError
  | CheckpointError
  | ConcurrentRunError
  | SyncError
  | PushError
  | DeletionsAbortedError;

/** The codes of {@link AnyApiError}. */
export type ApiErrorCode = AnyApiError['code'];
/** The codes of {@link AnyAccountingError}. */
export type AccountingErrorCode = AnyAccountingError['code'];

/** Whether an error was thrown by this package, whichever installed copy; with `code`, whether it is that one. */
export function isAccountingError<Code extends AccountingErrorCode = AccountingErrorCode>(
  error: unknown,
  code?: Code,
): error is Extract<AnyAccountingError, { code: Code }> {
  return isBranded(error) && (code === undefined || error.code === code);
}

/**
 * Whether the service responded with an error, so that there is a status; with `code`, whether it is that one. The rate
 * limiter has errors of the code `rate_limited` too, without a response: `isAccountingError(error, 'rate_limited')` is
 * true for both.
 */
export function isApiError(error: unknown): error is AnyApiError;
export function isApiError<Code extends Exclude<ApiErrorCode, 'rate_limited'>>(
  error: unknown,
  code: Code,
): error is Extract<AnyApiError, { code: Code }>;
export function isApiError(error: unknown, code?: ApiErrorCode): boolean {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** Whether the service has said that a record does not exist. */
export function showsMissingRecord(error: unknown): error is NotFoundError {
  return isAccountingError(error, 'not_found') && error.missing;
}

/** Whether the key may not do something. */
export function isForbidden(error: unknown): boolean {
  return isAccountingError(error, 'forbidden') || isAccountingError(error, 'scope_required');
}

/**
 * Whether the service rejected the key: a 401 whose body is JSON. A firewall returns a 401 with a page, and perhaps to one
 * request only.
 */
export function isKeyRejected(error: unknown): boolean {
  if (!isApiError(error, 'unauthenticated')) return false;
  const { type, title, detail, extensions } = error;
  return (type ?? title ?? detail) !== undefined || Object.keys(extensions).length > 0;
}
