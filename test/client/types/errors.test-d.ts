import {
  type AnyAccountingError,
  type AnyApiError,
  type ConnectionError,
  isAccountingError,
  isApiError,
  NotFoundError,
  type RateLimitedError,
  type TimeoutError,
} from 'accounting-data-sdk';
import { expectTypeOf, test } from 'vitest';

/** What a connector writes in its catch: every code, and nothing left over. */
function advise(error: AnyAccountingError): string {
  switch (error.code) {
    case 'malformed_request':
    case 'unauthenticated':
    case 'forbidden':
    case 'scope_required':
    case 'not_found':
    case 'idempotency_key_required':
    case 'unknown_problem':
      return `${error.status} ${error.type} ${error.requestId}`;
    case 'validation_failed':
      return error.violations.map(({ propertyPath }) => propertyPath).join();
    case 'rate_limited':
      return String(error.retryAfterMs ?? error.retryAt?.getTime());
    case 'connection_failed':
      return error.reason ?? '';
    case 'timeout':
      return error.limit satisfies 'attempt' | 'deadline';
    case 'redirected':
      return error.locationOrigin ?? '';
    case 'unexpected_response':
      return `${error.reason} ${error.recordId} ${error.issues.join()}`;
    case 'invalid_input':
      return error.argument;
    case 'filter_ignored':
    case 'checkpoint':
    case 'concurrent_run':
      return error.resumeToken ?? '';
    case 'sync_failed':
      return error.errors.map(({ collection }) => collection).join();
    case 'push_failed':
      return `${error.report.counts.created}`;
    case 'deletions_aborted':
      return `${error.reason} ${error.report.candidates} ${error.maxCandidates}`;
    default:
      return error satisfies never;
  }
}

test('switch (error.code) narrows to each class, and nothing is left over', () => {
  expectTypeOf(advise).toBeFunction();
});

test('a misspelt code does not compile', () => {
  const error = new Error() as AnyAccountingError;
  // @ts-expect-error not_fuond is not a code
  if (error.code === 'not_fuond') return;
  // @ts-expect-error timeout is not a code of an API error
  isApiError(error, 'timeout');
  // @ts-expect-error the rate limiter has errors of this code without a response: isAccountingError finds both
  isApiError(error, 'rate_limited');
});

test('the guards narrow what was caught', () => {
  const caught: unknown = undefined;
  if (isAccountingError(caught)) expectTypeOf(caught).toEqualTypeOf<AnyAccountingError>();
  if (isAccountingError(caught, 'timeout')) expectTypeOf(caught).toEqualTypeOf<TimeoutError>();
  if (isAccountingError(caught, 'connection_failed')) expectTypeOf(caught).toEqualTypeOf<ConnectionError>();
  if (isAccountingError(caught, 'rate_limited')) expectTypeOf(caught).toEqualTypeOf<RateLimitedError>();
  if (isApiError(caught)) expectTypeOf(caught).toEqualTypeOf<AnyApiError>();
  if (isApiError(caught, 'not_found')) expectTypeOf(caught).toEqualTypeOf<NotFoundError>();
  if (caught instanceof NotFoundError) caught.code satisfies 'not_found';
});
