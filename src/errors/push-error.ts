import { oneLine, sentence } from '../internal/text.ts';
import type { PushReport } from '../reports/push-report.ts';
import { AccountingError, whatHappened } from './accounting-error.ts';
import { printedCause } from './cause.ts';

/**
 * A push stopped before its end: the key was rejected, the service was down for longer than `maxOutageMs`, or the rows,
 * the store or the list of products could not be read. `cause` says why. What was written stays written, and the next
 * run continues. Not thrown for rows that failed: `report.counts.failed` counts those.
 */
export class PushError extends AccountingError {
  static override readonly brand: string = 'PushError';
  override readonly code = 'push_failed';
  /** What was done before the push stopped. */
  readonly report: PushReport;

  constructor(report: PushReport, cause: unknown) {
    const retryable = cause instanceof AccountingError && cause.retryable;
    const hint = cause instanceof AccountingError ? cause.hint : undefined;
    super(messageOf(report, cause), { retryable, hint }, { cause });
    this.report = report;
  }
}

function messageOf({ tenant, rows, counts }: PushReport, cause: unknown): string {
  const printed = printedCause(cause);
  const message = typeof printed === 'string' ? printed : printed.message || printed.name;
  const reason = cause instanceof AccountingError ? whatHappened(cause) : message;
  const { created, updated, deleted } = counts;
  const done = `${created} created, ${updated} updated${deleted > 0 ? `, ${deleted} deleted` : ''}`;
  return `The push of ${tenant} stopped (${rows} ${rows === 1 ? 'row' : 'rows'} read; ${done}): ${sentence(oneLine(reason).slice(0, 500))} What was written stays written; run it again to continue.`;
}
