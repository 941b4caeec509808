import { AccountingError } from './accounting-error.ts';
import type { ReconcileAbortReason, SyncReport } from './sync-report.ts';

/** A failure, and the collection that it belongs to. */
export interface CollectionFailure {
  readonly collection: string;
  readonly error: unknown;
}

/**
 * At least one collection of a sync failed, or a reconcile refused to delete. Thrown after the others have ended;
 * what was committed stays committed, and the next run goes on there.
 */
export class SyncError extends AccountingError {
  static override readonly brand: string = 'SyncError';
  override readonly code = 'sync_failed';
  /** What became of every collection, also of those that went well. */
  readonly report: SyncReport;
  /** Every failure, by collection; `cause` is the first. */
  readonly errors: readonly CollectionFailure[];
  /** Why a reconcile deleted nothing; undefined for a sync. */
  readonly aborted: ReconcileAbortReason | undefined;

  constructor(message: string, report: SyncReport, why: SyncFailure) {
    const { errors = [], aborted } = why;
    super(message, { retryable: errors.some(isRetryable) }, { cause: errors[0]?.error });
    this.report = report;
    this.errors = errors;
    this.aborted = aborted;
  }
}

/** What a SyncError is thrown for. */
export interface SyncFailure {
  readonly errors?: readonly CollectionFailure[];
  readonly aborted?: ReconcileAbortReason;
}

function isRetryable({ error }: CollectionFailure): boolean {
  return error instanceof AccountingError && error.retryable;
}
