import { type Finding, unknown } from './finding.ts';

/** What only writing shows. */
export interface WriteFindings {
  /** Status of a create. */
  readonly createStatus: Finding<number>;
  /** The content type that a create needs: the first one that is not answered with 415. */
  readonly createContentType: Finding<string>;
  /** The content type that an update needs. */
  readonly updateContentType: Finding<string>;
  /** Whether a field without a value is `null` or missing in the response to an update. */
  readonly nullFields: Finding<'sent' | 'omitted'>;
  /** Fields that the service asked for when it rejected the draft. */
  readonly requiredFields: Finding<readonly string[]>;
  /** The same Idempotency-Key and the same body: the first answer again, an error by its code, or a second record. */
  readonly replay: Finding<'stored' | 'second_record' | (string & {})>;
  /** `type` of the 409 to a replay, where there was one. */
  readonly replayType: Finding<string>;
  /** The same Idempotency-Key and another body. */
  readonly differentBody: Finding<'stored' | 'rejected' | 'second_record' | (string & {})>;
  /** How long after the create a reader saw the record, in ms; 0 where the first look found it. */
  readonly visibleAfterMs: Finding<number>;
  /** Status of an update. */
  readonly updateStatus: Finding<number>;
  /** Whether `null` clears a field and one that is left out keeps its value. */
  readonly patchSemantics: Finding<boolean>;
  /** Digits after the point that an amount comes back with. */
  readonly moneyDigits: Finding<number | 'as-sent'>;
  /** What becomes of a field that the service does not know. */
  readonly unknownFields: Finding<'ignored' | 'rejected' | 'kept'>;
  /** Status of a delete. */
  readonly deleteStatus: Finding<number>;
  /** What a second delete returns. */
  readonly deleteAgain: Finding<string>;
  /** How long a key is remembered, which only waiting would show. */
  readonly keyLifetimeMs: Finding<number>;
  /** The largest body, and the status of a larger one, which only ever larger bodies would show. */
  readonly maxRequestBytes: Finding<number>;
  readonly tooLargeStatus: Finding<number>;
  /** Values that `status` may have, which only trying all would show. */
  readonly allowedStatuses: Finding<readonly string[]>;
  /** Products that were made and could not be deleted, by id. */
  readonly leftBehind: readonly string[];
}

/** Everything unknown, for one reason. */
export function nothingWritten(reason: string): WriteFindings {
  const nothing = unknown(reason);
  return {
    createStatus: nothing,
    createContentType: nothing,
    updateContentType: nothing,
    nullFields: nothing,
    requiredFields: nothing,
    replay: nothing,
    replayType: nothing,
    differentBody: nothing,
    visibleAfterMs: nothing,
    updateStatus: nothing,
    patchSemantics: nothing,
    moneyDigits: nothing,
    unknownFields: nothing,
    deleteStatus: nothing,
    deleteAgain: nothing,
    keyLifetimeMs: unknown('only waiting until it is forgotten would show'),
    maxRequestBytes: unknown('only ever larger bodies would show'),
    tooLargeStatus: unknown('only ever larger bodies would show'),
    allowedStatuses: unknown('only trying every value would show'),
    leftBehind: [],
  };
}
