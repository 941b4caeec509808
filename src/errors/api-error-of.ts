import type { CallFacts } from './accounting-error.ts';
import type { ApiAnswer } from './api-error.ts';
import { ForbiddenError } from './forbidden-error.ts';
import type { AnyApiError } from './guards.ts';
import { IdempotencyKeyRequiredError } from './idempotency-key-required-error.ts';
import { MalformedRequestError } from './malformed-request-error.ts';
import { NotFoundError } from './not-found-error.ts';
import { RateLimitedError } from './rate-limited-error.ts';
import { ScopeRequiredError } from './scope-required-error.ts';
import { UnauthenticatedError } from './unauthenticated-error.ts';
import { UnknownApiError } from './unknown-api-error.ts';
import { ValidationFailedError } from './validation-failed-error.ts';

/** The contract's error types, each with its class and what its reader should do next. */
const BY_TYPE = new Map([
  [
    'malformed_request',
    { Class: MalformedRequestError, advice: 'Check the query and the body that were sent.' },
  ],
  [
    'unauthenticated',
    { Class: UnauthenticatedError, advice: 'Check the API key and that it belongs to this service.' },
  ],
  ['forbidden', { Class: ForbiddenError, advice: 'The key may not do this.' }],
  ['scope_required', { Class: ScopeRequiredError, advice: 'Use a key with the permission that this needs.' }],
  ['not_found', { Class: NotFoundError, advice: 'The company of this key has no such record.' }],
  ['validation_failed', { Class: ValidationFailedError, advice: 'Correct the fields named in violations.' }],
  [
    'idempotency_key_required',
    {
      Class: IdempotencyKeyRequiredError,
      advice: 'Something between client and service removed Idempotency-Key.',
    },
  ],
  [
    'rate_limited',
    { Class: RateLimitedError, advice: 'Wait for retryAfterMs, or allow longer waits with maxWaitMs.' },
  ],
]);

/** What a status says where the type is generic: only those to which the contract gives one meaning. */
const BY_STATUS = new Map([
  [400, 'malformed_request'],
  [401, 'unauthenticated'],
  [404, 'not_found'],
  [410, 'not_found'],
  [429, 'rate_limited'],
]);

const STATUS_CODE_RFC = /^https?:\/\/\S*\brfc-?(?:2616|7231|9110)\b/i;

/** The error that an answer of the service becomes. */
export function apiErrorOf(answer: ApiAnswer, facts: CallFacts): AnyApiError {
  const known = BY_TYPE.get(contractType(answer) ?? '');
  const message = sentence(
    [
      `${facts.method} ${facts.path} was answered with ${answer.status}`,
      answer.problem.type === undefined ? '' : ` (${answer.problem.type})`,
      answer.problem.detail === undefined ? '' : `: ${answer.problem.detail}`,
    ].join(''),
  );
  if (known === undefined) return new UnknownApiError(`${message} See status and type.`, facts, answer);

  return new known.Class(`${message} ${known.advice}`, facts, answer);
}

/** With an end, unless the service wrote one. */
function sentence(text: string): string {
  return /[.!?]\s*$/.test(text) ? text.trimEnd() : `${text}.`;
}

/** The contract's name for what happened; undefined where neither type nor status tells. */
function contractType({ status, problem }: ApiAnswer): string | undefined {
  const segment = lastSegment(problem.type);
  if (!isGeneric(problem.type, segment, status)) return segment;
  if (status === 422 && problem.violations.length > 0) return 'validation_failed';

  return BY_STATUS.get(status);
}

function isGeneric(type: string | undefined, segment: string, status: number): boolean {
  return (
    segment === '' || type === 'about:blank' || segment === String(status) || STATUS_CODE_RFC.test(type ?? '')
  );
}

/** `rate_limited` of `rate_limited`, `/errors/rate_limited`, `https://example.com/e#rate_limited`, `urn:e:rate_limited`. */
export function lastSegment(type: string | undefined): string {
  return type?.trim().split(/[/#:]/).findLast(Boolean) ?? '';
}
