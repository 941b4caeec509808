import { AccountingError, type CallFacts } from './accounting-error.ts';

/** A limit of the caller's ran out. Not an abort: a signal of the caller's rejects with its own reason. */
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
