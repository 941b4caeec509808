import { AccountingError } from './accounting-error.ts';

/**
 * Why a full sync, or a refresh, deleted nothing.
 * - `empty_read`: the service listed no record at all, and there are local ones.
 * - `few_local_ids_seen`: the service listed less than half of the local records, and less than half of what it listed
 *   is local, as with the API key of another company.
 * - `too_many_candidates`: more local records were not found upstream than `maxCandidates` allows.
 * - `first_record_not_found`: no GET of the first records that were listed found one, before the first candidate or
 *   after the last, so a 404 proves nothing. `cause` is the error of one of them that was no 404.
 */
export type DeletionsAbortReason =
  | 'empty_read'
  | 'few_local_ids_seen'
  | 'too_many_candidates'
  | 'first_record_not_found';

/** What was counted before the deletions were aborted. */
export interface DeletionCounts {
  readonly collection: string;
  /** Local ids. */
  readonly local: number;
  /** Records that the service listed. */
  readonly seen: number;
  /** Listed records that are not among the local ids. */
  readonly missing: number;
  /** Local ids that the service did not list. */
  readonly candidates: number;
}

/** Deletions were aborted for safety: nothing was deleted. Not thrown if the key was rejected or the service was down. */
export class DeletionsAbortedError extends AccountingError {
  static override readonly brand: string = 'DeletionsAbortedError';
  override readonly code = 'deletions_aborted';
  readonly reason: DeletionsAbortReason;
  /** The most candidates that were allowed: the option, or its default for this number of local records. */
  readonly maxCandidates: number;
  readonly report: DeletionCounts;

  constructor(
    message: string,
    report: DeletionCounts,
    {
      reason,
      maxCandidates,
      hint,
      cause,
    }: {
      readonly reason: DeletionsAbortReason;
      readonly maxCandidates: number;
      readonly hint: string;
      /** Why a listed record could not be read. */
      readonly cause?: Error | undefined;
    },
  ) {
    super(message, { hint }, cause && { cause });
    this.reason = reason;
    this.maxCandidates = maxCandidates;
    this.report = report;
  }
}
