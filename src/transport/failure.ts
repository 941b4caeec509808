import type { ErrorResponse } from '../errors/api-error.ts';
import type { UnexpectedDetails, UnexpectedReason } from '../errors/unexpected-response-error.ts';
import type { RateLimit } from '../schemas/rate-limit.ts';

/** What went wrong with one attempt: the rows of the table in retry-policy.ts. */
export type AttemptFault =
  /** No byte was sent: DNS, connection refused, unreachable. */
  | 'unsent'
  /** No byte was sent and none will be: TLS, scheme, blocked port. */
  | 'blocked'
  /** Reset, closed, timed out or stalled before a status was seen. */
  | 'lost'
  /** `fetch` returned something other than a Response, or a response whose headers are too large to read. */
  | 'not_a_response'
  /** A 2xx whose body ended early, stalled, or is not JSON. */
  | 'cut'
  /** A 2xx without the expected body. */
  | 'empty'
  /** A 2xx of another content type, or an object instead of a list. */
  | 'wrong_content'
  /** A GET that gets a page in place of JSON from a service that has returned JSON: a maintenance page, or that of a portal. */
  | 'page'
  /** A 2xx to a write with JSON that is not the record in question: it lacks an id, or has another. */
  | 'wrong_record'
  /** A 2xx with invalid UTF-8 or a record that does not match its schema. */
  | 'unreadable'
  /** A 2xx with more bytes than allowed. */
  | 'too_large'
  | 'redirect'
  /** Any other status: the service returned an error. */
  | 'status'
  /** The rate limiter would send this call too late. */
  | 'throttled';

/** The option that ran out: `timeoutMs` for an attempt, `deadlineMs` for the whole call. */
export type Limit = 'attempt' | 'deadline';

export interface Target {
  readonly host: string;
  readonly port: number;
}

/** What is known of a failed attempt: error-of.ts turns it into the error that the caller sees. */
export type FailureDetails =
  /** `fetch` rejected. `cause` is a copy of what the caller's own `fetch` threw. */
  | {
      readonly kind: 'network';
      readonly target: Target;
      readonly reason?: string | undefined;
      /** The status with which a proxy rejected the connection. */
      readonly proxyStatus?: number | undefined;
      /** What was thrown, without the key: set if `reason` does not say it. */
      readonly thrown?: string | undefined;
      readonly cause?: unknown;
    }
  | { readonly kind: 'not_a_response'; readonly by: string }
  | { readonly kind: 'time'; readonly limit: Limit; readonly waitingFor: 'response' | 'apiKey' }
  /** Not sent. `limit` is set if `deadlineMs` ran out while the limits of the key were unknown. */
  | {
      readonly kind: 'throttled';
      readonly limit: 'deadline' | undefined;
      readonly retryAfterMs: number | undefined;
      readonly rateLimit: RateLimit | undefined;
    }
  | {
      readonly kind: 'redirect';
      readonly status: number;
      readonly locationOrigin: string | undefined;
      /** Set if it points to another path of the same origin. */
      readonly locationPath: string | undefined;
    }
  | { readonly kind: 'status'; readonly response: ErrorResponse }
  | UnusableContent;

/** What one response can show. */
export type ContentProblem = Exclude<UnexpectedReason, 'unreadable_id' | 'incomplete_list' | 'unrouted_id'>;

/** A 2xx whose content is not the expected one. */
export interface UnusableContent extends UnexpectedDetails {
  readonly reason: ContentProblem;
  readonly kind: 'content';
  /** What came in place of what was expected, without the key. */
  readonly came?: string | undefined;
  /** Whether that says what went wrong. */
  readonly inWords?: boolean | undefined;
  /** Whether the body is not JSON at all. */
  readonly isPage?: boolean | undefined;
  /** The member of the body that is a list. */
  readonly list?: string | undefined;
  /** Whether the caller's own schema rejected it. */
  readonly ofCaller?: boolean | undefined;
  /** What the caller's schema threw. */
  readonly cause?: unknown;
}

/** Why an attempt failed. An Error, because p-retry replaces anything else with a TypeError. */
export class Failure extends Error {
  readonly fault: AttemptFault;
  readonly details: FailureDetails;

  constructor(fault: AttemptFault, details: FailureDetails) {
    super(fault);
    this.fault = fault;
    this.details = details;
  }

  /** The status of the response, if there was one that failed by its status. */
  get status(): number | undefined {
    const { details } = this;
    if (details.kind === 'status') return details.response.status;
    return details.kind === 'redirect' ? details.status : undefined;
  }

  /** How long the service asked to wait. */
  get retryAfterMs(): number | undefined {
    return this.details.kind === 'status' ? this.details.response.retryAfterMs : undefined;
  }
}

/** The time ran out before a response arrived. */
export function timeUp(limit: Limit, waitingFor: 'response' | 'apiKey'): Failure {
  return new Failure(waitingFor === 'response' ? 'lost' : 'unsent', { kind: 'time', limit, waitingFor });
}

/** What the failure of a GET is if the service has returned JSON before: a page in its place comes from something between. */
export function asPage(failure: Failure): Failure {
  const { fault, details } = failure;
  const isPage = details.kind === 'content' ? details.isPage === true : details.kind === 'time';
  return fault === 'wrong_content' && isPage ? new Failure('page', details) : failure;
}
