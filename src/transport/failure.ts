import type { CallFacts } from '../errors/accounting-error.ts';
import type { AnyAccountingError } from '../errors/guards.ts';

/** What went wrong with one attempt: the rows of the table in retry-policy.ts. */
export type Fault =
  /** No byte was sent: DNS, refused, unreachable. */
  | 'unsent'
  /** No byte was sent and none will be: TLS, scheme, blocked port. */
  | 'blocked'
  /** Reset, closed, timed out or stalled before a status was seen. */
  | 'lost'
  /** A `fetch` of the caller's own returned something else than a Response. */
  | 'not_a_response'
  /** A 2xx whose body ended early, stalled, or is no JSON. */
  | 'cut'
  /** A 2xx without a body where one is due. */
  | 'empty'
  /** A 2xx of another content type, or an object where a list is due. */
  | 'wrong_content'
  /** A 2xx with invalid UTF-8 or a record that does not fit its schema. */
  | 'unreadable'
  /** A 2xx with more bytes than allowed. */
  | 'too_large'
  | 'redirect'
  /** Any other status: the service answered with an error. */
  | 'status'
  /** The rate gate opens too late for this call. */
  | 'held_back';

/** The parts of an error answer that decide what happens next. */
export interface FailedStatus {
  readonly status: number;
  /** The last segment of the problem document's `type`. */
  readonly problemType: string;
  readonly retryAfterMs: number | undefined;
  /** Whether the response shows that the record does not exist. */
  readonly missing: boolean;
}

/** One failed attempt. Internal: what leaves the transport is `toError`, built once the whole call is known. */
export class Failure extends Error {
  readonly fault: Fault;
  readonly answer: FailedStatus | undefined;
  readonly toError: (facts: CallFacts) => AnyAccountingError;

  constructor(fault: Fault, toError: (facts: CallFacts) => AnyAccountingError, answer?: FailedStatus) {
    super(fault);
    this.fault = fault;
    this.toError = toError;
    this.answer = answer;
  }
}

/** The caller's signal fired. A wrapper, because the reason may be any value and must arrive untouched. */
export class Aborted extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super('aborted');
    this.reason = reason;
  }
}
