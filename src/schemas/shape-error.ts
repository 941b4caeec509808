/** What else is known of a body that does not fit. */
interface ShapeDetails {
  readonly recordId?: string | undefined;
  readonly ofCaller?: boolean | undefined;
  /** What the schema threw. */
  readonly cause?: unknown;
}

/**
 * A body that is JSON but not what is due. Internal: the transport turns it into an UnexpectedResponseError, for only
 * it knows what the service may have done.
 */
export class ShapeError extends Error {
  /** `wrong_content`: not the kind of thing at all, as an object where a list is due. `wrong_shape`: fields that do not fit. */
  readonly reason: 'wrong_content' | 'wrong_shape';
  /** What does not fit, without values. */
  readonly issues: readonly string[];
  /** The id of the record, where it can be read. */
  readonly recordId: string | undefined;
  /** Whether the caller's schema rejected it, not ours. */
  readonly ofCaller: boolean;

  constructor(
    reason: 'wrong_content' | 'wrong_shape',
    issues: readonly string[],
    { recordId, ofCaller = false, cause }: ShapeDetails = {},
  ) {
    super(issues.join('; '), cause === undefined ? undefined : { cause });
    this.reason = reason;
    this.issues = issues;
    this.recordId = recordId;
    this.ofCaller = ofCaller;
  }
}
