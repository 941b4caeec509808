import type { ReconcileReport } from '../reports/reconcile-report.ts';
import { AccountingError } from './accounting-error.ts';

/**
 * Why a reconcile, or a full sync with `localIds`, deleted nothing.
 * - `empty_read`: the service listed no record at all, and there are local ones.
 * - `few_local_ids_seen`: the service listed less than half of the local records, and less than half of what it listed
 *   is local, as with the API key of another company.
 * - `too_many_candidates`: more local records were not found upstream than `maxCandidates` allows.
 * - `first_record_not_found`: a GET of the first records that were listed returned 404, before the first candidate or
 *   after the last, so a 404 proves nothing.
 * - `not_found_differs`: 404s (or 410s) came in two forms, so one of them may be that of a gateway.
 */
export type ReconcileAbortReason =
  | 'empty_read'
  | 'few_local_ids_seen'
  | 'too_many_candidates'
  | 'first_record_not_found'
  | 'not_found_differs';

/** A reconcile stopped for safety: nothing was deleted. Not thrown if a request failed: that error is thrown itself. */
export class ReconcileAbortedError extends AccountingError {
  static override readonly brand: string = 'ReconcileAbortedError';
  override readonly code = 'reconcile_aborted';
  readonly reason: ReconcileAbortReason;
  /** The most candidates that were allowed: the option, or its default for this number of local records. */
  readonly maxCandidates: number;
  /** What was counted before the reconcile stopped. */
  readonly report: ReconcileReport;

  constructor(
    message: string,
    report: Pick<ReconcileReport, 'collection' | 'local' | 'seen' | 'missing' | 'candidates'> &
      Partial<ReconcileReport>,
    {
      reason,
      maxCandidates,
      hint,
    }: { readonly reason: ReconcileAbortReason; readonly maxCandidates: number; readonly hint: string },
  ) {
    super(message, { hint });
    this.reason = reason;
    this.maxCandidates = maxCandidates;
    const now = new Date();
    const nothing = { pagination: undefined, complete: undefined, deleted: 0, repaired: 0 };
    this.report = { ...nothing, startedAt: now, endedAt: now, ...report };
  }
}
