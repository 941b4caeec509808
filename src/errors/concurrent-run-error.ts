import { AccountingError } from './accounting-error.ts';

/** Another run moved the same checkpoint. Best effort: two runs of the same pair are not always noticed. */
export class ConcurrentRunError extends AccountingError {
  static override readonly brand: string = 'ConcurrentRunError';
  override readonly code = 'concurrent_run';
}
