import { oneLine, sentence } from '../internal/text.ts';
import type { Problem, Violation } from '../schemas/problem.ts';
import { type CallFacts, isOneRecord, outcomeAdvice, requestOf } from './accounting-error.ts';
import type { ErrorResponse } from './api-error.ts';
import { ForbiddenError } from './forbidden-error.ts';
import type { AnyApiError, ApiErrorCode } from './guards.ts';
import { IdempotencyKeyRequiredError } from './idempotency-key-required-error.ts';
import { MalformedRequestError } from './malformed-request-error.ts';
import { isNotFoundStatus, NotFoundError, showsMissing } from './not-found-error.ts';
import { RateLimitedError } from './rate-limited-error.ts';
import { ScopeRequiredError } from './scope-required-error.ts';
import { UnauthenticatedError } from './unauthenticated-error.ts';
import { UnknownApiError } from './unknown-api-error.ts';
import { ValidationFailedError } from './validation-failed-error.ts';

const NO_SUCH_RECORD =
  'The company of this key has no such record: check the id. If every id fails, check baseUrl: client.ping() then fails too.';

type KnownType = Exclude<ApiErrorCode, 'unknown_problem'>;

type ClassOf<Code> = new (
  message: string,
  facts: CallFacts,
  response: ErrorResponse,
) => Extract<AnyApiError, { code: Code }>;

/** The class of each error type of the API documentation. A class that is in no union does not compile here. */
const CLASSES: { readonly [Type in KnownType]: ClassOf<Type> } = {
  malformed_request: MalformedRequestError,
  unauthenticated: UnauthenticatedError,
  forbidden: ForbiddenError,
  scope_required: ScopeRequiredError,
  not_found: NotFoundError,
  validation_failed: ValidationFailedError,
  idempotency_key_required: IdempotencyKeyRequiredError,
  // It has a status if it has a response.
  rate_limited: RateLimitedError as ClassOf<'rate_limited'>,
};

/** What to do about them, if the response does not say more. */
const ADVICE: Readonly<Record<KnownType, string>> = {
  malformed_request: 'Check what was sent.',
  unauthenticated: 'Check the API key and that it belongs to this service.',
  forbidden: 'Use a key that may do this.',
  scope_required: 'Use a key with the permission that this needs.',
  not_found: NO_SUCH_RECORD,
  validation_failed: 'Correct the fields named in violations.',
  idempotency_key_required:
    'Something between client and service removed Idempotency-Key: make it pass on this header.',
  rate_limited: 'Try again later, or allow longer waits with maxWaitMs and deadlineMs.',
};

