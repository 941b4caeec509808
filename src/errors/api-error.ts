import type { ErrorContent, Problem, Violation } from '../schemas/problem.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { AccountingError, type CallFacts } from './accounting-error.ts';

/** What an error response of the service says. */
export interface ErrorResponse {
  readonly status: number;
  /** The status of the response, if it is a 2xx with a problem document. */
  readonly within?: number | undefined;
  readonly problem: Problem;
  /** Whether the body is a problem document, another JSON object, or anything else. @default 'problem' */
  readonly content?: ErrorContent | undefined;
  /** How a body begins that says more than a problem document has members for, without the key. */
  readonly beginning?: string | undefined;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** What support asks for of the response headers, lower case: date, limits, announced removals, the id of the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** Retry-After in ms, if the response has a valid one. */
  readonly retryAfterMs: number | undefined;
}

/** What a response says, or what is known in its place. */
type ApiErrorDetails = Omit<ErrorResponse, 'status'> & { readonly status: number | undefined };

/** The fields that ApiError shares with RateLimitedError, which exists without a response too. */
export abstract class ApiErrorFields extends AccountingError {
  /** The HTTP status. */
  readonly status: number | undefined;
  /** `type` of the problem document as sent; undefined if it has none. */
  readonly type: string | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly instance: string | undefined;
  /** What was wrong with which field; empty if the service does not say. */
  readonly violations: readonly Violation[];
  /** Members of the problem document beyond the standard ones. */
  readonly extensions: Readonly<Record<string, unknown>>;
  /** The service's own id of the request, if it sends one: quote it when you contact support. */
  readonly requestId: string | undefined;
  /** The quota reported with this response. */
  readonly rateLimit: RateLimit | undefined;
  /** What support asks for of the response headers, lower case: date, limits, announced removals, the id of the request. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long the service asked to wait (Retry-After), in ms; undefined if it sent none, or not in a form of RFC 9110. */
  readonly retryAfterMs: number | undefined;
  /** When the service expects the next call. */
  readonly retryAt: Date | undefined;

  constructor(message: string, facts: CallFacts, response: ApiErrorDetails) {
    super(message, facts);
    this.status = response.status;
    this.type = response.problem.type;
    this.title = response.problem.title;
    this.detail = response.problem.detail;
    this.instance = response.problem.instance;
    this.violations = response.problem.violations;
    this.extensions = response.problem.extensions;
    this.requestId = response.requestId;
    this.rateLimit = response.rateLimit;
    this.headers = response.headers;
    this.retryAfterMs = response.retryAfterMs;
    this.retryAt = retryAt(response.retryAfterMs);
  }
}

/**
 * The service returned an error. Not thrown for a response that does not come from the service: see
 * UnexpectedResponseError, RedirectError, ConnectionError. The class follows the `type` of the problem document,
 * not the status: a 403 covers both a key without permission and a record that rejects the operation.
 */
export abstract class ApiError extends ApiErrorFields {
  static override readonly brand: string = 'ApiError';

  declare readonly status: number;
}

function retryAt(retryAfterMs: number | undefined): Date | undefined {
  if (retryAfterMs === undefined) return undefined;

  const at = new Date(Date.now() + retryAfterMs);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
