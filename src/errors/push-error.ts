import type { PushReport } from '../reports/push-report.ts';
import { AccountingError, reasonOf } from './accounting-error.ts';

/**
 * A push stopped before its end: the key was rejected, the service was down for longer than `maxOutageMs`, or the rows,
 * the store or the list of products could not be read. `cause` says why. Completed writes are kept, and the next
 * run continues. `outcome` and `attempts` are those of all that the push sent. Not thrown for rows that failed:
 * `report.counts.failed` counts those.
 */
export class PushError extends AccountingError {
  static override readonly brand: string = 'PushError';
  override readonly code = 'push_failed';
  /** What was done before the push stopped. */
  readonly report: PushReport;

  constructor(report: PushReport, cause: unknown) {
    const retryable = cause instanceof AccountingError && cause.retryable;
    const hint = [adviceOn(cause), resumeAdvice(report, cause)].filter(Boolean).join(' ');
    const { attempts, outcome } = report;
    super(messageOf(report, cause), { retryable, hint, attempts, outcome }, { cause });
    this.report = report;
  }
}

function messageOf({ tenant, rows, counts }: PushReport, cause: unknown): string {
  const { created, updated } = counts;
  const read = `${rows} ${rows === 1 ? 'row' : 'rows'} read`;
  return `The push of ${tenant} stopped (${read}; ${created} created, ${updated} updated): ${reasonOf(cause)}`;
}

/** The advice of a create is for a caller who sends it again. */
function adviceOn(cause: unknown): string | undefined {
  if (!isUnknownCreate(cause)) return cause instanceof AccountingError ? cause.hint : undefined;
  return 'The next run looks for the product of a create whose outcome is unknown before it sends it again.';
}

function isUnknownCreate(cause: unknown): boolean {
  return (
    cause instanceof AccountingError && cause.outcome === 'unknown' && cause.idempotencyKey !== undefined
  );
}

/** The same run fails again until the key or the state is another. */
const NEEDS_A_CHANGE = ['unauthenticated', 'forbidden', 'scope_required', 'checkpoint'];

function resumeAdvice({ counts: { created, updated } }: PushReport, cause: unknown) {
  if (created + updated === 0) return isUnknownCreate(cause) ? 'Run it again to continue.' : undefined;
  if (cause instanceof AccountingError && NEEDS_A_CHANGE.includes(cause.code)) return undefined;
  return 'Completed writes are kept; run it again to continue.';
}
