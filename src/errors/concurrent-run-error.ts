import { AccountingError } from './accounting-error.ts';

/** What to do, by what is known of the other run. */
const HINTS = {
  running: 'Run one of each tenant at a time.',
  both_wrote: "Run once in mode: 'full', and one of each tenant at a time.",
  wrote_often: 'Run it again.',
  slow_store: 'Use a store whose calls take less than 0.8 s.',
} as const;

/**
 * Another run of the tenant is at work, or wrote the same state; or a store is too slow to show that there is no other run. Best effort:
 * two runs are not always noticed.
 */
export class ConcurrentRunError extends AccountingError {
  static override readonly brand: string = 'ConcurrentRunError';
  override readonly code = 'concurrent_run';

  /** `other`: what is known of the other run, which decides the hint. */
  constructor(message: string, other: keyof typeof HINTS = 'both_wrote') {
    super(message, { retryable: true, hint: HINTS[other] });
  }
}
