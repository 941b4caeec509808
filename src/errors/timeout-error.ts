import { AccountingError, type CallFacts } from './accounting-error.ts';

/** A time limit of the caller ran out. Not thrown for an abort, which rejects with the signal's own reason. */
export class TimeoutError extends AccountingError {
  static override readonly brand: string = 'TimeoutError';
  override readonly code = 'timeout';
  /** `attempt`: `timeoutMs` ran out in the last attempt. `deadline`: `deadlineMs` did, for the whole call. */
  readonly limit: 'attempt' | 'deadline';

  constructor(message: string, facts: CallFacts, details: { limit: 'attempt' | 'deadline' }) {
    super(message, facts);
    this.limit = details.limit;
  }
}
