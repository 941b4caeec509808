import type { ErrorContent, Problem, Violation } from '../schemas/problem.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';
import { AccountingError, type CallFacts } from './accounting-error.ts';

/** What an error answer of the service said. */
export interface ErrorResponse {
  readonly status: number;
  readonly problem: Problem;
  /** Whether the body is a problem document, another JSON object, or anything else. @default 'problem' */
  readonly content?: ErrorContent | undefined;
  readonly requestId: string | undefined;
  readonly rateLimit: RateLimit | undefined;
  /** Response headers on the allow-list, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Retry-After in ms, where the answer carries a valid one. */
  readonly retryAfterMs: number | undefined;
}

/** What a response says, or what is known in its place. */
export type ApiErrorDetails = Omit<ErrorResponse, 'status'> & { readonly status: number | undefined };

/** The fields that ApiError shares with RateLimitedError, which exists without a response too. */
export abstract class ApiErrorFields extends AccountingError {
  /** The HTTP status. */
  readonly status: number | undefined;
  /** `type` of the problem document as sent; undefined where it has none. */
  readonly type: string | undefined;
  readonly title: string | undefined;
  readonly detail: string | undefined;
  readonly instance: string | undefined;
  /** What was wrong with which field; empty where the service does not say. */
  readonly violations: readonly Violation[];
  /** Members of the problem document beyond the standard ones. */
  readonly extensions: Readonly<Record<string, unknown>>;
  /** The service's own id of the request, where it sends one: quote it in a support question. */
  readonly requestId: string | undefined;
  /** The budget reported with this answer. */
  readonly rateLimit: RateLimit | undefined;
  /** Response headers on the allow-list, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** How long the service asked to wait (Retry-After), in ms; undefined where it did not say, or not as RFC 9110 has it. */
  readonly retryAfterMs: number | undefined;
  /** When the service expects the next call. */
  readonly retryAt: Date | undefined;

  constructor(message: string, facts: CallFacts, answer: ApiErrorDetails) {
    super(message, facts);
    this.status = answer.status;
    this.type = answer.problem.type;
    this.title = answer.problem.title;
    this.detail = answer.problem.detail;
    this.instance = answer.problem.instance;
    this.violations = answer.problem.violations;
    this.extensions = answer.problem.extensions;
    this.requestId = answer.requestId;
    this.rateLimit = answer.rateLimit;
    this.headers = answer.headers;
    this.retryAfterMs = answer.retryAfterMs;
    this.retryAt = retryAt(answer.retryAfterMs);
  }
}

/**
 * The service answered with an error. Not thrown for an answer that is no answer of the service's: see
 * UnexpectedResponseError, RedirectError, ConnectionError. The class follows the `type` of the problem document,
 * not the status: a 403 covers both a key without permission and a record that refuses (contract: Errors).
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
