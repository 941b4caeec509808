/**
 * `wrong_content`: another kind of value, such as an object instead of a list. `wrong_shape`: invalid fields.
 * `wrong_record`: a record with another id than the one requested.
 */
type ShapeProblem = 'wrong_content' | 'wrong_shape' | 'wrong_record';

interface ShapeDetails {
  readonly recordId?: string | undefined;
  readonly ofCaller?: boolean | undefined;
  /** What the schema threw. */
  readonly cause?: unknown;
}

/**
 * A body that is JSON but invalid. Internal: the transport throws an UnexpectedResponseError instead, because only it
 * knows what the service may have done.
 */
export class ShapeError extends Error {
  readonly reason: ShapeProblem;
  /** The validation issues, without values. */
  readonly issues: readonly string[];
  /** The id of the record, if it can be read. */
  readonly recordId: string | undefined;
  /** Whether the caller's schema rejected it, not ours. */
  readonly ofCaller: boolean;

  constructor(
    reason: ShapeProblem,
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
