import { AccountingError, type CallFacts } from './accounting-error.ts';

/** Why a response could not be used. */
export type UnexpectedReason =
  /** No body, although one is expected. */
  | 'empty'
  /** The body ended early or is not JSON. */
  | 'truncated'
  /** Another content type, or an object instead of a list. */
  | 'wrong_content'
  /** Bytes that are not UTF-8. */
  | 'not_utf8'
  /** A record that does not match its schema. */
  | 'wrong_shape'
  /** Rows without an id that can be read, which no copy can hold: a `sync` ends with it after the other rows. */
  | 'unreadable_id'
  /** A list that is not whole: it says itself that there is more, or it showed records and then none. */
  | 'incomplete_list'
  /** A 404 for an id of a form that the service lists but does not find, such as ids with a dot: the record may exist. */
  | 'unrouted_id'
  /** A record with another id than the one requested: `recordId` is the id that came back. */
  | 'wrong_record'
  /** More bytes than `maxBodyBytes`. */
  | 'too_large';

/** What is known of such a response. */
export interface UnexpectedDetails {
  readonly status: number;
  readonly reason: UnexpectedReason;
  readonly issues?: readonly string[] | undefined;
  readonly recordId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** A 2xx whose content is not what the API documentation says. After a write, see `outcome` and `recordId`. */
export class UnexpectedResponseError extends AccountingError {
  static override readonly brand: string = 'UnexpectedResponseError';
  override readonly code = 'unexpected_response';
  /** The HTTP status. */
  readonly status: number;
  readonly reason: UnexpectedReason;
  /** Which fields do not match, without their values. */
  readonly issues: readonly string[];
  /** The id of the record that was written or read, if it can be read. */
  readonly recordId: string | undefined;
  /** The service's own id of the request, if it sends one. */
  readonly requestId: string | undefined;

  constructor(message: string, facts: CallFacts, details: UnexpectedDetails, options?: ErrorOptions) {
    super(message, facts, options);
    this.status = details.status;
    this.reason = details.reason;
    this.issues = details.issues ?? [];
    this.recordId = details.recordId;
    this.requestId = details.requestId;
  }
}