/** What a status means if the type is generic: only those to which the specification gives one meaning. */
const BY_STATUS = new Map<number, KnownType>([
  [400, 'malformed_request'],
  [401, 'unauthenticated'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [410, 'not_found'],
  [429, 'rate_limited'],
]);

/** RFCs that define status codes or problem documents: a type that names one says no more than the status. */
const STATUS_CODE_RFC = /^https?:\/\/\S*\brfc-?(?:2616|4918|6585|7231|7235|9110|9457)\b/i;

export function apiErrorOf(response: ErrorResponse, facts: CallFacts): AnyApiError {
  const { status, within, problem } = response;
  const type = errorTypeOf(response);
  const returned =
    within === undefined ? status : `${within} with the problem ${status === within ? 'document' : status}`;
  const message = sentence(
    [
      `${requestOf(mayDependOnQuery(type) ? facts : { ...facts, query: undefined })} returned ${returned}`,
      problem.type === undefined || isConstraint(problem.type) ? '' : ` (${shortened(problem.type)})`,
      reasonText(response),
    ].join(''),
  );
  const advice =
    type === undefined ? unknownAdvice(response, facts) : (adviceOn(type, response, facts) ?? ADVICE[type]);
  const hint = [advice, outcomeAdvice(facts)].filter(Boolean).join(' ');
  const Class = type === undefined ? UnknownApiError : CLASSES[type];
  return new Class(message, { ...facts, hint }, response);
}

/** Whether another query could get another response: those of a key get the same for every one. */
function mayDependOnQuery(type: KnownType | undefined): boolean {
  return type !== 'unauthenticated' && type !== 'rate_limited' && type !== 'scope_required';
}

/** Whether the type is only the UUIDs of violated constraints, as API Platform sends it: a reader learns nothing from them. */
function isConstraint(type: string): boolean {
  return /^(?:(?:\d+=)?[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12};?)+$/i.test(lastSegment(type));
}

/** The detail and the violations, each once: some frameworks repeat all violations in the detail. */
function reasonText({ problem, beginning }: ErrorResponse): string {
  const { violations } = problem;
  const words = violations.length === 0 ? beginning : undefined;
  const detail = problem.detail || reasonInTitle(problem) || words;
  const text = detail === undefined ? '' : oneLine(detail);
  const repeats = violations.length > 0 && violations.every(({ message }) => text.includes(oneLine(message)));
  const fits = text === shortened(text);
  return [
    detail === undefined || (repeats && !fits) ? '' : `: ${shortened(detail)}`,
    repeats && fits ? '' : violationsText(violations),
  ].join('');
}

/** A title that only repeats the status. */
const STATUS_PHRASE =
  /^(?:bad request|unauthorized|forbidden|not found|method not allowed|not acceptable|conflict|gone|unprocessable (?:entity|content)|too many requests|internal server error|bad gateway|service unavailable|gateway time-?out|an error occurred)\W*$/i;

/** Some services write the reason into the title, and no detail. */
function reasonInTitle({ title, violations }: Problem): string | undefined {
  return violations.length > 0 || STATUS_PHRASE.test(title ?? '') ? undefined : title;
}

/** Which fields were rejected and why: the line of a log is often all that an operator has. */
function violationsText(violations: readonly Violation[]): string {
  const shown = violations
    .slice(0, MAX_VIOLATIONS_SHOWN)
    .map(({ propertyPath, message }) => (propertyPath === '' ? message : `${propertyPath}: ${message}`));
  const more = violations.length - shown.length;
  if (more > 0) shown.push(`${more} more`);
  return shown.length === 0 ? '' : ` [${shortened(shown.join('; '))}]`;
}

const MAX_VIOLATIONS_SHOWN = 5;

/** A text of the service for a message; the fields of the error have all of it. */
function shortened(text: string): string {
  return oneLine(text).slice(0, 500);
}

/** Before a record with such an id was found, the route itself may not take it. */
const COMPARE_WITH_LISTED =
  'The path may not exist for such ids: compare with the id of a record that a list shows.';

/** What to do about an error that the specification does not name. */
function unknownAdvice(response: ErrorResponse, facts: CallFacts): string {
  const { method, retryable, idempotencyKey, formWasFound } = facts;
  const { status, content, retryAfterMs } = response;
  if (status === 406 && content !== 'other') return 'This client understands JSON and JSON-LD.';
  if (status === 415 && (method === 'PATCH' || method === 'POST')) {
    const option = method === 'PATCH' ? 'contentTypes.update' : 'contentTypes.create';
    return `The service does not accept the Content-Type of the request: set the client option ${option}.`;
  }
  if (idempotencyKey !== undefined && isStillRunning(response)) {
    return 'An earlier request with this idempotencyKey is still running, or the service crashed during it. Try again later.';
  }
  if (retryable) return retryAfterMs ? `Try again in ${retryAfterMs} ms (retryAfterMs).` : 'Try again later.';
  if (status === 304) return 'A cache on the way returned it: exclude the service from that cache.';
  if (status === 405) return `Allow ${method} in any cache, proxy or firewall on the way, and check baseUrl.`;
  if (isNotFoundStatus(status) && isOneRecord(facts)) {
    return formWasFound
      ? "If the service sends this for a missing record, set bareNotFound: 'missing'."
      : COMPARE_WITH_LISTED;
  }
  if (content === 'other') {
    return 'The body is not a problem document: check what a proxy or firewall on the way allows.';
  }
  return 'This version does not know this error: ask the operator of the service what it means.';
}

/** The types by which services say that the first request with an Idempotency-Key has not ended. The API documentation names none. */
const STILL_RUNNING: ReadonlySet<string> = new Set([
  ...['idempotency_key_in_use', 'idempotency_in_progress', 'request_in_progress', 'idempotency'],
]);

/** Whether a 409 says that the first request with its key is still running. */
export function isStillRunning({ status, problem }: ErrorResponse): boolean {
  return status === 409 && STILL_RUNNING.has(lastSegment(problem.type));
}

/** What to do about an error whose response or call says more than its type. */
function adviceOn(type: string | undefined, response: ErrorResponse, facts: CallFacts): string | undefined {
  if (type === 'not_found') return notFoundAdvice(response, facts);
  if (type === 'malformed_request') return `Check ${sentPartsOf(facts)}.${adviceOnBounds(facts)}`;
  if (type === 'validation_failed' && response.problem.violations.length === 0)
    return `Correct ${sentPartsOf(facts)}.${adviceOnBounds(facts)}`;
  if (type === 'forbidden' && isOneRecord(facts) && facts.method !== 'GET')
    return 'Use a key that may do this, or leave the record as it is.';
  if (type === 'unauthenticated' && isEmpty(response.problem))
    return 'The body is not a problem document: check the API key, and what a proxy or firewall on the way allows.';
  if (type !== 'rate_limited' || !response.retryAfterMs) return undefined;

  return `Wait for ${response.retryAfterMs} ms (retryAfterMs), or allow longer waits with maxWaitMs and deadlineMs.`;
}

/** Keyset pagination bounds the ids of every page. */
function adviceOnBounds({ query = '' }: CallFacts): string {
  return query.includes('id[')
    ? " If the service rejects bounds on id, use pagination: 'page' and no bounds on id."
    : '';
}

/** What a caller can have got wrong in a request, as a sentence names it. */
function sentPartsOf(facts: CallFacts): string {
  const { method } = facts;
  const hasBody = method !== 'GET' && method !== 'DELETE';
  const address = isOneRecord(facts) ? 'the id' : hasBody ? '' : 'the query';
  return [address, hasBody ? 'the body' : ''].filter(Boolean).join(' and ');
}

/** Whether nothing was read of the body, such as a page. */
function isEmpty({ type, title, detail, extensions }: Problem): boolean {
  return (type ?? title ?? detail) === undefined && Object.keys(extensions).length === 0;
}

/** A wrong URL must not look like a record that does not exist. */
function notFoundAdvice(
  response: ErrorResponse,
  { method, path = '', query = '', formWasFound }: CallFacts,
): string {
  if (!isNotFoundStatus(response.status)) {
    return 'The status does not say that the record is missing, so it may exist: ask the operator of the service.';
  }
  const [, segment = '', ...more] = path.split('/');
  if (more.length === 0) {
    const where = `Check baseUrl and the path segment "${segment}"`;
    if (method !== 'GET') return `${where}: the service has no such collection.`;
    const isFirst = query === '' || /page=1(?:&|$)/.test(query);
    // The path is right if the first page came.
    if (!isFirst)
      return "If the service returns a 404 for a page without records, set afterLastPage: 'not_found'.";
    // A page of a proxy is not an empty list, whatever the option says.
    return response.content === 'other'
      ? `${where}.`
      : `${where}. If the list has returned records before, set afterLastPage: 'not_found'.`;
  }
  if (showsMissing(response)) return NO_SUCH_RECORD;

  const advice = formWasFound
    ? "If the service sends such 404s, set bareNotFound: 'missing'."
    : COMPARE_WITH_LISTED;
  return `The body is not a problem document, so the response may not be the service's: check baseUrl. ${advice}`;
}

/**
 * The specification's name for what happened; undefined if neither type nor status says. API Platform names the
 * violated constraint in the type of a 422, so violations count unless the type names another error. A 401 and a 429
 * have one meaning whatever their type, because frameworks and gateways have types of their own for them.
 */
export function errorTypeOf({ status, problem, content }: ErrorResponse): KnownType | undefined {
  const segment = lastSegment(problem.type);
  // `not-found` is `not_found`.
  const name = segment.replaceAll('-', '_');
  if (Object.hasOwn(CLASSES, name)) return name as KnownType;
  if (status === 401 || status === 429) return BY_STATUS.get(status);
  if (status === 422 && problem.violations.length > 0) return 'validation_failed';
  if (content === 'missing') return 'not_found';
  if (!isGeneric(problem.type, segment, status)) return undefined;
  // A firewall between client and service also returns 403, with a page of its own.
  if (status === 403 && content === 'other') return undefined;

  return BY_STATUS.get(status);
}

function isGeneric(type: string | undefined, segment: string, status: number): boolean {
  return (
    segment === '' || type === 'about:blank' || segment === String(status) || STATUS_CODE_RFC.test(type ?? '')
  );
}

/**
 * `rate_limited` of `rate_limited`, `/errors/rate_limited`, `https://example.com/e#rate_limited`, `urn:e:rate_limited`. A
 * query is ignored.
 */
export function lastSegment(type: string | undefined): string {
  return (
    type
      ?.trim()
      .replace(/\?[^#]*/, '')
      .split(/[/#:]/)
      .findLast(Boolean) ?? ''
  );
}
